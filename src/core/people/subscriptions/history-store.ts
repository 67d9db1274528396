import type { CallRecord } from "../../base/context/context.ts";
import {
  bucketOfId,
  bucketsOfIds,
  bucketsOfValues,
  OF_PROFILES,
  ofProfiles,
} from "../../database/buckets.ts";
import type { Queryable, Transaction } from "../../database/database.ts";
import { texts, timestamps, uuids } from "../../database/parameters/typed-list.ts";
import type { GroupStateRow, SpelledState } from "./store.ts";

/* The history of states: append-only, deleted with the user or the address that it is about. */

export interface StateChange {
  readonly id: string;
  readonly changedAt: Date;
  readonly context: CallRecord;
}

export type GroupStateChange = GroupStateRow &
  StateChange & {
    /** The merged user that the entry came with. */
    readonly originId?: string | null;
  };
export type EmailStateChange = SpelledState & StateChange;

export async function insertGroupStateChanges(
  tx: Transaction,
  workspaceId: number,
  changes: readonly GroupStateChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const profileIds = changes.map((change) => change.profileId);
  const buckets = bucketsOfIds(profileIds);
  const { calls, places } = callsOf(changes);
  // A few calls make many changes, so the data about each call is sent once.
  await tx.query(
    `insert into group_state_changes (workspace_id, bucket, profile_id, change_id, group_id, state,
       changed_at, call, key_name, request_id)
     select $1, bucket, profile_id, id, group_id, state, changed_at, call, key_name, request_id
     from buckets join unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[],
         $7::bigint[], $11::smallint[])
       as new (profile_id, id, group_id, state, changed_at, place, bucket) using (bucket)
       join unnest($8::text[], $9::text[], $10::text[])
         with ordinality as made (call, key_name, request_id, place) using (place)
     where bucket = any($12::smallint[])`,
    [
      workspaceId,
      uuids(profileIds),
      uuids(changes.map((change) => change.id)),
      texts(changes.map((change) => change.groupId)),
      texts(changes.map((change) => change.state)),
      timestamps(changes.map((change) => change.changedAt.getTime() * 1_000)),
      places,
      texts(calls.map(({ call }) => call)),
      texts(calls.map(({ actorName }) => actorName)),
      texts(calls.map(({ requestId }) => requestId)),
      buckets.each,
      buckets.all,
    ],
  );
}

/** The same for changes that may have come with a merged user. */
export async function insertCarriedChanges(
  tx: Transaction,
  workspaceId: number,
  changes: readonly GroupStateChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const profileIds = changes.map(({ profileId }) => profileId);
  const buckets = bucketsOfIds(profileIds);
  await tx.query(
    `insert into group_state_changes (workspace_id, bucket, profile_id, origin_id, change_id, group_id,
       state, changed_at, call, key_name, request_id)
     select $1, bucket, profile_id, origin_id, id, group_id, state, changed_at, call, key_name, request_id
     from buckets join unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[],
         $7::timestamptz[], $8::text[], $9::text[], $10::text[], $11::smallint[])
       as new (profile_id, origin_id, id, group_id, state, changed_at, call, key_name, request_id, bucket)
       using (bucket)
     where bucket = any($12::smallint[])`,
    [
      workspaceId,
      uuids(profileIds),
      changes.map(({ originId }) => originId ?? null),
      uuids(changes.map(({ id }) => id)),
      texts(changes.map(({ groupId }) => groupId)),
      ...commonColumns(changes),
      buckets.each,
      buckets.all,
    ],
  );
}

/** The calls that made changes, and for each change the position of its call, from 1. */
function callsOf(changes: readonly StateChange[]) {
  const placeOf = new Map<CallRecord, number>();
  const places = changes.map(({ context }) => {
    const place = placeOf.get(context) ?? placeOf.size + 1;
    placeOf.set(context, place);
    return place;
  });
  return { calls: [...placeOf.keys()], places };
}

/** @param mayExist whether entries that are there already are left as they are. */
export async function insertEmailStateChanges(
  tx: Transaction,
  workspaceId: number,
  changes: readonly EmailStateChange[],
  { mayExist = false }: { readonly mayExist?: boolean } = {},
): Promise<void> {
  if (changes.length === 0) return;
  const emails = changes.map((change) => change.email);
  const buckets = bucketsOfValues(workspaceId, emails);
  await tx.query(
    `insert into email_state_changes (workspace_id, bucket, email, spelling, change_id, state,
       changed_at, call, key_name, request_id)
     select $1, bucket, email, spelling, id, state, changed_at, call, key_name, request_id
     from buckets join unnest($2::text[], $3::uuid[], $4::text[], $5::timestamptz[], $6::text[],
       $7::text[], $8::text[], $9::smallint[], $11::text[])
       as new (email, id, state, changed_at, call, key_name, request_id, bucket, spelling)
       using (bucket)
     where bucket = any($10::smallint[])
     ${mayExist ? "on conflict do nothing" : ""}`,
    [
      workspaceId,
      emails,
      changes.map((change) => change.id),
      ...commonColumns(changes),
      buckets.each,
      buckets.all,
      changes.map((change) => change.spelling),
    ],
  );
}

const commonColumns = (changes: readonly (StateChange & { readonly state: string })[]) => [
  texts(changes.map((change) => change.state)),
  timestamps(changes.map((change) => change.changedAt.getTime() * 1_000)),
  texts(changes.map((change) => change.context.call)),
  texts(changes.map((change) => change.context.actorName)),
  texts(changes.map((change) => change.context.requestId)),
];

/** Plain columns, because Citus returns no computed ones. */
const CHANGE_COLUMNS = `change_id as id, state, changed_at as "changedAt", call,
  key_name as "actorName", request_id as "requestId"`;

const GROUP_COLUMNS = `profile_id as "profileId", group_id as "groupId", origin_id as "originId",
  ${CHANGE_COLUMNS}`;

const EMAIL_COLUMNS = `email, spelling, ${CHANGE_COLUMNS}`;

/** A change as the engine returns it. */
type Flat<Row extends StateChange> = Omit<Row, "context"> & CallRecord;

/* Member by member: a literal with the rest of a row takes several times as long, and a merge reads many. */

const groupChangesOf = (rows: readonly Flat<GroupStateChange>[]): GroupStateChange[] =>
  rows.map((row) => ({
    profileId: row.profileId,
    groupId: row.groupId,
    originId: row.originId ?? null,
    id: row.id,
    state: row.state,
    changedAt: row.changedAt,
    context: contextOf(row),
  }));

const emailChangesOf = (rows: readonly Flat<EmailStateChange>[]): EmailStateChange[] =>
  rows.map((row) => ({
    email: row.email,
    spelling: row.spelling,
    id: row.id,
    state: row.state,
    changedAt: row.changedAt,
    context: contextOf(row),
  }));

const contextOf = ({ call, actorName, requestId }: CallRecord): CallRecord => ({
  call,
  actorName,
  requestId,
});

/** Which changes to read; undefined members do not narrow. */
export interface HistoryFilter {
  readonly profileIds: readonly string[] | undefined;
  /** Their forms. */
  readonly emails: readonly string[] | undefined;
  readonly groupId: string | undefined;
  readonly since: Date | undefined;
  /** Not included. */
  readonly until: Date | undefined;
  readonly before: { readonly changedAt: Date; readonly id: string } | undefined;
  readonly limit: number;
}

export async function selectGroupStateChanges(
  database: Queryable,
  workspaceId: number,
  filter: HistoryFilter,
): Promise<GroupStateChange[]> {
  const rows = await database.query<Flat<GroupStateChange>>(
    `select ${GROUP_COLUMNS} from group_state_changes
     where workspace_id = $1
       and ($2::uuid[] is null
         or (profile_id = any($2::uuid[]) and bucket = any($9::smallint[])))
       and ($3::text is null or group_id = $3)
       and ($4::timestamptz is null or changed_at >= $4)
       and ($5::timestamptz is null or changed_at < $5)
       and ($6::timestamptz is null or (changed_at, change_id) < ($6, $7::uuid))
     order by changed_at desc, change_id desc limit $8`,
    [
      workspaceId,
      filter.profileIds ?? null,
      filter.groupId ?? null,
      ...timesOf(filter),
      filter.profileIds ? bucketsOfIds(filter.profileIds).all : null,
    ],
  );
  return groupChangesOf(rows);
}

export async function selectEmailStateChanges(
  database: Queryable,
  workspaceId: number,
  filter: HistoryFilter,
): Promise<EmailStateChange[]> {
  const rows = await database.query<Flat<EmailStateChange>>(
    `select ${EMAIL_COLUMNS} from email_state_changes
     where workspace_id = $1
       and ($2::text[] is null or (email = any($2::text[]) and bucket = any($8::smallint[])))
       and ($3::timestamptz is null or changed_at >= $3)
       and ($4::timestamptz is null or changed_at < $4)
       and ($5::timestamptz is null or (changed_at, change_id) < ($5, $6::uuid))
     order by changed_at desc, change_id desc limit $7`,
    [
      workspaceId,
      filter.emails ?? null,
      ...timesOf(filter),
      filter.emails ? bucketsOfValues(workspaceId, filter.emails).all : null,
    ],
  );
  return emailChangesOf(rows);
}

const timesOf = ({ since, until, before, limit }: HistoryFilter) => [
  since ?? null,
  until ?? null,
  before?.changedAt ?? null,
  before?.id ?? null,
  limit,
];

/** Removes the history of profiles. @returns the earlier state. */
export async function deleteGroupStateChanges(
  tx: Transaction,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<GroupStateChange[]> {
  if (profileIds.length === 0) return [];
  const rows = await tx.query<Flat<GroupStateChange>>(
    `delete from group_state_changes where ${OF_PROFILES}
     returning ${GROUP_COLUMNS}`,
    ofProfiles(workspaceId, profileIds),
  );
  return groupChangesOf(rows);
}

/** Removes the entries of a profile that came with these merged profiles. @returns them. */
export async function takeGroupStateChanges(
  tx: Transaction,
  workspaceId: number,
  profileId: string,
  origins: readonly string[],
): Promise<GroupStateChange[]> {
  const rows = await tx.query<Flat<GroupStateChange>>(
    `delete from group_state_changes
     where workspace_id = $1 and profile_id = $2 and bucket = $3::smallint and origin_id = any($4::uuid[])
     returning ${GROUP_COLUMNS}`,
    [workspaceId, profileId, bucketOfId(profileId), origins],
  );
  return groupChangesOf(rows);
}

/**
 * The newest entry of a profile in each of these groups, among those that did not come with a merged profile.
 *
 * @param ignored ids of entries to leave out.
 */
export async function selectNewestEntries(
  database: Queryable,
  workspaceId: number,
  profileId: string,
  groupIds: readonly string[],
  ignored: readonly string[],
): Promise<{ readonly id: string; readonly groupId: string }[]> {
  if (groupIds.length === 0) return [];
  return database.query(
    `select distinct on (group_id) change_id as id, group_id as "groupId" from group_state_changes
     where workspace_id = $1 and profile_id = $2 and bucket = $3::smallint and group_id = any($4::text[])
       and origin_id is null and change_id <> all($5::uuid[])
     order by group_id, changed_at desc, change_id desc`,
    [workspaceId, profileId, bucketOfId(profileId), groupIds, ignored],
  );
}

export async function deleteGroupEntries(
  tx: Transaction,
  workspaceId: number,
  profileId: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    `delete from group_state_changes
     where workspace_id = $1 and profile_id = $2 and bucket = $3::smallint and change_id = any($4::uuid[])`,
    [workspaceId, profileId, bucketOfId(profileId), ids],
  );
}

/** Removes entries of addresses. @returns them. */
export async function takeEmailStateChanges(
  tx: Transaction,
  workspaceId: number,
  entries: readonly { readonly email: string; readonly id: string }[],
): Promise<EmailStateChange[]> {
  const emails = [...new Set(entries.map(({ email }) => email))];
  const rows = await tx.query<Flat<EmailStateChange>>(
    `delete from email_state_changes
     where workspace_id = $1 and email = any($2::text[]) and bucket = any($3::smallint[])
       and change_id = any($4::uuid[])
     returning ${EMAIL_COLUMNS}`,
    [workspaceId, emails, bucketsOfValues(workspaceId, emails).all, entries.map(({ id }) => id)],
  );
  return emailChangesOf(rows);
}

/** Removes the history of addresses. @returns it. */
export async function deleteEmailStateChanges(
  tx: Transaction,
  workspaceId: number,
  emails: readonly string[],
): Promise<EmailStateChange[]> {
  if (emails.length === 0) return [];
  const rows = await tx.query<Flat<EmailStateChange>>(
    `delete from email_state_changes
     where workspace_id = $1 and email = any($2::text[]) and bucket = any($3::smallint[])
     returning ${EMAIL_COLUMNS}`,
    [workspaceId, emails, bucketsOfValues(workspaceId, emails).all],
  );
  return emailChangesOf(rows);
}

export async function deleteAllChanges(tx: Transaction, workspaceId: number): Promise<void> {
  await tx.query("delete from group_state_changes where workspace_id = $1", [workspaceId]);
  await tx.query("delete from email_state_changes where workspace_id = $1", [workspaceId]);
}
