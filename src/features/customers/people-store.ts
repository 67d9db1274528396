import { bucketsOfIds, OF_PROFILES, ofProfiles } from "../../core/database/buckets.ts";
import type { Queryable } from "../../core/database/database.ts";
import { timestamps } from "../../core/database/parameters/typed-list.ts";
import { beginOfSlot } from "./pending.ts";

/* What the recount reads. Each statement is about some users, some addresses, or the changes of a day. */

/** The users before all others. */
export const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

/** What is counted: what was received before a cut, by days that begin at these times. */
export interface Counting {
  readonly workspaceId: number;
  readonly cut: string;
  readonly borders: readonly number[];
}

const microsOf = (borders: readonly number[]) => timestamps(borders.map((ms) => ms * 1_000));

/** No id that was made before a cut is greater. */
const idOf = (cut: string): string => `${cut}-0000-0000-0000-000000000000`;

export interface CountedUser {
  readonly id: string;
  /** Which of the days, from 1. */
  readonly place: number;
  readonly hasEmail: boolean;
  readonly hasPhone: boolean;
}

export const selectUsers = (
  database: Queryable,
  { workspaceId, cut, borders }: Counting,
  after: string,
  limit: number,
) =>
  database.query<CountedUser>(
    `select profile_id as id, width_bucket(created_at, $4::timestamptz[]) as place,
       email is not null as "hasEmail", phone is not null as "hasPhone"
     from profiles where workspace_id = $1 and profile_id > $2 and profile_id < $5::uuid
     order by profile_id limit $3`,
    [workspaceId, after, limit, microsOf(borders), idOf(cut)],
  );

export interface PlacedCount {
  readonly place: number;
  readonly name: string;
  readonly seen: number;
}

/** The parameters of a statement about the activity of users. */
const ofActivity = ({ workspaceId, cut, borders }: Counting, ids: readonly string[]) => [
  ...ofProfiles(workspaceId, ids),
  microsOf(borders),
  idOf(cut),
  new Date(borders[0] as number),
];

const PLACE = "width_bucket(occurred_at, $4::timestamptz[])";

export const countEvents = (database: Queryable, counting: Counting, ids: readonly string[]) =>
  database.query<PlacedCount>(
    `select ${PLACE} as place, name, count(*)::int as seen from events
     where ${OF_PROFILES} and occurred_at >= $6 and event_id < $5::uuid group by 1, 2`,
    ofActivity(counting, ids),
  );

export const countPurchases = (
  database: Queryable,
  counting: Counting,
  ids: readonly string[],
): Promise<(PlacedCount & { readonly currency: string; readonly amount: string })[]> =>
  database.query(
    `select ${PLACE} as place, product_id as name, currency, sum(quantity)::bigint as seen,
       sum(price * quantity)::text as amount from purchases
     where ${OF_PROFILES} and occurred_at >= $6 and purchase_id < $5::uuid group by 1, 2, 3`,
    ofActivity(counting, ids),
  );

/** On which days users did something, as places joined by commas. */
export const selectActiveDays = (
  database: Queryable,
  counting: Counting,
  table: "events" | "purchases",
  ids: readonly string[],
): Promise<{ readonly id: string; readonly places: string }[]> =>
  database.query(
    `select profile_id as id, string_agg(distinct (${PLACE})::text, ',') as places from ${table}
     where ${OF_PROFILES} and occurred_at >= $6
       and ${table === "events" ? "event_id" : "purchase_id"} < $5::uuid group by profile_id`,
    ofActivity(counting, ids),
  );

export interface StateCount {
  readonly name: string;
  readonly state: string | null;
  readonly seen: number;
}

/** Which states users had in groups at the cut. */
export const countGroupStates = (
  database: Queryable,
  { workspaceId, cut }: Counting,
  ids: readonly string[],
) =>
  database.query<StateCount>(
    `select group_id as name, case when changed_at < $4 then state else (
         select h.state from group_state_changes h
         where h.workspace_id = s.workspace_id and h.bucket = s.bucket and h.profile_id = s.profile_id
           and h.group_id = s.group_id and h.changed_at < $4 order by h.change_id desc limit 1) end as state,
       count(*)::int as seen
     from group_states s where ${OF_PROFILES} group by 1, 2`,
    [workspaceId, ids, bucketsOfIds(ids).all, beginOfSlot(cut)],
  );

/** The next addresses with a state, and the states that they had at the cut. */
export const selectEmailStates = (
  database: Queryable,
  { workspaceId, cut }: Counting,
  after: string,
  limit: number,
): Promise<{ readonly email: string; readonly state: string | null }[]> =>
  database.query(
    `select email, case when set_at < $4 then state else (
         select h.state from email_state_changes h
         where h.workspace_id = s.workspace_id and h.bucket = s.bucket and h.email = s.email
           and h.changed_at < $4 order by h.change_id desc limit 1) end as state
     from email_states s where workspace_id = $1 and email > $2 order by email limit $3`,
    [workspaceId, after, limit, beginOfSlot(cut)],
  );

/** Changes of subscriptions, from the state before to the one after. */
export interface StateSteps {
  readonly name: string;
  readonly place: number;
  readonly before: string | null;
  readonly state: string;
  readonly seen: number;
}

interface Span {
  readonly borders: readonly number[];
  /** Not included. */
  readonly after: Date;
  /** Included. */
  readonly until: Date;
}

const STEPS = {
  group_state_changes: { key: "profile_id", name: "group_id", same: "and h.group_id = c.group_id" },
  email_state_changes: { key: "email", name: "'email'", same: "" },
} as const;

/** @param hasBefore whether the states before are read; otherwise they are null. */
export const countStateSteps = (
  database: Queryable,
  workspaceId: number,
  table: keyof typeof STEPS,
  { borders, after, until }: Span,
  hasBefore: boolean,
): Promise<StateSteps[]> => {
  const { key, name, same } = STEPS[table];
  const before = `(select h.state from ${table} h where h.${key} = c.${key} and h.workspace_id = c.workspace_id
    and h.bucket = c.bucket ${same} and h.change_id < c.change_id order by h.change_id desc limit 1)`;
  return database.query(
    `select ${name} as name, width_bucket(changed_at, $2::timestamptz[]) as place, state,
       ${hasBefore ? before : "null::text"} as before, count(*)::int as seen
     from ${table} c where workspace_id = $1 and changed_at > $3 and changed_at <= $4 group by 1, 2, 3, 4`,
    [workspaceId, microsOf(borders), after, until],
  );
};

/** When the first state of a workspace changed after a time; undefined if none did. */
export async function selectFirstChange(
  database: Queryable,
  workspaceId: number,
  table: keyof typeof STEPS,
  after: Date,
): Promise<Date | undefined> {
  const [row] = await database.query<{ first: Date | null }>(
    `select min(changed_at) as first from ${table} where workspace_id = $1 and changed_at > $2`,
    [workspaceId, after],
  );
  return row?.first ?? undefined;
}

/** The workspaces in which a subscription has changed since a time. */
export async function selectChanged(
  database: Queryable,
  workspaceIds: readonly number[],
  since: Date,
): Promise<number[]> {
  const changed = async (table: keyof typeof STEPS) =>
    database.query<{ id: number }>(
      `select distinct workspace_id as id from ${table} where workspace_id = any($1::int[]) and changed_at > $2`,
      [workspaceIds, since],
    );
  const rows = [
    ...(await changed("group_state_changes")),
    ...(await changed("email_state_changes")),
  ];
  return [...new Set(rows.map(({ id }) => id))];
}
