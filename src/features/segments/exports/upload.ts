import type { Logger } from "pino";
import { recordRefusal } from "../../../core/admin/audit/refusals.ts";
import { type Job, type JobKind, TryAgain } from "../../../core/admin/jobs/job.ts";
import { enqueue } from "../../../core/admin/jobs/queue.ts";
import { describeError } from "../../../core/base/observe/log.ts";
import { Problem } from "../../../core/base/problem.ts";
import type { OpenBucket, WritableBucket } from "../../../core/outbound/bucket.ts";
import { OutboundRefused } from "../../../core/outbound/outbound.ts";
import {
  ConnectionUnfit,
  NotConnected,
  OutsideRoot,
  SourceUnfit,
} from "../../../core/outbound/unfit.ts";
import { recordExportEnd } from "./export-end.ts";
import {
  CALLBACK_JOB,
  contextIn,
  FIRST_DELAY_MS,
  MOST_TRIES,
  type SegmentExportServices,
  UPLOAD_JOB,
} from "./exports.ts";
import { type ExportFile, filesOf, gzipped } from "./files.ts";
import { isMakerGone, MAKER_GONE, watchMaker } from "./maker.ts";
import { advanceExport, endExport, failExport, type StoredExport, selectExport } from "./store.ts";
import { zipOfOne } from "./zip.ts";

/*
 * Writes an export into the bucket of its workspace: objects of at most 5,000 users below its prefix, one after the
 * other, so that one file is in memory at a time. How far it has come is saved after each, so another server, or the
 * next start, goes on with the next object and no user is written twice.
 */

export interface UploadServices extends SegmentExportServices {
  /** Undefined if no feature knows buckets. */
  readonly openBucket?: OpenBucket | undefined;
  readonly log: Logger;
}

export const uploadJob: JobKind<UploadServices> = {
  name: UPLOAD_JOB,
  takes: "transfer",
  async run(services, job) {
    const { database, clock } = services;
    const found = await selectExport(database, job.workspaceId, job.subject);
    if (!found) return database.transaction((tx) => job.finish(tx));
    const failure =
      found.expiresAt > clock.now()
        ? await upload(services, job, found)
        : "The export took longer than it may.";
    await endUpload(services, job, found, failure);
  },
  async giveUp(services, job, reason) {
    const { database } = services;
    const found = await selectExport(database, job.workspaceId, job.subject);
    if (!found) return database.transaction((tx) => job.finish(tx));
    await endUpload(services, job, found, reason);
  },
};

/** @returns why it failed for good; null if everything is written. @throws TryAgain */
async function upload(
  services: UploadServices,
  job: Job,
  found: StoredExport,
): Promise<string | null> {
  const { database, log } = services;
  if (found.bucket === null) return null;
  if (await isMakerGone(services, found)) return MAKER_GONE;
  const maker = watchMaker(services, found);
  const signal = AbortSignal.any([job.signal, maker.signal]);
  try {
    if (!services.openBucket) throw new NotConnected("This server has no connections to buckets.");
    const bucket = await services.openBucket(found.workspaceId, found.bucket, signal);
    for await (const file of filesOf(services, found)) {
      signal.throwIfAborted();
      await write(bucket, found, file);
      await database.transaction(async (tx) => {
        await job.advance(tx);
        await advanceExport(tx, found.id, file);
      });
    }
    return null;
  } catch (error) {
    if (job.signal.aborted) throw error;
    if (maker.signal.aborted) return MAKER_GONE;
    const isFinal = error instanceof SourceUnfit || error instanceof Problem;
    if (!isFinal && job.failures + 1 < MOST_TRIES) {
      throw new TryAgain(FIRST_DELAY_MS * 3 ** job.failures, error);
    }
    log.error(
      { export_id: found.id, prefix: found.prefix, ...describeError(error) },
      "segment export failed",
    );
    if (isRefusal(error)) {
      const reaching = { kind: "segment_export", name: "export_bucket" };
      const context = await contextIn(database, job);
      await recordRefusal(services, context, reaching, sentenceOf(error));
    }
    return sentenceOf(error);
  } finally {
    maker.stop();
  }
}

/**
 * Whether the guard, the root of its connection or the list of its workspaces blocks the bucket.
 */
const isRefusal = (error: unknown): boolean =>
  error instanceof OutsideRoot ||
  error instanceof NotConnected ||
  (error instanceof ConnectionUnfit && error.cause instanceof OutboundRefused);

async function write(bucket: WritableBucket, { prefix, format }: StoredExport, file: ExportFile) {
  const name = `${prefix}/${file.name}`;
  if (format === "zip") {
    await bucket.put(name.replace(/json$/, "zip"), await zipOfOne(file), "application/zip");
  } else await bucket.put(`${name}.gz`, await gzipped(file.data), "application/gzip");
}

/**
 * A message for a callback: a message about the connection contains names that only the company
 * declares.
 */
const sentenceOf = (error: unknown): string =>
  (error instanceof SourceUnfit && !(error instanceof ConnectionUnfit)) || error instanceof Problem
    ? error.message
    : "The bucket cannot be written through its connection. The log of the server says why.";

/** @param failure why it failed; null if everything is written. */
async function endUpload(
  { database, clock }: UploadServices,
  job: Job,
  found: StoredExport,
  failure: string | null,
): Promise<void> {
  const { workspaceId } = job;
  const { id, callbackUrl } = found;
  await database.transaction(async (tx) => {
    if (failure !== null) await failExport(tx, id, failure);
    const ended = (await selectExport(tx, workspaceId, id)) ?? found;
    await recordExportEnd(tx, clock, ended);
    if (callbackUrl === null) await endExport(tx, id);
    else await enqueue(tx, clock, { workspaceId, kind: CALLBACK_JOB, subject: id });
    await job.finish(tx);
  });
}
