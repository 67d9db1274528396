import type { EmailState } from "../../core/base/values/email-states.ts";
import { readByCursor } from "../../core/database/cursor.ts";
import type { Queryable } from "../../core/database/database.ts";
import {
  NAME_COLUMNS,
  type ProfileFilter,
  profileCondition,
} from "../../core/people/profiles/export-store.ts";
import type { ProfileNames } from "../../core/people/profiles/identifiers.ts";
import type { GroupState } from "../../core/people/subscriptions/store.ts";

/* All states of a workspace, in portions: by user and group, or by address. */

/** The exported rows, by the time of the last change; undefined members do not narrow. */
export interface StatesFilter extends ProfileFilter {
  readonly since: Date | undefined;
  /** Not included. */
  readonly until: Date | undefined;
}

export type ExportedGroupState = ProfileNames & {
  readonly groupId: string;
  readonly state: GroupState;
  readonly changedAt: Date;
};

export function selectAllGroupStates(
  tx: Queryable,
  workspaceId: number,
  { since, until, ...filter }: StatesFilter,
  portion: number,
): AsyncGenerator<ExportedGroupState[]> {
  const condition = profileCondition(filter, 4);
  return readByCursor<ExportedGroupState>(
    tx,
    "exported_groups",
    `select s.group_id as "groupId", s.state, s.changed_at as "changedAt", ${NAME_COLUMNS}
     from group_states s join profiles p using (workspace_id, bucket, profile_id)
     where workspace_id = $1 and ($2::timestamptz is null or s.changed_at >= $2)
       and ($3::timestamptz is null or s.changed_at < $3)${condition.sql}
     order by s.profile_id, s.group_id`,
    [workspaceId, since ?? null, until ?? null, ...condition.parameters],
    portion,
  );
}

export interface ExportedEmailState {
  readonly email: string;
  readonly state: EmailState;
  readonly setAt: Date;
}

/** States belong to addresses, whether a user has them or not. */
export const selectAllEmailStates = (
  tx: Queryable,
  workspaceId: number,
  { since, until }: Pick<StatesFilter, "since" | "until">,
  portion: number,
): AsyncGenerator<ExportedEmailState[]> =>
  readByCursor<ExportedEmailState>(
    tx,
    "exported_emails",
    `select coalesce(spelling, email) as email, state, set_at as "setAt" from email_states
     where workspace_id = $1 and ($2::timestamptz is null or set_at >= $2)
       and ($3::timestamptz is null or set_at < $3)
     order by email_states.email`,
    [workspaceId, since ?? null, until ?? null],
    portion,
  );
