import { bucketOfId } from "../../database/buckets.ts";
import type { Queryable, Transaction } from "../../database/database.ts";
import { uuids } from "../../database/parameters/typed-list.ts";
import { inSlices, MOVED_TABLES, type MovedTable } from "./moves-store.ts";

/*
 * Takes rows that came with merged profiles back to the profile that returns, where the undo of a merge needs it. Both
 * profiles are locked.
 */

export interface Returning {
  readonly keptId: string;
  readonly returnedId: string;
  /** The returning profile, and those that had been merged into it. */
  readonly origins: readonly string[];
  /** Whether events and purchases moved, or messages only. */
  readonly hasOccurrences: boolean;
  /** Whether rows of different buckets may be on different nodes. */
  readonly isCluster: boolean;
}

export async function returnMoved(
  tx: Transaction,
  workspaceId: number,
  { keptId, returnedId, origins, hasOccurrences, isCluster }: Returning,
): Promise<void> {
  for (const table of MOVED_TABLES) {
    if (table.name !== "message_history" && !hasOccurrences) continue;
    if (isCluster) await copyBack(tx, workspaceId, table, keptId, returnedId, origins);
    await inSlices(
      tx,
      workspaceId,
      table,
      keptId,
      ({ sql, parameters }) => {
        if (isCluster) return tx.query(`delete from ${table.name} where ${sql}`, parameters);
        const next = parameters.length + 1;
        return tx.query(
          `update ${table.name} set profile_id = $${next}::uuid, bucket = $${next + 1}::smallint,
             origin_id = nullif(origin_id, $${next}::uuid) where ${sql}`,
          [...parameters, returnedId, bucketOfId(returnedId)],
        );
      },
      origins,
    );
  }
}

/** How many rows are read at a time: 10 MB if each event has as many properties as it may. */
const PAGE_ROWS = 200;

/** A row moves to another bucket, so to another node: it is read and written. */
async function copyBack(
  tx: Transaction,
  workspaceId: number,
  table: MovedTable,
  keptId: string,
  returnedId: string,
  origins: readonly string[],
): Promise<void> {
  const columns = table.key.map(([column]) => column);
  const values = table.key.map(([, type], index) => `$${5 + index}::text::${type}`);
  let after = table.key.map(([, , first]) => first);
  for (;;) {
    const rows = await tx.query<{ row: string; key: string[] }>(
      `select to_jsonb(t)::text as row,
         jsonb_build_array(${columns.map((column) => `${column}::text`).join(", ")}) as key
       from ${table.name} t
       where workspace_id = $1 and profile_id = $2::uuid and bucket = $3::smallint
         and origin_id = any($4::uuid[]) and (${columns.join(", ")}) > (${values.join(", ")})
       order by ${columns.join(", ")} limit ${PAGE_ROWS}`,
      [workspaceId, keptId, bucketOfId(keptId), uuids(origins), ...after],
    );
    const texts = rows.map(({ row }) => row);
    await insertReturned(tx, workspaceId, table, returnedId, texts);
    if (rows.length < PAGE_ROWS) return;
    after = rows.at(-1)?.key as string[];
  }
}

async function insertReturned(
  tx: Transaction,
  workspaceId: number,
  { name, columns }: MovedTable,
  returnedId: string,
  rows: readonly string[],
): Promise<void> {
  if (rows.length === 0) return;
  const names = Object.keys(columns);
  const typed = Object.entries(columns).map(([column, type]) => `${column} ${type}`);
  await tx.query(
    `insert into ${name} (workspace_id, bucket, profile_id, origin_id, ${names.join(", ")})
     select $1, bucket, $2::uuid, nullif(t.origin_id, $2::uuid), ${names.map((column) => `t.${column}`).join(", ")}
     from buckets, jsonb_to_recordset($3::text::jsonb) as t (origin_id uuid, ${typed.join(", ")})
     where bucket = $4::smallint`,
    [workspaceId, returnedId, `[${rows.join()}]`, bucketOfId(returnedId)],
  );
}

/** Inserts messages that the kept profile had too. @param rows as `OnConflict` got them. */
export const insertDropped = (
  tx: Transaction,
  workspaceId: number,
  returnedId: string,
  rows: readonly string[],
): Promise<void> =>
  insertReturned(
    tx,
    workspaceId,
    MOVED_TABLES.find(({ name }) => name === "message_history") as MovedTable,
    returnedId,
    rows,
  );

/** When something happened first and last. */
export interface Dates {
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** The dates of a profile's events that did not come with these merged profiles, by name. */
export const selectEventDates = (
  database: Queryable,
  workspaceId: number,
  profileId: string,
  origins: readonly string[],
  names: readonly string[],
) =>
  database.query<Dates & { readonly name: string }>(
    `select name, min(occurred_at) as "firstAt", max(occurred_at) as "lastAt" from events
     where workspace_id = $1 and profile_id = $2::uuid and bucket = $3::smallint and name = any($4::text[])
       and (origin_id is null or origin_id <> all($5::uuid[]))
     group by name`,
    [workspaceId, profileId, bucketOfId(profileId), names, uuids(origins)],
  );

/** The same of purchases, by product and currency. */
export const selectPurchaseDates = (
  database: Queryable,
  workspaceId: number,
  profileId: string,
  origins: readonly string[],
  productIds: readonly string[],
): Promise<(Dates & { readonly productId: string; readonly currency: string })[]> =>
  database.query(
    `select product_id as "productId", currency, min(occurred_at) as "firstAt", max(occurred_at) as "lastAt"
     from purchases
     where workspace_id = $1 and profile_id = $2::uuid and bucket = $3::smallint
       and product_id = any($4::text[]) and (origin_id is null or origin_id <> all($5::uuid[]))
     group by product_id, currency`,
    [workspaceId, profileId, bucketOfId(profileId), productIds, uuids(origins)],
  );

/** A table whose rows of a profile have a key: its name, and the columns of the key. */
type Keyed = readonly [table: string, ...columns: string[]];

const KEYED = {
  events: ["event_summaries", "name"],
  purchases: ["purchase_summaries", "product_id", "currency"],
  apps: ["app_usages", "app_id"],
  devices: ["devices", "device_id"],
  interactions: ["interactions", "kind", "interaction_id"],
} as const satisfies Record<string, Keyed>;

/** Deletes rows of a profile. @param keys the values of the columns of the key of each row. */
export async function deleteKeyed(
  tx: Transaction,
  workspaceId: number,
  profileId: string,
  part: keyof typeof KEYED,
  keys: readonly (readonly string[])[],
): Promise<void> {
  if (keys.length === 0) return;
  const [table, ...columns] = KEYED[part];
  const lists = columns.map((_, index) => `$${index + 4}::text[]`);
  await tx.query(
    `delete from ${table} where workspace_id = $1 and profile_id = $2::uuid and bucket = $3::smallint
       and (${columns.join(", ")}) in (select * from unnest(${lists.join(", ")}) as gone (${columns.join(", ")}))`,
    [
      workspaceId,
      profileId,
      bucketOfId(profileId),
      ...columns.map((_, index) => keys.map((key) => key[index])),
    ],
  );
}
