import type { FileKind } from "../../../cli/file-columns.ts";
import { EXPORT_FIELDS } from "../profile-view.ts";

const IDENTIFIERS = ["external_id", "user_alias", "email", "phone", "platform_id"];

/** The columns of an exported Parquet file, whatever its rows have. */
export const PARQUET_COLUMNS: Readonly<Record<FileKind, readonly string[]>> = {
  users: EXPORT_FIELDS.filter((field) => field !== "recent_activity"),
  events: [...IDENTIFIERS, "name", "time", "app_id", "properties"],
  purchases: [
    ...IDENTIFIERS,
    ...["product_id", "currency", "price", "quantity", "time", "app_id", "properties"],
  ],
  subscriptions: [...IDENTIFIERS, ...["subscription_group_id", "subscription_state", "changed_at"]],
};
