import type { Database, Queryable, Transaction } from "../../database/database.ts";
import { listsOf } from "../../database/parameters/lists-of.ts";
import type { JobKey, PlaceKind } from "./job.ts";

/** Puts jobs into the table; there stays one of each key. @returns the keys that were new. */
export const insertJobs = (
  tx: Transaction,
  jobs: readonly (JobKey & { readonly id: string; readonly runAt: Date })[],
) =>
  tx.query<JobKey>(
    `insert into jobs (job_id, workspace_id, kind, subject, run_at, failures)
     select id, workspace_id, kind, subject, run_at, 0
     from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::timestamptz[])
       as new (id, workspace_id, kind, subject, run_at)
     on conflict (workspace_id, kind, subject) do nothing
     returning workspace_id as "workspaceId", kind, subject`,
    [...listsOf(jobs, "id", "workspaceId", "kind", "subject", "runAt")],
  );

/** Removes jobs, held or not; of all subjects if none are given. */
export const deleteJobs = (
  tx: Transaction,
  workspaceId: number,
  kind: string,
  subjects: readonly string[] | undefined,
) =>
  tx.execute(
    `delete from jobs where workspace_id = $1 and kind = $2
       and ($3::text[] is null or subject = any($3::text[]))`,
    [workspaceId, kind, subjects ?? null],
  );

export interface DueRow extends JobKey {
  readonly id: string;
  readonly takes: PlaceKind;
}

/**
 * Due jobs that no process holds, in the order in which to start them: round-robin among workspaces,
 * the oldest of each first.
 */
export const selectDue = (
  database: Queryable,
  wanted: {
    /** The names of kinds, and the places that each takes. */
    readonly kinds: ReadonlyMap<string, PlaceKind>;
    readonly now: Date;
    /** At most so many for each kind of place. */
    readonly atMost: number;
    /**
     * The jobs that this process is running: if the lease of one ran out, the process must not
     * start it a second time.
     */
    readonly running: readonly string[];
  },
) =>
  database.query<DueRow>(
    `select job_id as id, workspace_id as "workspaceId", kind, subject, takes from (
       select *, row_number() over (partition by takes order by turn, run_at, job_id) as place from (
         select job_id, workspace_id, kind, subject, run_at, takes,
           row_number() over (partition by workspace_id, takes order by run_at, job_id) as turn
         from jobs join unnest($1::text[], $2::text[]) as known (name, takes) on kind = name
         where run_at <= $3 and (leased_until is null or leased_until < $3)
           and job_id <> all($4::uuid[])) as due) as ranked
     where place <= $5 order by takes, place`,
    [
      [...wanted.kinds.keys()],
      [...wanted.kinds.values()],
      wanted.now,
      wanted.running,
      wanted.atMost,
    ],
  );

export interface ClaimedRow extends JobKey {
  readonly id: string;
  readonly failures: number;
  /** How its last runs failed, and how often in a row in this way; null if by no fault of its own. */
  readonly fault: string | null;
  readonly faults: number;
}

/**
 * Claims due jobs that no process holds. Rows that another process is just claiming are skipped.
 * `jobs` is a small table of one node, so `for update` works on every engine.
 */
export const claimJobs = (
  database: Queryable,
  claim: {
    readonly ids: readonly string[];
    readonly holder: string;
    readonly now: Date;
    readonly leasedUntil: Date;
  },
) =>
  database.query<ClaimedRow>(
    `update jobs set holder = $1, leased_until = $2
     where job_id in (
       select job_id from jobs
       where job_id = any($3::uuid[]) and run_at <= $4 and (leased_until is null or leased_until < $4)
       for update skip locked)
     returning job_id as id, workspace_id as "workspaceId", kind, subject, failures, fault, faults`,
    [claim.holder, claim.leasedUntil, claim.ids, claim.now],
  );

/** Renews a holder's jobs. @returns the ids that are still its own. */
export async function renewLeases(
  database: Queryable,
  holder: string,
  ids: readonly string[],
  leasedUntil: Date,
): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `update jobs set leased_until = $3 where job_id = any($2::uuid[]) and holder = $1
     returning job_id as id`,
    [holder, ids, leasedUntil],
  );
  return rows.map((row) => row.id);
}

/** Renews one lease. @returns whether the holder still has it. */
export async function holdJob(
  tx: Transaction,
  holder: string,
  id: string,
  {
    leasedUntil,
    forgetsFailures,
  }: { readonly leasedUntil: Date; readonly forgetsFailures: boolean },
): Promise<boolean> {
  const rows = await tx.query(
    `update jobs set leased_until = $3,
       failures = case when $4::bool then 0 else failures end,
       fault = case when not $4::bool then fault end,
       faults = case when $4::bool then 0 else faults end
     where job_id = $2 and holder = $1 returning 1`,
    [holder, id, leasedUntil, forgetsFailures],
  );
  return rows.length > 0;
}

/** @returns whether the holder still had it. */
export const finishJob = async (tx: Transaction, holder: string, id: string) =>
  (await tx.execute("delete from jobs where job_id = $2 and holder = $1", [holder, id])) > 0;

export interface Release {
  readonly runAt: Date;
  readonly hasFailed: boolean;
  /** How it failed by its own fault: a sentence. */
  readonly fault?: string | undefined;
}

/** Gives a job back. A fault is counted if the one before was the same. */
export const releaseJob = (
  database: Queryable,
  holder: string,
  id: string,
  { runAt, hasFailed, fault }: Release,
) =>
  database.execute(
    `update jobs set holder = null, leased_until = null, run_at = $3,
       failures = failures + $4::int,
       fault = coalesce($5::text, fault),
       faults = case when $5::text is null then faults
         when fault = $5::text then faults + 1 else 1 end
     where job_id = $2 and holder = $1`,
    [holder, id, runAt, hasFailed ? 1 : 0, fault ?? null],
  );

export interface FaultyJob extends JobKey {
  readonly fault: string;
  readonly runAt: Date;
}

/** The jobs of a workspace that have failed at least so often in the same way. */
export const selectFaulty = (database: Queryable, workspaceId: number, faults: number) =>
  database.query<FaultyJob>(
    `select workspace_id as "workspaceId", kind, subject, fault, run_at as "runAt"
     from jobs where workspace_id = $1 and faults >= $2 order by kind, subject limit 20`,
    [workspaceId, faults],
  );

/** Releases every job: this process is the only one, so no other has any. */
export const forgetHolders = (database: Database) =>
  database.execute("update jobs set holder = null, leased_until = null");

/** Makes waiting jobs due, and lets no lease last longer than to this time. */
export const bringJobsForward = (tx: Transaction, now: Date, leasedUntil: Date) =>
  tx.execute(
    `update jobs set run_at = least(run_at, $1),
       leased_until = case when leased_until is not null then least(leased_until, $2) end
     where run_at > $1 or leased_until > $2`,
    [now, leasedUntil],
  );

export interface ScheduleRow extends JobKey {
  readonly cron: string;
  readonly timeZone: string;
  readonly nextAt: Date;
}

export async function upsertSchedules(
  tx: Transaction,
  schedules: readonly ScheduleRow[],
): Promise<void> {
  if (schedules.length === 0) return;
  await tx.query(
    `insert into schedules (workspace_id, kind, subject, cron, time_zone, next_at)
     select workspace_id, kind, subject, cron, time_zone, next_at
     from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
       as new (workspace_id, kind, subject, cron, time_zone, next_at)
     on conflict (workspace_id, kind, subject) do update
       set cron = excluded.cron, time_zone = excluded.time_zone, next_at = excluded.next_at`,
    [...listsOf(schedules, "workspaceId", "kind", "subject", "cron", "timeZone", "nextAt")],
  );
}

export const deleteSchedules = (
  tx: Transaction,
  workspaceId: number,
  kind: string,
  subjects: readonly string[],
) =>
  tx.execute(
    "delete from schedules where workspace_id = $1 and kind = $2 and subject = any($3::text[])",
    [workspaceId, kind, subjects],
  );

/**
 * Due schedules, locked until the transaction ends: round-robin among workspaces, the oldest of each first. The time is
 * compared again because another process may have set the next one before the row is locked.
 */
export const selectDueSchedules = (tx: Transaction, now: Date, atMost: number) =>
  tx.query<ScheduleRow>(
    `select workspace_id as "workspaceId", kind, subject, cron, time_zone as "timeZone", next_at as "nextAt"
     from schedules
     where next_at <= $1 and (workspace_id, kind, subject) in (
       select workspace_id, kind, subject from (
         select workspace_id, kind, subject, next_at,
           row_number() over (partition by workspace_id order by next_at, kind, subject) as turn
         from schedules where next_at <= $1) as due
       order by turn, next_at, workspace_id limit $2)
     order by workspace_id, kind, subject for update skip locked`,
    [now, atMost],
  );

/** All schedules, held until the transaction ends. */
export const lockSchedules = (tx: Transaction) =>
  tx.query<ScheduleRow>(
    `select workspace_id as "workspaceId", kind, subject, cron, time_zone as "timeZone", next_at as "nextAt"
     from schedules order by workspace_id, kind, subject for update`,
  );

export async function hasDueSchedule(database: Queryable, now: Date): Promise<boolean> {
  const rows = await database.query("select 1 from schedules where next_at <= $1 limit 1", [now]);
  return rows.length > 0;
}

export const selectNextTimes = (database: Queryable, kind: string, workspaceId: number) =>
  database.query<Pick<ScheduleRow, "subject" | "nextAt">>(
    'select subject, next_at as "nextAt" from schedules where kind = $1 and workspace_id = $2',
    [kind, workspaceId],
  );
