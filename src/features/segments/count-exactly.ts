import { setTimeout } from "node:timers/promises";
import { recordChangeIn } from "../../core/admin/audit/audit.ts";
import type { Job, JobKind } from "../../core/admin/jobs/job.ts";
import { enqueue } from "../../core/admin/jobs/queue.ts";
import { hidesPeople, type WorkspaceContext } from "../../core/base/context/context.ts";
import { createSlots, type Slots } from "../../core/base/pool.ts";
import { Problem } from "../../core/base/problem.ts";
import { type Database, settleAll } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { estimateSize, exactSize, type SegmentSize } from "./estimate.ts";
import { EVERYONE, type Filter, leavesOf, sentenceOf } from "./filter.ts";
import { readFitting } from "./fit.ts";
import { countMembers } from "./members.ts";
import { BEFORE_ALL, sizeOf } from "./members-store.ts";
import { createPace, SLICE_MS, TURN_MS } from "./pace.ts";
import { filterOf, readOrReason, scopeFor, type WantedFilter } from "./scope.ts";
import {
  type ExactCount,
  endCount,
  insertCount,
  lockCounts,
  selectCount,
  selectCounts,
  selectRunningIds,
  trimCountedFilters,
  trimCounts,
  updateCount,
} from "./store.ts";

/*
 * Exact counts go through all users in the order of their ids, in small portions,
 * each on its own snapshot, so that they hold up nobody. A request counts by itself for some
 * seconds; the rest is a job, which any process can continue. The jobs of a workspace are a queue:
 * one count runs at a time.
 */

/**
 * How many requests of a workspace, and of a process, count themselves at a time; further ones get
 * a job at once.
 */
export const createCountSlots = (): Slots => createSlots(2, 4);

export type InlineServices = StoringServices & { readonly countSlots: Slots };

/** How many seconds a request counts by itself, at most and by default. */
export const MOST_WAIT_SECONDS = 5;

/** How often a job saves how far it has come, and asks whether it was cancelled. */
const SAVED_EVERY_MS = 500;

/**
 * A portion that had to wait this long for its transaction takes turns with others: on an engine of
 * one connection, or if there were writes. Otherwise only the machine is slow.
 */
const BUSY_MS = 2;
/**
 * On an engine that runs transactions side by side, a portion also takes turns if this process
 * wrote so often since the portion before.
 */
const BUSY_WRITES_PER_SECOND = 50;
/** A single one beside a short portion says nothing. */
const FEWEST_BUSY_WRITES = 2;
/** Then it leaves the engine to them for this many times as long as it took. */
const PAUSE_FACTOR = 9;

/** How many counts of a workspace may wait. */
const MOST_WAITING = 20;

/** How many counts of a segment that have ended are kept: as many as are listed. */
const MOST_KEPT = 100;

/** About how many bytes the filters of kept counts of a workspace have together. */
const MOST_KEPT_BYTES = 16 * 1_048_576;

type Progress = Pick<ExactCount, "after" | "total" | "matching">;

const START: Progress = { after: BEFORE_ALL, total: 0, matching: 0 };

/**
 * Continues a count. It leaves most of the time to others while they want it.
 *
 * @param shouldContinue is called after each portion, with how far the count has come.
 * @returns how far it has come, and whether it has reached the last user.
 */
async function countOn(
  { database, clock }: StoringServices,
  workspaceId: number,
  filter: Filter,
  from: Progress,
  shouldContinue: (progress: Progress) => Promise<boolean>,
): Promise<Progress & { readonly isDone: boolean }> {
  const now = clock.now();
  const analysis = database.for("analysis");
  let progress = from;
  const pace = createPace(leavesOf(filter).length);
  const countWrites = writeCounter(analysis);
  for (;;) {
    const { after } = progress;
    const portion = { kind: "next", after, size: pace.size() } as const;
    const askedAt = performance.now();
    let [startedAt, size] = [askedAt, 0];
    const count = await readFitting(analysis, { workspaceId, portion, now }, [filter], (look) => {
      startedAt = performance.now();
      size = sizeOf(look.portion);
      return countMembers(look, filter);
    });
    const tookMs = Math.max(1, performance.now() - startedAt);
    progress = {
      after: count.lastId ?? after,
      total: progress.total + count.seen,
      matching: progress.matching + count.matching,
    };
    if (count.seen < size) return { ...progress, isDone: true };
    const { writes, perSecond } = countWrites();
    const hasWaited = startedAt - askedAt > BUSY_MS && (analysis.isSerialized || writes > 0);
    const isBusy =
      hasWaited || (writes >= FEWEST_BUSY_WRITES && perSecond >= BUSY_WRITES_PER_SECOND);
    pace.took(tookMs, isBusy || analysis.isSerialized ? TURN_MS : SLICE_MS);
    if (!(await shouldContinue(progress))) return { ...progress, isDone: false };
    if (isBusy) await setTimeout(PAUSE_FACTOR * tookMs);
  }
}

/**
 * Tells how many transactions of this process wrote since it was last asked. Pauses count, so that
 * a short portion that met no writer does not make the next one long.
 */
function writeCounter(database: Database) {
  let [before, askedAt] = [database.intakeCount?.() ?? 0, performance.now()];
  return () => {
    const [all, now] = [database.intakeCount?.() ?? 0, performance.now()];
    const writes = all - before;
    const perSecond = (1_000 * writes) / (now - askedAt);
    [before, askedAt] = [all, now];
    return { writes, perSecond };
  };
}

/** The whole size, or the job that goes on counting. */
export type CountOutcome = { readonly size: SegmentSize } | { readonly count: ExactCount };

/**
 * Counts the users who meet a filter.
 *
 * @param waitSeconds how long the request may count by itself before a job continues.
 * @param signal ends the count with its reason.
 * @throws Problem as `filterOf` does; UNAVAILABLE if too many counts wait.
 */
export async function countExactly(
  services: InlineServices,
  context: WorkspaceContext,
  wanted: WantedFilter,
  waitSeconds: number,
  signal: AbortSignal,
): Promise<CountOutcome> {
  const { database, clock } = services;
  const { workspace } = context;
  const { filter, given } = await filterOf(database, context, wanted);
  const until = performance.now() + waitSeconds * 1_000;
  const startedAt = clock.now();
  const release = waitSeconds > 0 ? services.countSlots.take(workspace.name) : undefined;
  const shouldContinue = async () => {
    signal.throwIfAborted();
    return performance.now() < until;
  };
  const progress = release
    ? await countOn(services, workspace.id, filter, START, shouldContinue).finally(release)
    : { ...START, isDone: false };
  const { isDone, ...counted } = progress;
  const count: ExactCount = {
    id: clock.newId(),
    segmentId: wanted.segment_id?.toLowerCase() ?? null,
    filter: given,
    status: isDone ? "finished" : "running",
    ...counted,
    expected: isDone ? counted.total : await expectedUsers(services, workspace.id, counted),
    startedAt,
    finishedAt: isDone ? clock.now() : null,
    failure: null,
  };
  await database.transaction(async (tx) => {
    if (isDone && count.segmentId === null) return;
    await lockCounts(tx, workspace.id);
    if (!isDone && (await selectRunningIds(tx, workspace.id)).length >= MOST_WAITING) {
      throw new Problem("UNAVAILABLE", `${MOST_WAITING} exact counts of this workspace wait.`, {
        retryAfterSeconds: 60,
      });
    }
    await insertCount(tx, workspace.id, count);
    await trimCounts(tx, workspace.id, count.segmentId, MOST_KEPT);
    await trimCountedFilters(tx, workspace.id, MOST_KEPT_BYTES);
    if (!isDone) await enqueue(tx, clock, keyOf(workspace.id));
  });
  return isDone ? { size: exactSize(counted.total, counted.matching) } : { count };
}

/** About how many users a count will have looked at. */
async function expectedUsers(
  { database, clock }: StoringServices,
  workspaceId: number,
  { total: counted }: Progress,
): Promise<number> {
  const { total } = await estimateSize(database, workspaceId, EVERYONE, clock.now());
  return Math.max(counted, total);
}

const COUNT_JOB = "segment_count";

const keyOf = (workspaceId: number) => ({ workspaceId, kind: COUNT_JOB, subject: "queue" });

/** Finishes the counts of a workspace, one after the other. */
export const countJob: JobKind<StoringServices> = {
  name: COUNT_JOB,
  async run(services, job) {
    const { database } = services;
    for (;;) {
      const [next] = await selectRunningIds(database, job.workspaceId);
      if (!next) break;
      const count = await selectCount(database, job.workspaceId, next.id);
      if (count) await finishCount(services, job, count);
    }
    await database.transaction(async (tx) => {
      // A job requested in the meantime is found by the next run.
      if ((await selectRunningIds(tx, job.workspaceId)).length === 0) await job.finish(tx);
    });
  },
  /** The count whose turn it is has failed; those that wait go on. */
  async giveUp({ database, clock }, job, reason) {
    await database.transaction(async (tx) => {
      await job.advance(tx);
      const [count] = await selectRunningIds(tx, job.workspaceId);
      if (count) await endCount(tx, job.workspaceId, count.id, reason, clock.now());
    });
  },
};

async function finishCount(services: StoringServices, job: Job, count: ExactCount): Promise<void> {
  const { database, clock } = services;
  const save = (progress: Progress, finishedAt: Date | null) =>
    database.transaction(async (tx) => {
      await job.advance(tx);
      return updateCount(tx, job.workspaceId, { ...progress, id: count.id }, finishedAt);
    });
  const filter = readOrReason(
    count.filter,
    await scopeFor(database, job.workspaceId, [count.filter]),
  );
  if (typeof filter === "string") {
    await database.transaction((tx) =>
      endCount(tx, job.workspaceId, count.id, filter, clock.now()),
    );
    return;
  }
  let savedAt = performance.now();
  const shouldContinue = async (stands: Progress) => {
    job.signal.throwIfAborted();
    if (performance.now() - savedAt < SAVED_EVERY_MS) return true;
    const isRunning = await save(stands, null);
    savedAt = performance.now();
    return isRunning;
  };
  const { isDone, ...progress } = await countOn(
    services,
    job.workspaceId,
    filter,
    count,
    shouldContinue,
  );
  if (isDone) await save(progress, clock.now());
}

/** @throws Problem NOT_FOUND */
export async function readCount(
  { database }: StoringServices,
  { workspace }: WorkspaceContext,
  id: string,
): Promise<ExactCount> {
  const count = await selectCount(database, workspace.id, id);
  if (!count) throw new Problem("NOT_FOUND", "There is no such count.");
  return count;
}

/** How many counts are listed. */
const LISTED = 100;

/** How many bytes of their filters are read: older counts have no sentence. */
const LISTED_FILTER_BYTES = 4 * 1_048_576;

export interface ListedCount extends ExactCount {
  /**
   * The filter as a sentence; null if something it names no longer exists, if it tells who users are and the caller may not
   * see that, or if the filters of newer counts have 4 MB.
   */
  readonly description: string | null;
  /** How many counts of the workspace run before this one; null if it has ended. */
  readonly before: number | null;
}

/** The counts of a workspace, the newest first: those that run and wait, and those that ended in the last 30 days. */
export async function listCounts(
  { database }: StoringServices,
  context: WorkspaceContext,
  segmentId: string | undefined,
): Promise<ListedCount[]> {
  const { workspace } = context;
  const rules = { isKept: true, hidesPeople: hidesPeople(context) };
  const segment = segmentId?.toLowerCase();
  const [counts, running] = await settleAll([
    selectCounts(database, workspace.id, segment, LISTED, LISTED_FILTER_BYTES),
    selectRunningIds(database, workspace.id),
  ]);
  const filters = counts.map(({ filter }) => filter);
  const scope = await scopeFor(database, workspace.id, filters);
  const places = new Map(running.map(({ id }, place) => [id, place]));
  return counts.map((count) => {
    const filter = readOrReason(count.filter, scope, rules);
    return {
      ...count,
      description: typeof filter === "string" ? null : sentenceOf(filter),
      before: places.get(count.id) ?? null,
    };
  });
}

/** Cancels a running count; a count that has ended stays. @throws Problem NOT_FOUND */
export async function stopCount(
  services: StoringServices,
  context: WorkspaceContext,
  id: string,
): Promise<ExactCount> {
  const { database, clock } = services;
  const change = { action: "cancelled", kind: "segment_count", name: id };
  await database.transaction(async (tx) => {
    if (!(await endCount(tx, context.workspace.id, id, null, clock.now()))) return;
    await recordChangeIn(tx, clock, context, change);
  });
  return readCount(services, context, id);
}
