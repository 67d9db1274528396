import type { EmailState } from "../../base/values/email-states.ts";
import {
  bucketOfId,
  bucketsOfIds,
  bucketsOfValues,
  OF_PROFILES,
  ofProfiles,
} from "../../database/buckets.ts";
import type { Queryable, Transaction } from "../../database/database.ts";
import { listsOf } from "../../database/parameters/lists-of.ts";
import { texts, timestamps, uuids } from "../../database/parameters/typed-list.ts";
import { deleteAllHardBounces } from "./email-list-store.ts";

export type GroupState = "subscribed" | "unsubscribed";

export interface GroupStateRow {
  readonly profileId: string;
  readonly groupId: string;
  readonly state: GroupState;
}

export async function selectGroupStates(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
) {
  if (profileIds.length === 0) return [];
  return database.query<GroupStateRow>(
    `select profile_id as "profileId", group_id as "groupId", state from group_states
     where ${OF_PROFILES}`,
    ofProfiles(workspaceId, profileIds),
  );
}

export async function selectStatesIn(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
  groupIds: readonly string[],
) {
  if (profileIds.length === 0) return [];
  return database.query<GroupStateRow>(
    `select profile_id as "profileId", group_id as "groupId", state from group_states
     where ${OF_PROFILES}
       and group_id = any($4::text[])`,
    [workspaceId, uuids(profileIds), bucketsOfIds(profileIds).all, groupIds],
  );
}

/** Writes states that are known to be changes. At most one row for each profile and group. */
export async function writeGroupStates(
  tx: Transaction,
  workspaceId: number,
  states: readonly GroupStateRow[],
  now: Date,
): Promise<void> {
  if (states.length === 0) return;
  await tx.query(
    `${INSERT_GROUP_STATES}
     on conflict (workspace_id, profile_id, bucket, group_id) do update
       set state = excluded.state, changed_at = excluded.changed_at`,
    groupParameters(workspaceId, states, now),
  );
}

/**
 * Sets states of profiles that have none in the group. At most one row for each address. @returns
 * the rows that were new.
 */
export async function insertMissingGroupStates(
  tx: Transaction,
  workspaceId: number,
  states: readonly GroupStateRow[],
  now: Date,
) {
  if (states.length === 0) return [];
  return tx.query<GroupStateRow>(
    `${INSERT_GROUP_STATES}
     on conflict (workspace_id, profile_id, bucket, group_id) do nothing
     returning profile_id as "profileId", group_id as "groupId", state`,
    groupParameters(workspaceId, states, now),
  );
}

const INSERT_GROUP_STATES = `insert into group_states (workspace_id, bucket, profile_id, group_id, state, changed_at)
     select $1, bucket, profile_id, group_id, state, $5
     from buckets join unnest($2::uuid[], $3::text[], $4::text[], $6::smallint[])
       as new (profile_id, group_id, state, bucket) using (bucket)
     where bucket = any($7::smallint[])`;

function groupParameters(workspaceId: number, states: readonly GroupStateRow[], now: Date) {
  const profileIds = states.map((row) => row.profileId);
  const buckets = bucketsOfIds(profileIds);
  return [
    workspaceId,
    uuids(profileIds),
    texts(states.map((row) => row.groupId)),
    texts(states.map((row) => row.state)),
    now,
    buckets.each,
    buckets.all,
  ];
}

export interface DatedGroupState extends GroupStateRow {
  readonly changedAt: Date;
}

/** Removes the group states of profiles. @returns the earlier states. */
export async function deleteGroupStates(
  tx: Transaction,
  workspaceId: number,
  profileIds: readonly string[],
) {
  if (profileIds.length === 0) return [];
  return tx.query<DatedGroupState>(
    `delete from group_states
     where ${OF_PROFILES}
     returning profile_id as "profileId", group_id as "groupId", state, changed_at as "changedAt"`,
    ofProfiles(workspaceId, profileIds),
  );
}

/** Removes the states of a profile in these groups. @returns them. */
export async function deleteStatesIn(
  tx: Transaction,
  workspaceId: number,
  profileId: string,
  groupIds: readonly string[],
) {
  if (groupIds.length === 0) return [];
  return tx.query<GroupStateRow>(
    `delete from group_states
     where workspace_id = $1 and profile_id = $2 and bucket = $3::smallint and group_id = any($4::text[])
     returning profile_id as "profileId", group_id as "groupId", state`,
    [workspaceId, profileId, bucketOfId(profileId), groupIds],
  );
}

/** Inserts states of profiles that have none, with their times. */
export async function insertDatedGroupStates(
  tx: Transaction,
  workspaceId: number,
  states: readonly DatedGroupState[],
): Promise<void> {
  if (states.length === 0) return;
  const profileIds = states.map((row) => row.profileId);
  const buckets = bucketsOfIds(profileIds);
  await tx.query(
    `insert into group_states (workspace_id, bucket, profile_id, group_id, state, changed_at)
     select $1, bucket, profile_id, group_id, state, changed_at
     from buckets join unnest($2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::smallint[])
       as new (profile_id, group_id, state, changed_at, bucket) using (bucket)
     where bucket = any($7::smallint[])`,
    [
      workspaceId,
      uuids(profileIds),
      ...listsOf(states, "groupId", "state", "changedAt"),
      buckets.each,
      buckets.all,
    ],
  );
}

export interface EmailStateRow {
  /** The form of the address. */
  readonly email: string;
  readonly state: EmailState;
}

export async function selectEmailStates(
  database: Queryable,
  workspaceId: number,
  emails: readonly string[],
) {
  if (emails.length === 0) return [];
  return database.query<EmailStateRow>(
    `select email, state from email_states
     where workspace_id = $1 and email = any($2::text[]) and bucket = any($3::smallint[])`,
    [workspaceId, emails, bucketsOfValues(workspaceId, emails).all],
  );
}

interface ChangedEmailState extends EmailStateRow {
  /** Null if there was none. */
  readonly before: EmailState | null;
}

/** A state that was set for an address as it was written. */
export interface SpelledState extends EmailStateRow {
  /** `spellingOf` the address. */
  readonly spelling: string | null;
}

export interface DatedEmailStateRow extends SpelledState {
  /** In microseconds since the epoch. */
  readonly setAt: number;
}

/** At most one row for each address. @returns the rows that the statement returns. */
type SetEmailStates = (
  tx: Transaction,
  workspaceId: number,
  states: readonly DatedEmailStateRow[],
) => Promise<ChangedEmailState[]>;

/** @param update what is done with an address that has a state. */
function setterOfStates(update: string): SetEmailStates {
  const sql = `insert into email_states
       (workspace_id, bucket, email, spelling, state, set_at, previous)
     select $1, bucket, email, spelling, state, set_at, null
     from buckets join unnest($2::text[], $3::text[], $4::timestamptz[], $5::smallint[], $7::text[])
       as new (email, state, set_at, bucket, spelling) using (bucket)
     where bucket = any($6::smallint[])
     order by email collate "C"
     on conflict (workspace_id, email, bucket) do update ${update}`;
  return async (tx, workspaceId, states) => {
    if (states.length === 0) return [];
    const emails = states.map((row) => row.email);
    const buckets = bucketsOfValues(workspaceId, emails);
    return tx.query<ChangedEmailState>(sql, [
      workspaceId,
      emails,
      states.map((row) => row.state),
      timestamps(states.map((row) => row.setAt)),
      buckets.each,
      buckets.all,
      states.map((row) => row.spelling),
    ]);
  };
}

const OVER_ALL = `set state = excluded.state, set_at = greatest(email_states.set_at, excluded.set_at),
       previous = email_states.state`;

/**
 * Sets the state of addresses, even over states that were set later: the last transaction decides.
 *
 * @returns the rows that were new or different; the others are unchanged.
 */
export const upsertEmailStates = setterOfStates(
  `${OVER_ALL} where email_states.state <> excluded.state
   returning email, state, previous as before`,
);

/** The same with their times, even if the state is already stored. @returns nothing. */
export const writeEmailStates = setterOfStates(OVER_ALL);

/**
 * Sets the state of addresses unless a newer one is stored; of two set at the same time, the refusal
 * stays.
 *
 * @returns the rows that were new or different.
 */
export const upsertLinkedEmailStates = setterOfStates(
  `set state = excluded.state, set_at = excluded.set_at, previous = email_states.state
   where email_states.state <> excluded.state
     and (excluded.set_at, excluded.state = 'unsubscribed')
       > (email_states.set_at, email_states.state = 'unsubscribed')
   returning email, state, previous as before`,
);

/** Records that refusals which are stored were repeated. @returns nothing. */
export const repeatRefusals = setterOfStates(
  `set set_at = excluded.set_at
   where email_states.state = excluded.state and email_states.set_at < excluded.set_at`,
);

/** Removes the state of addresses. @returns the addresses that had one. */
export async function deleteEmailStates(
  tx: Transaction,
  workspaceId: number,
  emails: readonly string[],
): Promise<string[]> {
  const rows = await tx.query<{ email: string }>(
    `delete from email_states
     where workspace_id = $1 and email = any($2::text[]) and bucket = any($3::smallint[])
     returning email`,
    [workspaceId, emails, bucketsOfValues(workspaceId, emails).all],
  );
  return rows.map((row) => row.email);
}

export async function deleteAllStates(tx: Transaction, workspaceId: number): Promise<void> {
  await tx.query("delete from group_states where workspace_id = $1", [workspaceId]);
  await tx.query("delete from email_states where workspace_id = $1", [workspaceId]);
  await deleteAllHardBounces(tx, workspaceId);
}
