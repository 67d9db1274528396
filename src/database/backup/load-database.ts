import type { Database, Transaction } from "../database.ts";
import { migrateWithin, migrationHashes } from "../migrations/migrate.ts";
import {
  type BackupHeader,
  type BackupPart,
  BackupUnreadable,
  type TableHeader,
} from "./backup-file.ts";
import { readTables } from "./dump-database.ts";

/**
 * Refuses a backup whose schema this version does not have.
 *
 * @throws BackupUnreadable
 */
export async function refuseForeignSchema(
  path: string,
  { migrations, version }: BackupHeader,
): Promise<void> {
  const known = await migrationHashes();
  for (const [name, checksum] of Object.entries(migrations)) {
    const expected = known.get(name);
    if (expected === undefined) {
      const reason = `was written by a newer version of Rapport (${version}): this one does not know the migration ${name}.`;
      throw new BackupUnreadable(path, `${reason} Restore it with that version.`);
    }
    if (expected !== checksum) {
      const reason = `was written by another build of Rapport (${version}), with another migration ${name}.`;
      throw new BackupUnreadable(path, `${reason} Restore it with that build.`);
    }
  }
}

/**
 * Creates the schema of the backup in an empty database, loads its rows, and migrates to the schema
 * of this version, in one transaction.
 *
 * @param parts of a verified backup.
 * @throws if the database is not empty; nothing is written then.
 */
export async function loadDatabase(
  database: Database,
  { migrations }: BackupHeader,
  parts: AsyncIterable<BackupPart>,
  onRows: (rows: number) => void,
): Promise<void> {
  await database.for("analysis").transaction(async (tx) => {
    await refuseFilled(tx);
    await migrateWithin(tx, (name) => name in migrations);
    await clearTables(tx);
    let insert = "";
    for await (const part of parts) {
      if ("table" in part) insert = insertInto(part.table);
      if (!("rows" in part)) continue;
      await tx.query(insert, [part.rows]);
      onRows(part.rows.length);
    }
    await migrateWithin(tx);
  });
  await database.maintain();
}

/** Everything belongs to a company or a workspace: without any, migrations alone have been here. */
async function refuseFilled(tx: Transaction): Promise<void> {
  const tables = await readTables(tx);
  for (const { table } of tables.filter(({ table }) => OWNERS.includes(table))) {
    const [row] = await tx.query(`select 1 from "${table}" limit 1`);
    if (!row) continue;
    throw new Error(
      `The database is not empty: '${table}' has rows. Restore into an empty one, and switch over to it.`,
    );
  }
}

const OWNERS = ["companies", "workspaces"];

/** Migrations may have put rows into their tables, which the backup has, too. */
async function clearTables(tx: Transaction): Promise<void> {
  const names = (await readTables(tx)).map(({ table }) => `"${table}"`);
  if (names.length > 0) await tx.script(`truncate ${names.join(", ")}`);
}

/** Rows are JSON arrays of texts, which each type reads as it wrote them. */
function insertInto({ table, columns }: TableHeader): string {
  const names = columns.map(({ name }) => `"${name}"`).join(", ");
  const values = columns.map(({ type }, index) => `(value ->> ${index})::${type}`).join(", ");
  return (
    `insert into "${table}" (${names}) ` +
    `select ${values} from (select row::jsonb as value from unnest($1::text[]) as given (row)) as read`
  );
}
