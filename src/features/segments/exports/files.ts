import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { loadWorkspace } from "../../../core/admin/workspaces/find-workspace.ts";
import { Problem } from "../../../core/base/problem.ts";
import type { StoringServices } from "../../../core/database/storing-services.ts";
import type { ExportField } from "../../export/feature.ts";
import { walkMembers } from "../list-members.ts";
import type { StoredExport } from "./store.ts";
import type { ZipFile } from "./zip.ts";

/** As publicly known; a file with large profiles has fewer. */
const USERS_OF_A_FILE = 5_000;
const LARGEST_FILE = 16 * 1_024 ** 2;

/** A file, with how far the export has come once it is written. */
export interface ExportFile extends ZipFile, Pick<StoredExport, "after" | "files" | "users"> {}

/**
 * The users of a segment as files of one JSON object a line, starting at the export's position.
 * There is at least one file.
 *
 * @throws Problem if the workspace, or something the filter names, no longer exists.
 */
export async function* filesOf(
  { database, clock }: StoringServices,
  stands: Pick<StoredExport, "workspaceId" | "filter" | "fields" | "after" | "files" | "users">,
): AsyncGenerator<ExportFile> {
  const workspace = await loadWorkspace(database, stands.workspaceId);
  if (!workspace) throw new Problem("NOT_FOUND", "Workspace not found");
  let { after, files, users } = stands;
  let lines: Buffer[] = [];
  let bytes = 0;
  const file = (): ExportFile => {
    files += 1;
    users += lines.length;
    const data = Buffer.concat(lines);
    [lines, bytes] = [[], 0];
    return { name: `users-${String(files).padStart(6, "0")}.json`, data, after, files, users };
  };
  const wanted = { filter: stands.filter, fields: stands.fields as readonly ExportField[] };
  for await (const step of walkMembers({ database, clock }, workspace, wanted, stands.after)) {
    // A file ends between two steps, from which a later walk can continue.
    const added = step.users.map((user) => Buffer.from(`${JSON.stringify(user)}\n`));
    const addedBytes = added.reduce((sum, { length }) => sum + length, 0);
    const isFull =
      lines.length + added.length > USERS_OF_A_FILE || bytes + addedBytes > LARGEST_FILE;
    if (lines.length > 0 && isFull) yield file();
    lines.push(...added);
    bytes += addedBytes;
    after = step.after;
  }
  if (lines.length > 0 || files === 0) yield file();
}

export const gzipped = promisify<Buffer, Buffer>(gzip);
