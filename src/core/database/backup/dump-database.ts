import { isCitus } from "../citus/distribute.ts";
import { type Database, type Queryable, readTogether } from "../database.ts";
import { appliedMigrations, hasSchema } from "../migrations/migrate.ts";
import type { BackupWriter, TableHeader } from "./backup-file.ts";

/** How many characters one step reads, about. */
const STEP_CHARACTERS = 4_000_000;

const FIRST_STEP_ROWS = 200;
const MOST_STEP_ROWS = 5_000;

/**
 * Writes a consistent snapshot of every table, while others write.
 *
 * @param onRows gets the number of rows written.
 * @throws on Citus, which has no consistent snapshot across nodes.
 */
export async function dumpDatabase(
  database: Database,
  version: string,
  writer: BackupWriter,
  onRows: (rows: number) => void,
): Promise<void> {
  await readTogether(database.for("maintenance"), async (tx) => {
    await tx.query("set local timezone = 'UTC'");
    if (await isCitus(tx)) {
      throw new Error(
        "This is a Citus cluster, and a backup through the coordinator would be torn between its nodes. " +
          "Back up each node, at a point that citus_create_restore_point names.",
      );
    }
    if (!(await hasSchema(tx))) {
      throw new Error("The database was never used by Rapport: there is nothing to back up.");
    }
    const migrations = Object.fromEntries(await appliedMigrations(tx));
    const created_at = new Date().toISOString();
    await writer.header({ rapport_backup: 1, version, created_at, migrations });
    for (const table of await readTables(tx)) {
      await writer.table(table);
      await dumpTable(tx, table, writer, onRows);
    }
  });
}

/** Every table that outlives a crash, but the list of migrations, which is in the header. */
export const readTables = (tx: Queryable) =>
  tx.query<TableHeader>(
    `select relname as table,
       (select to_jsonb(array_agg(
          jsonb_build_object('name', attname, 'type', format_type(atttypid, atttypmod)) order by attnum))
        from pg_attribute
        where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = '')
         as columns
     from pg_class
     where relkind = 'r' and relpersistence = 'p' and relnamespace = 'public'::regnamespace
       and relname <> 'migrations'
     order by relname`,
  );

async function dumpTable(
  tx: Queryable,
  { table, columns }: TableHeader,
  writer: BackupWriter,
  onRows: (rows: number) => void,
): Promise<void> {
  const texts = columns.map(({ name }) => `"${name}"::text`).join(", ");
  await tx.query(
    `declare dumped no scroll cursor for select to_json(array[${texts}])::text as row from "${table}"`,
  );
  for (let rows = FIRST_STEP_ROWS; ; ) {
    const step = await tx.query<{ row: string }>(`fetch forward ${rows} from dumped`);
    if (step.length === 0) break;
    await writer.rows(step.map(({ row }) => row));
    onRows(step.length);
    const characters = step.reduce((sum, { row }) => sum + row.length, 0) / step.length;
    rows = Math.max(1, Math.min(MOST_STEP_ROWS, Math.floor(STEP_CHARACTERS / characters)));
  }
  await tx.query("close dumped");
}
