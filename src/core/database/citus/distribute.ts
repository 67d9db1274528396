import { BUCKET_COUNT } from "../buckets.ts";
import type { Queryable, Transaction } from "../database.ts";

/**
 * Distributes the tables that migrations mark `-- distributed by: bucket` and that are not
 * distributed yet, with their rows: this turns a database of plain PostgreSQL into one of a
 * cluster. The first table decides the node of each bucket; the others are placed beside it.
 *
 * @param scripts the texts of the migrations that were applied.
 * @param shards how many shards the tables are cut into, if they are cut now; null for `SHARDS_OF_A_NODE` on
 *   each node.
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
          shards ?? (await shardsForNodes(tx)),
        ])
      : tx.query("select create_distributed_table($1, 'bucket', colocate_with => $2)", [
          table,
          FIRST_TABLE,
        ]));
    // Existing rows are copied to the shards; the copy that stays behind is never read.
    await tx.query("select truncate_local_data_after_distributing_table($1::text::regclass)", [
      table,
    ]);
  }
  return tables;
}

const FIRST_TABLE = "buckets";

/**
 * A transaction writes to one shard, so the fewer there are, the more updates each takes: with 8 shards on two
 * nodes a cluster made a third more of known users than with 32, and five times as many users with new
 * addresses (docs/scaling.md). A few for each node leave some to move to nodes that are added.
 */
const SHARDS_OF_A_NODE = 4;

/** A power of two, so that all shards have as many buckets. */
async function shardsForNodes(tx: Transaction): Promise<number> {
  const [row] = await tx.query<{ nodes: number }>(
    "select count(*) as nodes from pg_dist_node where shouldhaveshards and noderole = 'primary'",
  );
  const wanted = Math.max(row?.nodes ?? 1, 1) * SHARDS_OF_A_NODE;
  return Math.min(2 ** Math.ceil(Math.log2(wanted)), BUCKET_COUNT);
}

/** The number of shards of the tables of user data; 1 without a cluster. */
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

export const isCitus = async (tx: Queryable) =>
  (await tx.query("select 1 from pg_extension where extname = 'citus'")).length > 0;
