import { bucketsOfIds } from "../database/buckets.ts";
import { settleAll, type Transaction } from "../database/database.ts";

const TABLES = [
  "events",
  "event_summaries",
  "purchases",
  "purchase_summaries",
  "app_usages",
  "devices",
  "interactions",
  "message_history",
] as const;

/** Deletes all activity of these profiles. */
export async function deleteActivity(
  tx: Transaction,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<void> {
  if (profileIds.length === 0) return;
  await settleAll(
    TABLES.map((table) =>
      tx.query(
        `delete from ${table} where workspace_id = $1 and profile_id = any($2::uuid[]) and bucket = any($3::smallint[])`,
        [workspaceId, profileIds, bucketsOfIds(profileIds).all],
      ),
    ),
  );
}

/** Deletes all activity of a workspace. */
export async function deleteAllActivity(tx: Transaction, workspaceId: number): Promise<void> {
  await settleAll(
    TABLES.map((table) => tx.query(`delete from ${table} where workspace_id = $1`, [workspaceId])),
  );
}
