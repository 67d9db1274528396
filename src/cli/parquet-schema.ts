/*
 * The columns of exported Parquet files, the same for all rows, and how an import reads columns of
 * these names: docs/export.md has the same list.
 */

export type ParquetType = "text" | "json" | "timestamptz" | "boolean" | "bigint" | "double";

/** The columns that hold no text. */
const TYPES: Readonly<Record<string, ParquetType>> = {
  created_at: "timestamptz",
  date_of_first_session: "timestamptz",
  date_of_last_session: "timestamptz",
  marked_email_as_spam_at: "timestamptz",
  email_open_tracking_disabled: "boolean",
  email_click_tracking_disabled: "boolean",
  random_bucket: "bigint",
  total_revenue: "double",
  time: "timestamptz",
  changed_at: "timestamptz",
  price: "double",
  quantity: "bigint",
};

/** Objects and lists, as JSON texts: their members differ from row to row. */
const JSON_COLUMNS = [
  "user_alias",
  "user_aliases",
  "properties",
  "custom_attributes",
  "custom_events",
  "purchases",
  "revenue_by_currency",
  "subscription_groups",
  "last_coordinates",
  "push_tokens",
  "facebook",
  "twitter",
  "apps",
  "devices",
  "campaigns_received",
  "canvases_received",
  "cards_clicked",
  "engagement_times",
  "merged_ids",
  "message_history",
];

/** The type of an exported column with this name; text for names that are not listed. */
export const parquetType = (name: string): ParquetType =>
  JSON_COLUMNS.includes(name) ? "json" : (TYPES[name] ?? "text");
