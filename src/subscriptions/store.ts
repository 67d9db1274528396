import type { Queryable, Transaction } from "../database/database.ts";

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
): Promise<GroupStateRow[]> {
  if (profileIds.length === 0) return [];
  return database.query<GroupStateRow>(
    `select profile_id as "profileId", group_id as "groupId", state from group_states
     where workspace_id = $1 and profile_id = any($2::uuid[])`,
    [workspaceId, profileIds],
  );
}

/** Sets states. At most one row for each profile and group. */
export async function upsertGroupStates(
  tx: Transaction,
  workspaceId: number,
  states: readonly GroupStateRow[],
  now: Date,
): Promise<void> {
  if (states.length === 0) return;
  await tx.query(
    `insert into group_states (workspace_id, profile_id, group_id, state, changed_at)
     select $1, profile_id, group_id, state, $5
     from unnest($2::uuid[], $3::text[], $4::text[]) as new (profile_id, group_id, state)
     on conflict (workspace_id, profile_id, group_id) do update
       set state = excluded.state, changed_at = excluded.changed_at`,
    [
      workspaceId,
      states.map((row) => row.profileId),
      states.map((row) => row.groupId),
      states.map((row) => row.state),
      now,
    ],
  );
}

export type EmailState = "opted_in" | "subscribed" | "unsubscribed";

export interface EmailStateRow {
  /** In lower case. */
  readonly email: string;
  readonly state: EmailState;
}

export async function selectEmailStates(
  database: Queryable,
  workspaceId: number,
  emails: readonly string[],
): Promise<EmailStateRow[]> {
  if (emails.length === 0) return [];
  return database.query<EmailStateRow>(
    "select email, state from email_states where workspace_id = $1 and email = any($2::text[])",
    [workspaceId, emails],
  );
}

/** Sets the state of addresses. At most one row for each. */
export async function upsertEmailStates(
  tx: Transaction,
  workspaceId: number,
  states: readonly EmailStateRow[],
  now: Date,
): Promise<void> {
  if (states.length === 0) return;
  const sorted = [...states].sort((a, b) => (a.email < b.email ? -1 : 1));
  await tx.query(
    `insert into email_states (workspace_id, email, state, changed_at)
     select $1, email, state, $4 from unnest($2::text[], $3::text[]) as new (email, state)
     on conflict (workspace_id, email) do update
       set state = excluded.state, changed_at = excluded.changed_at`,
    [workspaceId, sorted.map((row) => row.email), sorted.map((row) => row.state), now],
  );
}

/** Gives addresses a state where they have none yet. */
export async function insertMissingEmailStates(
  tx: Transaction,
  workspaceId: number,
  states: readonly EmailStateRow[],
  now: Date,
): Promise<void> {
  if (states.length === 0) return;
  const sorted = [...states].sort((a, b) => (a.email < b.email ? -1 : 1));
  await tx.query(
    `insert into email_states (workspace_id, email, state, changed_at)
     select $1, email, state, $4 from unnest($2::text[], $3::text[]) as new (email, state)
     on conflict (workspace_id, email) do nothing`,
    [workspaceId, sorted.map((row) => row.email), sorted.map((row) => row.state), now],
  );
}

export async function deleteAllStates(tx: Transaction, workspaceId: number): Promise<void> {
  await tx.query("delete from group_states where workspace_id = $1", [workspaceId]);
  await tx.query("delete from email_states where workspace_id = $1", [workspaceId]);
}
