import type { AuditingServices } from "../../../core/admin/audit/audit.ts";
import { hashSecret } from "../../../core/admin/secrets/secrets.ts";
import { loadWorkspace } from "../../../core/admin/workspaces/find-workspace.ts";
import type { Context } from "../../../core/base/context/context.ts";
import type { Slots } from "../../../core/base/pool.ts";
import { Problem } from "../../../core/base/problem.ts";
import { recordExportEnd } from "./export-end.ts";
import type { SegmentExportServices } from "./exports.ts";
import { type ExportFile, filesOf, gzipped } from "./files.ts";
import { isMakerGone } from "./maker.ts";
import { announceExport, countDownload, type StoredExport, selectExportOf } from "./store.ts";
import { type ZipFile, zipOf } from "./zip.ts";

export interface DownloadServices extends SegmentExportServices, AuditingServices {
  /** Shared with the other exports, which take as long. */
  readonly exportSlots: Slots;
}

/**
 * Opens the link to an export.
 *
 * @throws Problem NOT_FOUND for a link that never existed, has expired, or was opened a hundred times, or whose key
 *   may no longer export; UNAVAILABLE while as many exports are sent
 *   as may.
 */
export async function openDownload(services: DownloadServices, context: Context, token: string) {
  const { database, clock } = services;
  const find = async () => {
    const found = await selectExportOf(database, hashSecret(token), clock.now());
    if (found && !(await isMakerGone(services, found))) return found;
    throw new Problem("NOT_FOUND", "This link does not exist, or it has expired.");
  };
  const found = await find();
  const ending = found.format === "zip" ? "zip" : "ndjson.gz";
  return {
    fileName: `segment-${found.segmentId}.${ending}`,
    body: send(services, context, found),
    /** @throws Problem NOT_FOUND once the link no longer opens. */
    confirm: find,
  };
}

/** How often the links of an export open. */
const MOST_DOWNLOADS = 100;

/** Counts a download and records it in the audit, before the first byte. */
async function begin(
  services: DownloadServices,
  context: Context,
  { id, workspaceId, segmentId }: StoredExport,
): Promise<void> {
  if (!(await countDownload(services.database, id, MOST_DOWNLOADS))) {
    const message = `This link was opened ${MOST_DOWNLOADS} times. Ask for another export.`;
    throw new Problem("NOT_FOUND", message);
  }
  const workspace = (await loadWorkspace(services.database, workspaceId))?.name ?? "";
  const details = { segment_id: segmentId };
  const read = { action: "read", kind: "segment_export", workspace, name: id, details };
  await services.recordAuditedRead({ context, read });
}

async function* send(
  services: DownloadServices,
  context: Context,
  found: StoredExport,
): AsyncGenerator<Uint8Array> {
  const leave = services.exportSlots.take(`${found.workspaceId}`);
  if (!leave) {
    const message = "Other exports of this workspace are being sent.";
    throw new Problem("UNAVAILABLE", message, { retryAfterSeconds: 10 });
  }
  try {
    await begin(services, context, found);
    let sent: Pick<StoredExport, "files" | "users"> = found;
    const files = followed(filesOf(services, found), (file) => {
      sent = file;
    });
    yield* found.format === "zip" ? zipOf(files) : gzipOf(files);
    const { files: count, users } = sent;
    await services.database.transaction(async (tx) => {
      if (!(await announceExport(tx, found.id))) return;
      await recordExportEnd(tx, services.clock, { ...found, files: count, users });
    });
  } finally {
    leave();
  }
}

/** The same files; each is shown to `follow` first. */
async function* followed(
  files: AsyncIterable<ExportFile>,
  follow: (file: ExportFile) => void,
): AsyncGenerator<ExportFile> {
  for await (const file of files) {
    follow(file);
    yield file;
  }
}

/** Files in a row, each compressed by itself: together they are one file again (RFC 1952, 2.2). */
async function* gzipOf(files: AsyncIterable<ZipFile>): AsyncGenerator<Uint8Array> {
  for await (const { data } of files) yield await gzipped(data);
}
