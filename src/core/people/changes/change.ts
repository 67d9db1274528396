import type { Json } from "../../base/values/plain-json.ts";

/** What can change: docs/changes.md. */
export const CHANGE_TYPES = [
  "user.created",
  "user.updated",
  "user.identified",
  "user.merged",
  "user.unmerged",
  "user.deleted",
  "event.logged",
  "purchase.logged",
  "subscription.changed",
  "email_state.changed",
  "sync.finished",
  "export.finished",
] as const;

export type ChangeType = (typeof CHANGE_TYPES)[number];

export interface ChangedUser {
  readonly platform_id: string;
  readonly external_id?: string;
  readonly user_aliases?: readonly { readonly alias_name: string; readonly alias_label: string }[];
}

/** A change before it is stored: its id and time follow from its position. */
export interface ChangeDraft {
  readonly type: ChangeType;
  /** Undefined for what concerns no user. */
  readonly user?: ChangedUser | undefined;
  readonly [field: string]: unknown;
}

export interface FeedChange {
  readonly id: string;
  readonly type: ChangeType;
  /** ISO 8601. */
  readonly at: string;
  readonly user?: ChangedUser;
  readonly [field: string]: Json | ChangedUser | undefined;
}
