import { hashSecret } from "../../admin/secrets/secrets.ts";
import type { Slots } from "../../base/pool.ts";
import { Problem } from "../../base/problem.ts";
import { recordExportEnd } from "./export-end.ts";
import type { SegmentExportServices } from "./exports.ts";
import { type ExportFile, filesOf, gzipped } from "./files.ts";
import { type StoredExport, selectExportOf } from "./store.ts";
import { type ZipFile, zipOf } from "./zip.ts";

export interface DownloadServices extends SegmentExportServices {
  /** Shared with the other exports, which take as long. */
  readonly exportSlots: Slots;
}

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

async function* send(services: DownloadServices, found: StoredExport): AsyncGenerator<Uint8Array> {
  const leave = services.exportSlots.take(`${found.workspaceId}`);
  if (!leave) {
    const message = "Other exports of this workspace are being sent.";
    throw new Problem("UNAVAILABLE", message, { retryAfterSeconds: 10 });
  }
  try {
    let sent: Pick<StoredExport, "files" | "users"> = found;
    const files = followed(filesOf(services, found), (file) => {
      sent = file;
    });
    yield* found.format === "zip" ? zipOf(files) : gzipOf(files);
    const { files: count, users } = sent;
    await services.database.transaction((tx) =>
      recordExportEnd(tx, services.clock, { ...found, files: count, users }),
    );
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
