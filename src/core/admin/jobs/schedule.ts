import { Cron } from "croner";
import { type Clock, later } from "../../base/clock.ts";
import { isTimeZone } from "../../base/context/workspace-settings.ts";
import type { Database, Queryable, Transaction } from "../../database/database.ts";
import type { JobKey } from "./job.ts";
import {
  bringJobsForward,
  deleteSchedules,
  hasDueSchedule,
  insertJobs,
  lockSchedules,
  selectDueSchedules,
  selectNextTimes,
  upsertSchedules,
} from "./store.ts";

/** An expression that matches no date within so many years matches none: the 29th of February on a Monday comes within 40. */
const MOST_YEARS = 40;

/** No expression needs more. */
const MOST_CHARACTERS = 256;

/** Whether a text is a cron expression of five fields, or a shorthand such as `@daily`, that matches some date. */
export function isCron(text: string): boolean {
  if (text.length > MOST_CHARACTERS) return false;
  try {
    if (/^@[a-z]+$/i.test(text)) return readCron(text, "UTC").nextRun() !== null;
    // With a second and years it is no date, which the library also takes, and which has no next time; and the library
    // does not search 8,000 years, which takes a second.
    const year = new Date().getUTCFullYear();
    const bounded = `0 ${text} ${year}-${year + MOST_YEARS}`;
    return new Cron(bounded, { timezone: "UTC", mode: "7-part" }).nextRun() !== null;
  } catch {
    return false;
  }
}

/**
 * A list such as `30 2,14 * * *` names times, too: when the clock changes, each comes once on its day. By croner's
 * default only a single time does. docs/warehouse-sync.md
 */
const readCron = (text: string, timezone: string): Cron =>
  new Cron(text, { timezone, mode: "5-part", fixedTimeRule: "no-wildcard" });

/** When something runs: five fields of cron, in a zone with an IANA name. docs/warehouse-sync.md */
export interface Schedule {
  readonly cron: string;
  readonly timeZone: string;
}

/**
 * The first time after `now`; undefined if there is none. A zone that this server's tables lack, after it was declared on a
 * newer one, is taken for UTC: it must not hold up the schedules of others.
 */
export const nextTime = ({ cron, timeZone }: Schedule, now: Date): Date | undefined =>
  readCron(cron, isTimeZone(timeZone) ? timeZone : "UTC").nextRun(now) ?? undefined;

/** Runs jobs by a schedule each, from now on. */
export async function setSchedules(
  tx: Transaction,
  schedules: readonly (JobKey & Schedule)[],
  now: Date,
): Promise<void> {
  await upsertSchedules(tx, withNextTimes(schedules, now));
}

const withNextTimes = <Each extends Schedule>(schedules: readonly Each[], now: Date) =>
  schedules.flatMap((schedule) => {
    const nextAt = nextTime(schedule, now);
    return nextAt ? [{ ...schedule, nextAt }] : [];
  });

export { deleteSchedules as removeSchedules };

/** When each subject of a kind is due next, by subject. */
export async function readNextTimes(
  database: Queryable,
  kind: string,
  workspaceId: number,
): Promise<ReadonlyMap<string, Date>> {
  const rows = await selectNextTimes(database, kind, workspaceId);
  return new Map(rows.map((row) => [row.subject, row.nextAt]));
}

/** How many schedules a round takes; the next one follows within a second. */
const MOST_DUE = 100;

/**
 * Enqueues the jobs that are due, unless they are still queued from the last time: so many in a round, in turns of
 * workspaces. Runs missed while no server was up are caught up with one run.
 */
export async function enqueueDue(database: Database, clock: Clock): Promise<void> {
  const now = clock.now();
  if (!(await hasDueSchedule(database, now))) return;
  await database.transaction(async (tx) => {
    const due = await selectDueSchedules(tx, now, MOST_DUE);
    await insertJobs(
      tx,
      due.map(({ nextAt, ...key }) => ({ ...key, id: clock.newId(), runAt: nextAt })),
    );
    const next = withNextTimes(due, now);
    await upsertSchedules(tx, next);
    const goesOn = new Set(next.map(keyOf));
    for (const each of due.filter((one) => !goesOn.has(keyOf(one)))) {
      // It would be due again at once, for ever.
      await deleteSchedules(tx, each.workspaceId, each.kind, [each.subject]);
    }
  });
}

const keyOf = ({ workspaceId, kind, subject }: JobKey): string =>
  `${workspaceId} ${kind} ${subject}`;

/**
 * Repairs times that were written before the clock was set back: waiting jobs start now, leases
 * last no longer than they should, and each schedule is due at its next time by the new clock. Any
 * number of processes may do this.
 */
export async function followStepBack(
  database: Database,
  clock: Clock,
  leaseMs: number,
): Promise<void> {
  const now = clock.now();
  await database.transaction(async (tx) => {
    await bringJobsForward(tx, now, later(now, { ms: leaseMs }));
    const late = (await lockSchedules(tx)).filter(({ nextAt }) => nextAt > now);
    await upsertSchedules(tx, withNextTimes(late, now));
  });
}
