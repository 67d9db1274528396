import type { Logger } from "pino";
import Type, { type Static } from "typebox";
import type { Job, JobKind } from "../../core/admin/jobs/job.ts";
import { enqueue } from "../../core/admin/jobs/queue.ts";
import { readNextTimes, setSchedules } from "../../core/admin/jobs/schedule.ts";
import { listWorkspaces } from "../../core/admin/workspaces/manage-workspaces.ts";
import { type Clock, earlier } from "../../core/base/clock.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { groupBy } from "../../core/base/values/group-by.ts";
import { parseTime } from "../../core/base/values/times.ts";
import {
  type Database,
  StatementTooLarge,
  settleAll,
  type Transaction,
} from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { estimateSize, exactSize } from "./estimate.ts";
import { readFilter } from "./filter.ts";
import { findSegment, readSegments, scopeFor } from "./scope.ts";
import { shownTo } from "./shown-sizes.ts";
import {
  deleteOldCounts,
  deleteSizes,
  insertSizes,
  selectCountedSizes,
  selectSizes,
  selectSizesSince,
} from "./store.ts";

const SIZES_JOB = "segment_sizes";

/** One job estimates all segments of a workspace. */
const SUBJECT = "workspace";

/** Shortly before midnight in UTC, so that the size belongs to the end of the day. */
const DAILY = "41 23 * * *";

type SizesServices = StoringServices & { readonly log: Logger };

/** Estimates the size of every segment once a day, and of one that was saved with another filter, apart from those that cannot be counted. */
export const sizesJob: JobKind<SizesServices> = {
  name: SIZES_JOB,
  async run(services, job) {
    await recordSizes(services, job);
    await services.database.transaction((tx) => job.finish(tx));
  },
};

async function recordSizes({ database, clock, log }: SizesServices, job: Job): Promise<void> {
  const { workspaceId } = job;
  const { readable, skipped } = await readSegments(database, workspaceId);
  const now = clock.now();
  const skip = (id: string, reason: string) =>
    log.warn({ workspace_id: workspaceId, segment_id: id, reason }, "segment cannot be counted");
  for (const { id, reason } of skipped) skip(id, reason);
  const recorded = await selectSizesSince(database, workspaceId, dayOf(now));
  const isRecorded = new Set(recorded.map(({ id }) => id));
  for (const { id, read } of readable) {
    job.signal.throwIfAborted();
    // A retry that began with these would count as progress, however often a later segment fails.
    if (isRecorded.has(id)) continue;
    const size = await estimateSize(database, workspaceId, read, now).catch((error: unknown) => {
      if (!(error instanceof StatementTooLarge)) throw error;
      skip(id, error.message);
    });
    if (!size) continue;
    const { matching } = size;
    await database.transaction(async (tx) => {
      await job.advance(tx);
      await insertSizes(tx, workspaceId, dayOf(now), [{ id, size: matching }]);
    });
  }
}

/** Has the sizes of segments with another filter recorded within seconds, in place of today's. */
export async function recordSizesAgain(
  tx: Transaction,
  workspaceId: number,
  ids: readonly string[],
  clock: Clock,
): Promise<void> {
  await deleteSizes(tx, workspaceId, ids, dayOf(clock.now()));
  await enqueue(tx, clock, { workspaceId, kind: SIZES_JOB, subject: SUBJECT });
}

const KEPT_COUNTS_DAYS = 30;
const KEPT_SIZES_DAYS = 400;

/** Schedules the daily job in every workspace that lacks it, and deletes old sizes. */
export async function sweepSegments(database: Database, now: Date): Promise<void> {
  const ago = (days: number) => earlier(now, { days });
  await deleteOldCounts(database, ago(KEPT_COUNTS_DAYS), ago(KEPT_SIZES_DAYS));
  for (const { id } of await listWorkspaces(database)) {
    if ((await readNextTimes(database, SIZES_JOB, id)).has(SUBJECT)) continue;
    const key = { workspaceId: id, kind: SIZES_JOB, subject: SUBJECT };
    await database.transaction((tx) =>
      setSchedules(tx, [{ ...key, cron: DAILY, timeZone: "UTC" }], now),
    );
  }
}

/** How many days a list of segments shows. */
const LISTED_DAYS = 30;

/** The known sizes of all segments, of the last 30 days and of their last counts, as the caller may see them. */
export async function sizesOfSegments(
  { database, clock }: StoringServices,
  context: WorkspaceContext,
) {
  const { workspace } = context;
  const since = earlier(clock.now(), { days: LISTED_DAYS - 1 });
  const [rows, counts, { skipped }] = await settleAll([
    selectSizesSince(database, workspace.id, dayOf(since)),
    selectCountedSizes(database, workspace.id),
    readSegments(database, workspace.id),
  ]);
  const shown = shownTo(context);
  const faults = new Map(skipped.map(({ id, reason }) => [id, reason]));
  const bySegment = groupBy(rows, ({ id }) => id);
  const countOf = new Map(
    counts.map(({ id, at, total: all, matching: users }) => {
      const { total, matching } = shown.size(exactSize(all, users));
      return [id, { total, matching, at: at.toISOString() }];
    }),
  );
  return [...new Set([...bySegment.keys(), ...countOf.keys(), ...faults.keys()])].map((id) => ({
    id,
    sizes: (bySegment.get(id) ?? []).map(({ day, size }) => ({
      time: day,
      size: shown.users(size),
    })),
    counted: countOf.get(id) ?? null,
    fault: faults.get(id) ?? null,
  }));
}

const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

export const SizeSeriesQuery = Type.Object({
  segment_id: Type.String({ maxLength: 64 }),
  length: Type.Integer({ minimum: 1, maximum: 100, description: "Days." }),
  ending_at: Type.Optional(
    Type.String({ maxLength: 64, description: "ISO 8601; by default now." }),
  ),
});

/**
 * The sizes of a segment day by day. Today's is estimated now; days without a recorded size are left out.
 *
 * @throws Problem NOT_FOUND for an unknown segment; INVALID_REQUEST for a time that is none.
 */
export async function sizeSeries(
  { database, clock }: StoringServices,
  { workspace }: WorkspaceContext,
  { segment_id, length, ending_at }: Static<typeof SizeSeriesQuery>,
): Promise<{ time: string; size: number }[]> {
  const now = clock.now();
  const end = ending_at === undefined ? now : parseTime(ending_at);
  if (!end) throw new Problem("INVALID_REQUEST", "'ending_at' must be a time in ISO 8601.");
  const segment = await findSegment(database, workspace.id, segment_id);
  const first = earlier(end, { days: length - 1 });
  const [from, to, today] = [first, end, now].map(dayOf) as [string, string, string];
  const sizes = await selectSizes(database, workspace.id, segment.id, from, to);
  if (to >= today && from <= today && sizes.at(-1)?.day !== today) {
    const scope = await scopeFor(database, workspace.id, [segment.filter]);
    const filter = readFilter(segment.filter, scope);
    const { matching } = await estimateSize(database, workspace.id, filter, now);
    sizes.push({ day: today, size: matching });
  }
  return sizes.map(({ day, size }) => ({ time: day, size }));
}
