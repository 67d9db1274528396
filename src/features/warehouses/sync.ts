import { setFlagsFromString } from "node:v8";
import { recordRefusal } from "../../core/admin/audit/refusals.ts";
import {
  contextOf,
  type Job,
  type JobKind,
  LeaseLost,
  TryAgain,
} from "../../core/admin/jobs/job.ts";
import { loadWorkspace } from "../../core/admin/workspaces/find-workspace.ts";
import { later } from "../../core/base/clock.ts";
import { describeError } from "../../core/base/observe/log.ts";
import { isUnavailable, withRetries } from "../../core/database/database.ts";
import { OutboundRefused } from "../../core/outbound/outbound.ts";
import { ConnectionUnfit, OutsideRoot, SourceUnfit } from "../../core/outbound/unfit.ts";
import type { AddressCache } from "../../core/people/profiles/address-cache.ts";
import type { IdCache } from "../../core/people/profiles/id-cache.ts";
import { type Ending, endingOf, endRun } from "./end-run.ts";
import { type Retry, SYNC_JOB } from "./integration.ts";
import { addScanned } from "./progress-store.ts";
import { warehouseOf } from "./resolve-warehouse.ts";
import type { Run, SyncServices } from "./run.ts";
import { openSource } from "./sources/kinds.ts";
import {
  BEGINNING,
  type Selection,
  SourceFailed,
  type SourceRow,
  sourceTime,
} from "./sources/source.ts";
import { insertRun, selectIntegration, selectRun, updateRun } from "./store.ts";
import { isConnected } from "./stored-warehouse.ts";
import { readTableShape } from "./table-shape.ts";
import { writeRows } from "./write-rows.ts";

/**
 * Syncs an integration: reads rows from the last processed UPDATED_AT, applies them, and ends the
 * run with its status. Progress is committed with the rows, so a killed sync can be resumed by any
 * process. A failing source is retried as often as the integration says; an attempt that committed
 * rows resets the count.
 */
export const syncJob: JobKind<SyncServices> = {
  name: SYNC_JOB,
  takes: "transfer",
  async run(services, job) {
    const run = await beginRun(services, job);
    if (!run) return;
    const progress = { hasAdvanced: false };
    const ending = await inSmallHeap(() => readAll(services, run, progress)).catch((error) =>
      endingAfter(services, run, progress.hasAdvanced, error),
    );
    await endRun(services, run, ending);
  },
  async giveUp(services, job, reason) {
    const run = await beginRun(services, job);
    if (run) await endRun(services, run, { status: "error", message: reason });
  },
};

async function beginRun({ database, clock }: SyncServices, job: Job): Promise<Run | undefined> {
  const { workspaceId, subject } = job;
  const workspace = await loadWorkspace(database, workspaceId);
  return withRetries(database, async (tx) => {
    await job.hold(tx);
    const integration = await selectIntegration(tx, workspaceId, subject);
    if (!integration || !workspace) {
      await job.finish(tx);
      return undefined;
    }
    const key = { workspaceId, integrationId: subject, runId: job.id };
    await insertRun(tx, key, clock.now());
    const run = await selectRun(tx, key);
    return run && { job, key, workspace, integration, run };
  });
}

/** How far the warehouse's clock may be ahead before a future time is logged. */
const CLOCK_TOLERANCE_MS = 5 * 60 * 1_000;

/** How many rows that cannot be read by time are noted one by one. */
const MOST_STRAYS = 100;

/** A run goes through users once: caching them would cost memory without a gain. */
const NO_IDS: IdCache = {
  get: () => undefined,
  store: () => {},
  removals: () => undefined,
  expect: () => {},
  remove: () => {},
};

const NO_ADDRESSES: AddressCache = { matches: () => false, store: () => {} };

async function readAll(
  services: SyncServices,
  run: Run,
  progress: { hasAdvanced: boolean },
): Promise<Ending> {
  const { job, workspace, integration } = run;
  const { warehouse, outbound } = await warehouseOf(services, workspace, integration);
  const source = await openSource(warehouse, { signal: job.signal, outbound });
  try {
    if (!source.columns) return endingOf(undefined);
    const shape = readTableShape(source.columns, integration.type);
    const range = {
      from: integration.processedThrough ?? BEGINNING,
      until: sourceTime(run.run.startedAt),
    };
    const selection = await source.select(shape, range);
    const uncached = { ...services, idCache: NO_IDS, addressCache: NO_ADDRESSES };
    await applyRows(uncached, run, selection, range.from, progress);
    const soon = later(services.clock.now(), { ms: CLOCK_TOLERANCE_MS });
    return endingOf(await selection.strays(sourceTime(soon), MOST_STRAYS));
  } finally {
    await source.close();
    const bytes = source.bytesScanned?.();
    if (bytes !== undefined) await addScanned(services.database, run.key, bytes);
  }
}

async function applyRows(
  services: SyncServices,
  { job, key, workspace, integration }: Run,
  selection: Selection,
  from: string,
  progress: { hasAdvanced: boolean },
): Promise<void> {
  const { database, clock } = services;
  const expected = { rowsToCome: selection.count, message: null };
  await updateRun(database, key, expected);
  const { type } = integration;
  const reading = {
    key: { ...key, readingId: clock.newId() },
    job,
    context: { ...contextOf(job), workspace },
    type,
  };
  let through = from;
  for await (const rows of ahead(inBatches(selection.rows()))) {
    job.signal.throwIfAborted();
    const written = await writeRows(services, reading, rows, through);
    through = written.through;
    progress.hasAdvanced ||= written.hasAdvanced;
  }
}

/**
 * Maps an error to the outcome of the run.
 *
 * @throws TryAgain, or the error itself if it does not concern the run: the process stops, or
 *   Rapport's own database is unreachable.
 */
async function endingAfter(
  { database, clock, log }: SyncServices,
  { job, key, workspace, integration }: Run,
  hasAdvanced: boolean,
  error: unknown,
): Promise<Ending> {
  if (job.signal.aborted || error instanceof LeaseLost) throw error;
  const isSource = error instanceof SourceFailed;
  const isUnfit = error instanceof SourceUnfit;
  if (!isSource && !isUnfit && isUnavailable(error)) throw error;
  const message = messageFor(integration, error as Error);
  if (message !== (error as Error).message) log.warn(describeError(error), "a connection failed");
  if (isRefusal(error)) {
    const context = { ...contextOf(job), workspace };
    const reaching = { kind: "integration", name: integration.name };
    await recordRefusal({ database, clock }, context, reaching, message);
  }
  if (isUnfit) {
    if (error.cause !== undefined) log.warn(describeError(error.cause), "a source cannot be read");
    return { status: "config_error", message };
  }
  const reason = isSource ? `The source failed: ${message}` : "Rapport failed: see its log.";
  if (!isSource) log.error(describeError(error), "sync failed");
  else if (error.cause !== undefined) log.warn(describeError(error.cause), "a source failed");

  const failures = hasAdvanced ? 0 : job.failures;
  const delayMs = delayBeforeNextTry(integration.retry, failures);
  if (delayMs === undefined) return { status: "error", message: reason };
  await updateRun(database, key, {
    rowsToCome: null,
    message: `Try ${failures + 1} of ${integration.retry.attempts}: ${reason}`,
  });
  throw new TryAgain(delayMs, error);
}

/** Whether the guard or the root of its connection blocks the source. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof OutsideRoot ||
  (error instanceof ConnectionUnfit && error.cause instanceof OutboundRefused);

/**
 * What a run says about an error. Hosts, users and folders of a connection belong to the company, and the run to the
 * workspace: the log has the rest.
 */
export function messageFor(
  { warehouse }: Pick<Run["integration"], "warehouse">,
  error: Error,
): string {
  if (!isConnected(warehouse)) return error.message;
  const { connection } = warehouse;
  if (error instanceof ConnectionUnfit) {
    return `The connection '${connection}' cannot be used. The server's log says why.`;
  }
  if (!(error instanceof SourceFailed && error.isForeign)) return error.message;
  const { code } = (error.cause ?? {}) as { code?: unknown };
  return `the connection '${connection}' failed${typeof code === "string" ? ` (${code})` : ""}.`;
}

/** How much one transaction takes: enough to be worth its round trips, little enough for memory. */
const BATCH_ROWS = 1_000;
const BATCH_BYTES = 4 * 1_048_576;

/** Rows as they come from a source, in portions of the size that is written at once. */
async function* inBatches(
  pages: AsyncIterable<readonly SourceRow[]>,
): AsyncGenerator<readonly SourceRow[]> {
  let batch: SourceRow[] = [];
  let bytes = 0;
  for await (const page of pages) {
    for (const row of page) {
      batch.push(row);
      bytes += row.payloadBytes;
      if (batch.length < BATCH_ROWS && bytes < BATCH_BYTES) continue;
      yield batch;
      batch = [];
      bytes = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

/** Fetches the next portion while the previous one is processed. */
async function* ahead<Portion>(portions: AsyncIterable<Portion>): AsyncGenerator<Portion> {
  const iterator = portions[Symbol.asyncIterator]();
  const fetchNext = () => {
    const next = iterator.next();
    // It may fail before it is awaited.
    next.catch(() => {});
    return next;
  };
  let next = fetchNext();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = fetchNext();
      yield value;
    }
  } finally {
    await next.catch(() => {});
    await iterator.return?.();
  }
}

const LONGEST_DELAY_SECONDS = 15 * 60;

/**
 * The delay before a failed source is retried, in milliseconds: the integration's delay, doubled
 * for each further attempt, at most 15 minutes.
 *
 * @param failures failed attempts before this one, since the run last committed rows.
 * @returns undefined when the attempts of the integration are used up.
 */
export const delayBeforeNextTry = (
  { attempts, delay_seconds }: Retry,
  failures: number,
): number | undefined =>
  failures + 1 < attempts
    ? Math.min(delay_seconds * 2 ** failures, LONGEST_DELAY_SECONDS) * 1_000
    : undefined;

/*
 * The objects of each batch of a sync live slightly too long for the young generation. By default
 * V8 lets the heap grow to four times the live size before a full collection. Limiting it to twice
 * the live size collects more often, at no measurable cost (lab/NOTEBOOK.md).
 */

const GROW_TO_TWICE = "--heap-growing-percent=100";
const GROW_AS_V8_LIKES = "--heap-growing-percent=0";

let syncsRunning = 0;

/** Does some work, and keeps the heap of the process small meanwhile. */
async function inSmallHeap<Result>(work: () => Promise<Result>): Promise<Result> {
  if (syncsRunning++ === 0) setFlagsFromString(GROW_TO_TWICE);
  try {
    return await work();
  } finally {
    if (--syncsRunning === 0) setFlagsFromString(GROW_AS_V8_LIKES);
  }
}
