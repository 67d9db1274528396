import type { Queryable, Transaction } from "./database.ts";

/**
 * Distributes the tables that migrations mark `-- distributed by: bucket`, those that are not distributed
 * yet, with the rows that they hold: so a database of plain PostgreSQL becomes one of a cluster. The first
 * table decides on which node each bucket lies; the others lie beside it.
 *
 * @param scripts the texts of the migrations that were applied.
 * @param shards how many shards the tables are cut into, if they are cut now; null leaves it to the cluster
 *   (`citus.shard_count`, 32 unless it is set).
 * @returns the tables distributed now; without Citus, none.
 */
export async function distributeTables(
  tx: Transaction,
  scripts: readonly string[],
  shards: number | null,
): Promise<string[]> {
  if (!(await isCitus(tx))) return [];
  const marked = scripts.flatMap((sql) =>
    [...sql.matchAll(/^-- distributed by: bucket\ncreate table (\w+)/gm)].map(([, table]) => table),
  );
  const rows = await tx.query<{ table: string }>(
    "select logicalrelid::text as table from pg_dist_partition",
  );
  const known = new Set(rows.map((row) => row.table));
  const tables = (marked as string[]).filter((table) => !known.has(table));
  for (const table of tables) {
    await (table === FIRST_TABLE
      ? tx.query("select create_distributed_table($1, 'bucket', shard_count => $2::int)", [
          table,
          shards,
        ])
      : tx.query("select create_distributed_table($1, 'bucket', colocate_with => $2)", [
          table,
          FIRST_TABLE,
        ]));
    // What was there before is copied to the shards; the copy that stays behind is never read.
    await tx.query("select truncate_local_data_after_distributing_table($1::text::regclass)", [
      table,
    ]);
  }
  return tables;
}

const FIRST_TABLE = "buckets";

/** How many shards the tables of user data are cut into; 1 where there is no cluster. */
export const countShards = async (database: Queryable): Promise<number> =>
  (await readDistributed(database)).shards;

/** How many tables are distributed, and over how many shards each of them. */
export async function readDistributed(
  database: Queryable,
): Promise<{ readonly tables: number; readonly shards: number }> {
  if (!(await isCitus(database))) return { tables: 0, shards: 1 };
  const [row] = await database.query<{ tables: number; shards: number }>(
    `select count(distinct logicalrelid) as tables,
       count(*) filter (where logicalrelid::text = $1) as shards
     from pg_dist_shard`,
    [FIRST_TABLE],
  );
  return { tables: row?.tables ?? 0, shards: row?.shards || 1 };
}

export async function isCitus(tx: Queryable): Promise<boolean> {
  const rows = await tx.query("select 1 from pg_extension where extname = 'citus'");
  return rows.length > 0;
}
