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
 * @param how.empty tables known to have no row of them.
 * @param how.large those that may have many rows: a statement for all of them could take too long.
 * @param how.leftIds those whose events and purchases stay.
 */
export async function deleteActivity(
  tx: Transaction,
  workspaceId: number,
  profileIds: readonly string[],
  {
    empty,
    large,
    leftIds,
  }: {
    readonly empty: ReadonlySet<ActivityPart>;
    readonly large: ReadonlySet<string>;
    readonly leftIds: ReadonlySet<string>;
  },
): Promise<void> {
  if (profileIds.length === 0) return;
  const stay = (table: string, id: string) => leftIds.has(id) && STAYING.has(table);
  for (const id of profileIds.filter((each) => large.has(each))) {
    for (const table of MOVED_TABLES) {
      if (stay(table.name, id)) continue;
      await inSlices(tx, workspaceId, table, id, ({ sql, parameters }) =>
        tx.query(`delete from ${table.name} where ${sql}`, parameters),
      );
    }
  }
  const all = [uuids(profileIds), bucketsOfIds(profileIds).all];
  const going = profileIds.filter((id) => !leftIds.has(id));
  const some = going.length < profileIds.length ? [uuids(going), bucketsOfIds(going).all] : all;
  await settleAll(
    TABLES.filter(([, part]) => part === undefined || !empty.has(part)).map(([table]) =>
      tx.query(`delete from ${table} where ${OF_PROFILES}`, [
        workspaceId,
        ...(STAYING.has(table) ? some : all),
      ]),
    ),
  );
}

/** The tables whose rows an undo finds where they are. */
const STAYING = new Set(["events", "purchases"]);

/** Deletes the events and purchases that were left behind by a user who was removed. */
export async function deleteLeft(
  tx: Transaction,
  workspaceId: number,
  profileId: string,
): Promise<void> {
  for (const table of MOVED_TABLES.filter(({ name }) => STAYING.has(name))) {
    await inSlices(tx, workspaceId, table, profileId, ({ sql, parameters }) =>
      tx.query(`delete from ${table.name} where ${sql}`, parameters),
    );
  }
}

export async function deleteAllActivity(tx: Transaction, workspaceId: number): Promise<void> {
  await settleAll(
    TABLES.map(([table]) =>
      tx.query(`delete from ${table} where workspace_id = $1`, [workspaceId]),
    ),
  );
}
