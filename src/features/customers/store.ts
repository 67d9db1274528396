import type { Queryable, Transaction } from "../../core/database/database.ts";
import { listsOf } from "../../core/database/parameters/lists-of.ts";
import type { Count, CountKey, CountKind } from "./tally.ts";

export interface Recount {
  readonly workspaceId: number;
  readonly cut: string;
  /** Empty before the first. */
  readonly counted: string;
  readonly zone: string;
  readonly changesUntil: Date;
  readonly revision: number;
}

const RECOUNT = `workspace_id as "workspaceId", cut, counted, time_zone as zone, changes_until as "changesUntil", revision`;

export const selectRecounts = (database: Queryable) =>
  database.query<Recount>(`select ${RECOUNT} from customer_recounts`);

export async function selectRecount(database: Queryable, workspaceId: number) {
  const [row] = await database.query<Recount>(
    `select ${RECOUNT} from customer_recounts where workspace_id = $1`,
    [workspaceId],
  );
  return row;
}

/** The zone of every workspace, and for how many days events and purchases are kept; null without an end. */
export const selectZones = (
  database: Queryable,
): Promise<
  { readonly workspaceId: number; readonly zone: string; readonly keptDays: number | null }[]
> =>
  database.query(
    `select workspace_id as "workspaceId", coalesce(settings->>'time_zone', 'UTC') as zone,
       least(nullif((settings->>'keep_events_days')::int, 0), nullif((settings->>'keep_purchases_days')::int, 0)) as "keptDays"
     from workspaces`,
  );

export const insertRecounts = (
  tx: Transaction,
  recounts: readonly { readonly workspaceId: number; readonly zone: string }[],
  cut: string,
  changesUntil: Date,
) =>
  tx.query(
    `insert into customer_recounts (workspace_id, cut, counted, time_zone, changes_until, revision)
     select workspace_id, $3, '', zone, $4::timestamptz, 0
     from workspaces join unnest($1::int[], $2::text[]) as new (workspace_id, zone) using (workspace_id)
     on conflict (workspace_id) do nothing`,
    [recounts.map((each) => each.workspaceId), recounts.map(({ zone }) => zone), cut, changesUntil],
  );

/** Has the next recount come at this cut, if it would come later. */
export const bringCutForward = (tx: Transaction, workspaceId: number, cut: string, zone: string) =>
  tx.execute(
    `update customer_recounts set cut = least(cut, $2), time_zone = $3 where workspace_id = $1`,
    [workspaceId, cut, zone],
  );

/** Locks the counts of a workspace: one transaction at a time writes them. */
export async function lockRecount(tx: Transaction, workspaceId: number) {
  const [row] = await tx.query<Recount>(
    `update customer_recounts set revision = revision + 1 where workspace_id = $1 returning ${RECOUNT}`,
    [workspaceId],
  );
  return row;
}

export const setChangesUntil = (tx: Transaction, workspaceId: number, until: Date) =>
  tx.execute("update customer_recounts set changes_until = $2 where workspace_id = $1", [
    workspaceId,
    until,
  ]);

/**
 * Ends a recount, and deletes what was counted apart since the last one.
 *
 * @param since the first day whose events and purchases are all still there: counts of earlier ones stay.
 */
export async function endRecount(
  tx: Transaction,
  workspaceId: number,
  {
    counted,
    cut,
    since,
  }: { readonly counted: string; readonly cut: string; readonly since: number },
): Promise<void> {
  await tx.query("update customer_recounts set counted = $2, cut = $3 where workspace_id = $1", [
    workspaceId,
    counted,
    cut,
  ]);
  await tx.query(
    `delete from customer_counts where workspace_id = $1 and part <> '' and part < $2
       and (day >= $3 or kind not in ('event', 'product', 'revenue'))`,
    [workspaceId, counted, since],
  );
  await tx.query(
    "delete from customer_days where workspace_id = $1 and part <> '' and part < $2 and day >= $3",
    [workspaceId, counted, since],
  );
}

/** The part of what a recount has counted. */
const RECOUNTED = "";

/** What the last recount has counted, in the order of its keys: a portion after one of them. */
export const selectRecounted = (
  database: Queryable,
  workspaceId: number,
  { kind, day, name }: CountKey,
  limit: number,
) =>
  database.query<Count>(
    `select kind, day, name, seen, amount::text as amount from customer_counts
     where workspace_id = $1 and (kind, day, name) > ($2, $3::int, $4) and part = '' order by kind, day, name limit $5`,
    [workspaceId, kind, day, name, limit],
  );

/** Replaces counts of the last recount, and deletes those that are gone. */
export async function replaceRecounted(
  tx: Transaction,
  workspaceId: number,
  { changed, gone }: { readonly changed: readonly Count[]; readonly gone: readonly CountKey[] },
): Promise<void> {
  for (let from = 0; from < gone.length; from += PORTION) {
    const some = gone.slice(from, from + PORTION);
    await tx.query(
      `delete from customer_counts where workspace_id = $1 and part = ''
         and (kind, day, name) in (select * from unnest($2::text[], $3::int[], $4::text[]))`,
      [workspaceId, ...listsOf(some, "kind", "day", "name")],
    );
  }
  await upsertCounts(tx, workspaceId, RECOUNTED, changed, REPLACE);
}

/** The days of which the last recount has a sketch, from a day on. */
export const selectRecountedDays = async (
  database: Queryable,
  workspaceId: number,
  since: number,
): Promise<number[]> =>
  (
    await database.query<{ day: number }>(
      "select day from customer_days where workspace_id = $1 and day >= $2 and part = ''",
      [workspaceId, since],
    )
  ).map(({ day }) => day);

/** Replaces sketches of the last recount, and deletes those of some days. */
export async function replaceSketches(
  tx: Transaction,
  workspaceId: number,
  {
    changedDays,
    goneDays,
  }: {
    readonly changedDays: readonly { readonly day: number; readonly packed: Buffer }[];
    readonly goneDays: readonly number[];
  },
): Promise<void> {
  await tx.query(
    "delete from customer_days where workspace_id = $1 and part = '' and day = any($2::int[])",
    [workspaceId, goneDays],
  );
  for (const each of changedDays) await upsertSketches(tx, workspaceId, RECOUNTED, [each]);
}

const PORTION = 2_000;

const ADD =
  "seen = customer_counts.seen + excluded.seen, amount = customer_counts.amount + excluded.amount";
const REPLACE = "seen = excluded.seen, amount = excluded.amount";

export const addCounts = (
  tx: Transaction,
  workspaceId: number,
  part: string,
  counts: readonly Count[],
): Promise<void> => upsertCounts(tx, workspaceId, part, counts, ADD);

async function upsertCounts(
  tx: Transaction,
  workspaceId: number,
  part: string,
  counts: readonly Count[],
  known: typeof ADD | typeof REPLACE,
): Promise<void> {
  for (let from = 0; from < counts.length; from += PORTION) {
    const some = counts.slice(from, from + PORTION);
    await tx.query(
      `insert into customer_counts (workspace_id, day, kind, name, part, seen, amount)
       select $1, day, kind, name, $2, seen, amount::numeric
       from unnest($3::int[], $4::text[], $5::text[], $6::bigint[], $7::text[])
         as new (day, kind, name, seen, amount)
       on conflict (workspace_id, kind, day, name, part) do update set ${known}`,
      [workspaceId, part, ...listsOf(some, "day", "kind", "name", "seen", "amount")],
    );
  }
}

/** The packed sketches of some days; of one day there may be several. */
export async function selectSketches(
  database: Queryable,
  workspaceId: number,
  { first, last, part }: { readonly first: number; readonly last: number; readonly part?: string },
): Promise<{ readonly day: number; readonly packed: Buffer }[]> {
  const rows = await database.query<{ day: number; packed: string }>(
    `select day, sketch as packed from customer_days
     where workspace_id = $1 and day between $2 and $3 and ($4::text is null or part = $4) order by day`,
    [workspaceId, first, last, part ?? null],
  );
  return rows.map(({ day, packed }) => ({ day, packed: Buffer.from(packed, "base64") }));
}

export const upsertSketches = (
  tx: Transaction,
  workspaceId: number,
  part: string,
  sketches: readonly { readonly day: number; readonly packed: Buffer }[],
) =>
  tx.execute(
    `insert into customer_days (workspace_id, day, part, sketch)
     select $1, day, $2, packed from unnest($3::int[], $4::text[]) as new (day, packed)
     on conflict (workspace_id, day, part) do update set sketch = excluded.sketch`,
    [
      workspaceId,
      part,
      sketches.map(({ day }) => day),
      sketches.map(({ packed }) => packed.toString("base64")),
    ],
  );

/** How many users were active in the days that end with a day. */
export interface Activity {
  readonly day: number;
  readonly in1: number;
  readonly in7: number;
  readonly in30: number;
}

export async function upsertActivity(
  database: Queryable,
  workspaceId: number,
  revision: number,
  days: readonly Activity[],
): Promise<void> {
  if (days.length === 0) return;
  await database.query(
    `insert into customer_activity (workspace_id, day, in_1, in_7, in_30, revision)
     select $1, day, in_1, in_7, in_30, $2
     from unnest($3::int[], $4::int[], $5::int[], $6::int[]) as new (day, in_1, in_7, in_30)
     where exists (select 1 from customer_recounts where workspace_id = $1 and revision >= $2)
     on conflict (workspace_id, day) do update set in_1 = excluded.in_1, in_7 = excluded.in_7,
       in_30 = excluded.in_30, revision = excluded.revision
       where customer_activity.revision <= excluded.revision`,
    [workspaceId, revision, ...listsOf(days, "day", "in1", "in7", "in30")],
  );
}

export const selectActivity = (database: Queryable, workspaceId: number, since: number) =>
  database.query<Activity>(
    `select day, in_1 as "in1", in_7 as "in7", in_30 as "in30" from customer_activity
     where workspace_id = $1 and day >= $2 order by day`,
    [workspaceId, since],
  );

/**
 * What was counted on each day from a day on, of kinds with few names, and what stands at present.
 *
 * @param optIns the names whose opt-ins and opt-outs are read.
 */
export const selectByDay = (
  database: Queryable,
  workspaceId: number,
  since: number,
  optIns: readonly string[],
) =>
  database.query<Count>(
    `select day, kind, name, sum(seen)::bigint as seen, sum(amount)::text as amount from customer_counts
     where workspace_id = $1 and (day = 0 or day >= $2)
       and (kind in ('revenue', 'new', 'users', 'address', 'state')
         or kind in ('opt_in', 'opt_out') and name = any($3::text[]))
     group by day, kind, name order by day, name`,
    [workspaceId, since, optIns],
  );

/** How often an event was sent on each day. @param days with some of them, the primary key finds each. */
export const selectEventDays = (
  database: Queryable,
  workspaceId: number,
  name: string,
  days: readonly number[],
): Promise<{ readonly day: number; readonly seen: number }[]> =>
  database.query(
    `select day, sum(seen)::bigint as seen from customer_counts
     where workspace_id = $1 and kind = 'event' and day = any($2::int[]) and name = $3 group by day`,
    [workspaceId, days, name],
  );

/** A name with how often it was counted in a period and in the one before, and its places among all names, from 1. */
export interface Top {
  readonly name: string;
  readonly seen: number;
  readonly before: number;
  readonly byCount: number;
  readonly byGrowth: number;
}

/**
 * The most frequent names of a period and those that grew most since the one before, and how much was counted on each
 * day of both. There may be a thousand names a day, so the rows are read once for both.
 */
export async function selectTop(
  database: Queryable,
  workspaceId: number,
  kind: CountKind,
  {
    since,
    first,
    limit,
  }: { readonly since: number; readonly first: number; readonly limit: number },
): Promise<{ readonly days: Pick<Count, "day" | "seen">[]; readonly top: Top[] }> {
  const rows = await database.query<Top & { readonly day: number | null }>(
    `with counted as (
       select day, name, coalesce(sum(seen) filter (where day >= $4), 0)::bigint as seen,
         coalesce(sum(seen) filter (where day < $4), 0)::bigint as before
       from customer_counts where workspace_id = $1 and kind = $2 and day >= $3
       group by grouping sets ((day), (name)))
     select day, '' as name, seen + before as seen, 0::bigint as before, 0 as "byCount", 0 as "byGrowth"
     from counted where day is not null
     union all
     select * from (
       select null::int, name, seen, before, row_number() over (order by seen desc, name) as by_count,
         row_number() over (order by seen - before desc, name) as by_growth
       from counted where day is null and seen > 0) as placed
     where by_count <= $5 or by_growth <= $5`,
    [workspaceId, kind, since, first, limit],
  );
  return {
    days: rows.flatMap(({ day, seen }) => (day === null ? [] : [{ day, seen }])),
    top: rows.filter(({ day }) => day === null),
  };
}

export async function deleteOldDays(database: Queryable, before: number): Promise<void> {
  await database.query("delete from customer_counts where day < $1 and day <> 0", [before]);
  await database.query("delete from customer_days where day < $1", [before]);
  await database.query("delete from customer_activity where day < $1", [before]);
}

export async function deleteCounts(tx: Transaction, workspaceId: number): Promise<void> {
  // First what every writer of counts locks: one that runs ends, and no other begins.
  for (const table of [
    "customer_recounts",
    "customer_counts",
    "customer_days",
    "customer_activity",
  ]) {
    await tx.query(`delete from ${table} where workspace_id = $1`, [workspaceId]);
  }
}

/** The groups with the most subscribers, by name. */
export const selectGroups = (
  database: Queryable,
  workspaceId: number,
  limit: number,
): Promise<{ readonly id: string; readonly name: string; readonly channel: string }[]> =>
  database.query(
    `select id, name, channel from (
       select group_id as id, g.name, channel from subscription_groups g
       left join (
         select name, sum(seen) as seen from customer_counts
         where workspace_id = $1 and kind = 'state' and day = 0 group by name) as counted
         on counted.name = (group_id || ' subscribed') collate "C"
       where workspace_id = $1 order by coalesce(seen, 0) desc, g.name, group_id limit $2) as largest
     order by name, id`,
    [workspaceId, limit],
  );
