import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { hashSecret } from "../../admin/secrets/secrets.ts";
import { loadWorkspace } from "../../admin/workspaces/find-workspace.ts";
import type { Slots } from "../../base/pool.ts";
import { Problem } from "../../base/problem.ts";
import type { ExportField } from "../../people/export/profile-view.ts";
import { walkMembers } from "../../people/segments/list-members.ts";
import type { SegmentExportServices } from "./exports.ts";
import { type SegmentExport, selectExportOf } from "./store.ts";
import { type ZipFile, zipOf } from "./zip.ts";

export interface DownloadServices extends SegmentExportServices {
  /** Shared with the other exports, which take as long. */
  readonly exportSlots: Slots;
}

/** As publicly known; a file with large profiles has fewer. */
const USERS_OF_A_FILE = 5_000;
const LARGEST_FILE = 16 * 1_024 ** 2;

export interface Download {
  readonly fileName: string;
  readonly body: AsyncGenerator<Uint8Array>;
}

/**
 * Opens the link to an export.
 *
 * @throws Problem NOT_FOUND for a link that never existed or has expired; UNAVAILABLE while as many exports are sent
 *   as may.
 */
export async function openDownload(services: DownloadServices, token: string): Promise<Download> {
  const { database, clock } = services;
  const found = await selectExportOf(database, hashSecret(token), clock.now());
  if (!found) throw new Problem("NOT_FOUND", "This link does not exist, or it has expired.");
  const ending = found.format === "zip" ? "zip" : "ndjson.gz";
  return { fileName: `segment-${found.segmentId}.${ending}`, body: send(services, found) };
}

async function* send(services: DownloadServices, found: SegmentExport): AsyncGenerator<Uint8Array> {
  const leave = services.exportSlots.take(`${found.workspaceId}`);
  if (!leave) {
    const message = "Other exports of this workspace are being sent.";
    throw new Problem("UNAVAILABLE", message, { retryAfterSeconds: 10 });
  }
  try {
    const files = filesOf(services, found);
    yield* found.format === "zip" ? zipOf(files) : gzipOf(files);
  } finally {
    leave();
  }
}

const pack = promisify<Buffer, Buffer>(gzip);

/** Files in a row, each packed by itself: together they are one file again (RFC 1952, 2.2). */
async function* gzipOf(files: AsyncIterable<ZipFile>): AsyncGenerator<Uint8Array> {
  for await (const { data } of files) yield await pack(data);
}

/** The users of a segment as files of one JSON object a line. There is at least one file. */
async function* filesOf(
  { database, clock }: DownloadServices,
  { workspaceId, filter, fields }: SegmentExport,
): AsyncGenerator<ZipFile> {
  const workspace = await loadWorkspace(database, workspaceId);
  if (!workspace) throw new Problem("NOT_FOUND", "Workspace not found");
  let number = 0;
  let users = 0;
  let bytes = 0;
  let lines: Buffer[] = [];
  const file = (): ZipFile => {
    number += 1;
    const data = Buffer.concat(lines);
    [users, bytes, lines] = [0, 0, []];
    return { name: `users-${String(number).padStart(6, "0")}.json`, data };
  };
  const wanted = { filter, fields: fields as readonly ExportField[] };
  for await (const user of walkMembers({ database, clock }, workspace, wanted)) {
    const line = Buffer.from(`${JSON.stringify(user)}\n`);
    if (users > 0 && (users >= USERS_OF_A_FILE || bytes + line.length > LARGEST_FILE)) yield file();
    lines.push(line);
    users += 1;
    bytes += line.length;
  }
  if (users > 0 || number === 0) yield file();
}
