/* The columns of exported files, by which imported files are read. */

/** The kinds of rows of a file. */
export type FileKind = "users" | "events" | "purchases" | "subscriptions";

const IDENTIFIERS = ["external_id", "email", "phone", "platform_id", "braze_id"];

/** The members of an object of each kind that are texts, even if a value looks like a number. */
export const TEXTS: Readonly<Record<FileKind, readonly string[]>> = {
  users: [...IDENTIFIERS, "created_at"],
  events: [...IDENTIFIERS, "name", "time", "app_id"],
  purchases: [...IDENTIFIERS, "product_id", "currency", "time", "app_id"],
  subscriptions: [...IDENTIFIERS, "subscription_group_id", "subscription_state"],
};

export const NUMBERS: Readonly<Record<FileKind, readonly string[]>> = {
  users: [],
  events: [],
  purchases: ["price", "quantity"],
  subscriptions: [],
};
