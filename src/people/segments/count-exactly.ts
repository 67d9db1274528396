import { recordChangeIn } from "../../admin/audit/audit.ts";
import type { Job, JobKind } from "../../admin/jobs/job.ts";
import { enqueue } from "../../admin/jobs/queue.ts";
import type { Clock } from "../../base/clock.ts";
import type { WorkspaceContext } from "../../base/context/context.ts";
import { createSlots, type Slots } from "../../base/pool.ts";
import { Problem } from "../../base/problem.ts";
import { type Database, readTogether } from "../../database/database.ts";
import { exactSize, type SegmentSize } from "./estimate.ts";
import type { Filter } from "./filter.ts";
import { readFilter } from "./filter.ts";
import { countMembers } from "./members.ts";
import { BEFORE_ALL } from "./members-store.ts";
import { filterOf, scopeOf, type WantedFilter } from "./scope.ts";
import {
  cancelCount,
  type ExactCount,
  insertCount,
  selectCount,
  selectRunningCounts,
  updateCount,
} from "./store.ts";

/*
 * Exact counts. They go through all users in the order of their ids, in small portions, each on a snapshot of its own,
 * so that they hold up nobody. A request counts for some seconds by itself; what is left then is a job, which any
 * process can continue. The jobs of a workspace are a queue: one count runs at a time.
 */

export interface CountServices {
  readonly database: Database;
  readonly clock: Clock;
}

/** How many requests of a workspace, and of a process, count by themselves at a time; those beyond get a job at once. */
export const createCountSlots = (): Slots => createSlots(2, 4);

export type InlineServices = CountServices & { readonly countSlots: Slots };

/** How long a portion should take; its size follows. */
const PORTION_MS = 50;
const FEWEST_USERS = 1_000;
const MOST_USERS = 50_000;

/** How long a request counts by itself. */
const INLINE_MS = 5_000;

/** How many counts of a workspace may wait. */
const MOST_WAITING = 20;

type Progress = Pick<ExactCount, "after" | "total" | "matching">;

const START: Progress = { after: BEFORE_ALL, total: 0, matching: 0 };

/**
 * Counts on from where a count stands.
 *
 * @param goesOn is asked after each portion, with how far the count has come.
 * @returns where it stands, and whether it has reached the last user.
 */
async function countOn(
  { database, clock }: CountServices,
  workspaceId: number,
  filter: Filter,
  from: Progress,
  goesOn: (progress: Progress) => Promise<boolean>,
): Promise<Progress & { readonly isDone: boolean }> {
  const now = clock.now();
  let progress = from;
  let size = FEWEST_USERS;
  for (;;) {
    const { after } = progress;
    const startedAt = performance.now();
    const portion = { kind: "next", after, size } as const;
    const count = await readTogether(database.for("analysis"), (tx) =>
      countMembers(tx, workspaceId, portion, filter, now),
    );
    progress = {
      after: count.lastId ?? after,
      total: progress.total + count.seen,
      matching: progress.matching + count.matching,
    };
    if (count.seen < size) return { ...progress, isDone: true };
    const wanted = (size * PORTION_MS) / Math.max(1, performance.now() - startedAt);
    size = Math.round(Math.min(MOST_USERS, 2 * size, Math.max(FEWEST_USERS, wanted)));
    if (!(await goesOn(progress))) return { ...progress, isDone: false };
  }
}

/** The whole size, or the job that goes on counting. */
export type CountOutcome = { readonly size: SegmentSize } | { readonly count: ExactCount };

/** Counts the users who meet a filter. @throws Problem as `filterOf` does; UNAVAILABLE if too many counts wait. */
export async function countExactly(
  services: InlineServices,
  { workspace }: WorkspaceContext,
  wanted: WantedFilter,
): Promise<CountOutcome> {
  const { database, clock } = services;
  const { filter, given } = await filterOf(database, workspace.id, wanted);
  const until = performance.now() + INLINE_MS;
  const startedAt = clock.now();
  const release = services.countSlots.take(workspace.name);
  const goesOn = async () => performance.now() < until;
  const progress = release
    ? await countOn(services, workspace.id, filter, START, goesOn).finally(release)
    : { ...START, isDone: false };
  const { isDone, ...stands } = progress;
  const count: ExactCount = {
    id: clock.newId(),
    segmentId: wanted.segment_id?.toLowerCase() ?? null,
    filter: given,
    status: isDone ? "finished" : "running",
    ...stands,
    startedAt,
    finishedAt: isDone ? clock.now() : null,
  };
  await database.transaction(async (tx) => {
    if (isDone && count.segmentId === null) return;
    if (!isDone && (await selectRunningCounts(tx, workspace.id)).length >= MOST_WAITING) {
      throw new Problem("UNAVAILABLE", `${MOST_WAITING} exact counts of this workspace wait.`, {
        retryAfterSeconds: 60,
      });
    }
    await insertCount(tx, workspace.id, count);
    if (!isDone) await enqueue(tx, clock, keyOf(workspace.id));
  });
  return isDone ? { size: exactSize(stands.total, stands.matching) } : { count };
}

const COUNT_JOB = "segment_count";

const keyOf = (workspaceId: number) => ({ workspaceId, kind: COUNT_JOB, subject: "queue" });

/** Finishes the counts of a workspace, one after the other. */
export const countJob: JobKind<CountServices> = {
  name: COUNT_JOB,
  async run(services, job) {
    const { database } = services;
    for (;;) {
      const [count] = await selectRunningCounts(database, job.workspaceId);
      if (!count) break;
      await finishCount(services, job, count);
    }
    await database.transaction(async (tx) => {
      // One that was asked for in the meantime is found by the next run.
      if ((await selectRunningCounts(tx, job.workspaceId)).length === 0) await job.finish(tx);
    });
  },
};

async function finishCount(services: CountServices, job: Job, count: ExactCount): Promise<void> {
  const { database, clock } = services;
  const save = (progress: Progress, finishedAt: Date | null) =>
    database.transaction(async (tx) => {
      await job.advance(tx);
      return updateCount(tx, job.workspaceId, { ...progress, id: count.id }, finishedAt);
    });
  const filter = await filterStill(database, job.workspaceId, count);
  if (!filter) {
    // What it names is gone.
    await database.transaction((tx) => cancelCount(tx, job.workspaceId, count.id, clock.now()));
    return;
  }
  const { isDone, ...progress } = await countOn(
    services,
    job.workspaceId,
    filter,
    count,
    async (stands) => {
      job.signal.throwIfAborted();
      return save(stands, null);
    },
  );
  if (isDone) await save(progress, clock.now());
}

async function filterStill(
  database: Database,
  workspaceId: number,
  { filter }: ExactCount,
): Promise<Filter | undefined> {
  try {
    return readFilter(filter, await scopeOf(database, workspaceId));
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

/** @throws Problem NOT_FOUND */
export async function readCount(
  { database }: CountServices,
  { workspace }: WorkspaceContext,
  id: string,
): Promise<ExactCount> {
  const count = await selectCount(database, workspace.id, id);
  if (!count) throw new Problem("NOT_FOUND", "There is no such count.");
  return count;
}

/** Ends a count that runs; one that has ended stays. @throws Problem NOT_FOUND */
export async function stopCount(
  services: CountServices,
  context: WorkspaceContext,
  id: string,
): Promise<ExactCount> {
  const { database, clock } = services;
  const change = { action: "cancelled", kind: "segment_count", name: id };
  await database.transaction(async (tx) => {
    if (!(await cancelCount(tx, context.workspace.id, id, clock.now()))) return;
    await recordChangeIn(tx, clock, context, change);
  });
  return readCount(services, context, id);
}
