import { bucketsOfIds, OF_PROFILES } from "../../database/buckets.ts";
import { settleAll, type Transaction } from "../../database/database.ts";
import { uuids } from "../../database/parameters/typed-list.ts";
import { inSlices, MOVED_TABLES } from "./moves-store.ts";
import type { ActivityPart } from "./size-store.ts";

/** The tables, each with the part of a profile that its rows hold. */
const TABLES: readonly (readonly [table: string, part: ActivityPart | undefined])[] = [
  // Summaries do not tell which users to delete from: retention keeps summaries, and an event may
  // have none.
  ["events", undefined],
  ["event_summaries", "custom_events"],
  ["purchases", undefined],
  ["purchase_summaries", "purchases"],
  ["app_usages", "apps"],
  ["devices", "devices"],
  ["interactions", "interactions"],
  ["message_history", "message_history"],
];

/**
 * Deletes all activity of these profiles.
 *
 * @param empty tables known to have no row of them.
 * @param large those that may have many rows: a statement for all of them could take too long.
 */
export async function deleteActivity(
  tx: Transaction,
  workspaceId: number,
  profileIds: readonly string[],
  empty: ReadonlySet<ActivityPart>,
  large: ReadonlySet<string>,
): Promise<void> {
  if (profileIds.length === 0) return;
  for (const id of profileIds.filter((each) => large.has(each))) {
    for (const table of MOVED_TABLES) {
      await inSlices(tx, workspaceId, table, id, ({ sql, parameters }) =>
        tx.query(`delete from ${table.name} where ${sql}`, parameters),
      );
    }
  }
  const ids = uuids(profileIds);
  const buckets = bucketsOfIds(profileIds).all;
  await settleAll(
    TABLES.filter(([, part]) => part === undefined || !empty.has(part)).map(([table]) =>
      tx.query(`delete from ${table} where ${OF_PROFILES}`, [workspaceId, ids, buckets]),
    ),
  );
}

/** Deletes all activity of a workspace. */
export async function deleteAllActivity(tx: Transaction, workspaceId: number): Promise<void> {
  await settleAll(
    TABLES.map(([table]) =>
      tx.query(`delete from ${table} where workspace_id = $1`, [workspaceId]),
    ),
  );
}
