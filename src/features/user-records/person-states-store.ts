import type { EmailState } from "../../core/base/values/email-states.ts";
import { bucketOfId, bucketOfValue } from "../../core/database/buckets.ts";
import type { Queryable } from "../../core/database/database.ts";
import type { GroupState } from "../../core/people/subscriptions/store.ts";

/** A group state of one user, and when it was set. */
export interface StandingGroupState {
  readonly groupId: string;
  readonly state: GroupState;
  readonly changedAt: Date;
}

export const selectStandingGroupStates = (
  database: Queryable,
  workspaceId: number,
  profileId: string,
) =>
  database.query<StandingGroupState>(
    `select group_id as "groupId", state, changed_at as "changedAt" from group_states
     where workspace_id = $1 and profile_id = $2 and bucket = $3 order by group_id`,
    [workspaceId, profileId, bucketOfId(profileId)],
  );

/** The data about an address, independent of users. */
export interface AddressState {
  /** Null if no state was ever set: the address then counts as subscribed. */
  readonly state: EmailState | null;
  readonly setAt: Date | null;
  /** When it hard bounced; null if it did not. */
  readonly bouncedAt: Date | null;
}

/** @param email the form of an address. */
export async function selectAddressState(
  database: Queryable,
  workspaceId: number,
  email: string,
): Promise<AddressState> {
  const parameters = [workspaceId, email, bucketOfValue(workspaceId, email)];
  const states = await database.query<{ state: EmailState; setAt: Date }>(
    `select state, set_at as "setAt" from email_states
     where workspace_id = $1 and email = $2 and bucket = $3`,
    parameters,
  );
  const bounces = await database.query<{ bouncedAt: Date }>(
    `select bounced_at as "bouncedAt" from hard_bounces
     where workspace_id = $1 and email = $2 and bucket = $3`,
    parameters,
  );
  return {
    state: states[0]?.state ?? null,
    setAt: states[0]?.setAt ?? null,
    bouncedAt: bounces[0]?.bouncedAt ?? null,
  };
}
