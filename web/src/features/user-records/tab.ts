import type { Profile, UserRecord } from "../../api/users.ts";

/** What a tab of the page of a user gets. */
export interface TabProps {
  /** Of the user, who may have been found by another one. */
  readonly id: string;
  readonly record: UserRecord;
  readonly profile: Profile;
}
