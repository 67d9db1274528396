import { bucketOfId, bucketsOfIds, OF_PROFILES } from "../../database/buckets.ts";
import { settleAll, type Transaction } from "../../database/database.ts";
import { uuids } from "../../database/parameters/typed-list.ts";
import { MOVED_TABLES, type MovedTable } from "./moves-store.ts";
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

/** How many rows of a user one statement deletes. The embedded engine takes a tenth of a second for them. */
export const SLICE_ROWS = 20_000;

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
    await settleAll(MOVED_TABLES.map((table) => deleteMost(tx, workspaceId, table, id)));
  }
  const ids = uuids(profileIds);
  const buckets = bucketsOfIds(profileIds).all;
  await settleAll(
    TABLES.filter(([, part]) => part === undefined || !empty.has(part)).map(([table]) =>
      tx.query(`delete from ${table} where ${OF_PROFILES}`, [workspaceId, ids, buckets]),
    ),
  );
}

/** Deletes the rows of a profile in slices, in the order of their key, until few are left. */
async function deleteMost(
  tx: Transaction,
  workspaceId: number,
  { name, key }: MovedTable,
  profileId: string,
): Promise<void> {
  const columns = key.map(([column]) => column).join(", ");
  const valuesFrom = (first: number) =>
    key.map(([, type], index) => `$${first + index}::text::${type}`).join(", ");
  // Entries that were deleted before stay in the index until the transaction ends: each slice starts after them.
  const rest = `workspace_id = $1 and profile_id = $2::uuid and bucket = $3::smallint
    and (${columns}) > (${valuesFrom(4)})`;
  const profile = [workspaceId, profileId, bucketOfId(profileId)];
  for (let after = key.map(([, , first]) => first); ; ) {
    const [last] = await tx.query<{ key: string[] }>(
      `select jsonb_build_array(${key.map(([column]) => `${column}::text`).join(", ")}) as key from ${name}
       where ${rest} order by ${columns} offset ${SLICE_ROWS - 1} limit 1`,
      [...profile, ...after],
    );
    if (!last) return;
    await tx.query(
      `delete from ${name} where ${rest} and (${columns}) <= (${valuesFrom(4 + key.length)})`,
      [...profile, ...after, ...last.key],
    );
    after = last.key;
  }
}

/** Deletes all activity of a workspace. */
export async function deleteAllActivity(tx: Transaction, workspaceId: number): Promise<void> {
  await settleAll(
    TABLES.map(([table]) =>
      tx.query(`delete from ${table} where workspace_id = $1`, [workspaceId]),
    ),
  );
}
