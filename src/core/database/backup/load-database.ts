import { isDeepStrictEqual } from "node:util";
import type { Database, Transaction } from "../database.ts";
import {
  appliedMigrations,
  hasSchema,
  migrateWithin,
  migrationHashes,
} from "../migrations/migrate.ts";
import {
  type BackupHeader,
  type BackupSummary,
  BackupUnreadable,
  readBackup,
  type TableHeader,
} from "./backup-file.ts";
import { readTables } from "./dump-database.ts";

/**
 * Refuses a backup whose schema this version does not have, or never had.
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
  const wanted = [...known.keys()].slice(0, Object.keys(migrations).length);
  if (wanted.length > 0 && wanted.every((name) => Object.hasOwn(migrations, name))) return;
  throw new BackupUnreadable(path, "is damaged: it lacks one of the migrations before its last.");
}

/**
 * Creates the schema of the backup in an empty database, loads its rows, and migrates to the schema
 * of this version, in one transaction. Statements are built from the catalog of that schema: nothing that
 * the file says becomes part of one.
 *
 * @param path of a verified backup.
 * @param sha256 its checksum when it was verified.
 * @throws BackupUnreadable if it does not fit the schema, or was changed meanwhile; an error in words if the
 *   database is not empty. Nothing is written then.
 */
export async function loadDatabase(
  database: Database,
  path: string,
  { header: { migrations }, end: { sha256 } }: Pick<BackupSummary, "header" | "end">,
  onRows: (rows: number) => void,
): Promise<void> {
  await database.for("maintenance").transaction(async (tx) => {
    await tx.query("set local timezone = 'UTC'");
    await refuseFilled(tx);
    await dropLaterSchema(database, tx, migrations);
    await migrateWithin(tx, (name) => Object.hasOwn(migrations, name));
    await clearTables(tx);
    const left = new Map((await readTables(tx)).map((each) => [each.table, each]));
    let current: TableHeader | undefined;
    for await (const part of readBackup(path)) {
      if ("table" in part) current = takeTable(path, left, part.table);
      if ("end" in part && part.end.sha256 !== sha256) {
        throw new BackupUnreadable(path, "was changed while it was restored.");
      }
      if (!("rows" in part)) continue;
      if (!current) throw new BackupUnreadable(path, "is damaged: it has a row outside a table.");
      await insertRows(tx, path, current, part.rows);
      onRows(part.rows.length);
    }
    const [missing] = left.keys();
    if (missing) throw new BackupUnreadable(path, `is damaged: it lacks the table '${missing}'.`);
    await migrateWithin(tx);
  });
  await database.maintain();
}

/** The table of the schema that a part of the file is about: each of them once, as the schema has it. */
function takeTable(
  path: string,
  left: Map<string, TableHeader>,
  { table, columns }: TableHeader,
): TableHeader {
  const known = left.get(table);
  if (!known || !isDeepStrictEqual(columns, known.columns)) {
    const reason =
      "is damaged: it has a table that its schema does not have in this form, or has it twice.";
    throw new BackupUnreadable(path, reason);
  }
  left.delete(table);
  return known;
}

async function insertRows(
  tx: Transaction,
  path: string,
  table: TableHeader,
  rows: readonly string[],
): Promise<void> {
  const stored = await tx.query(insertInto(table), [rows]).catch((error: Error) => {
    if (!UNFIT.test((error as { code?: string }).code ?? "")) throw error;
    throw unfit(path, table);
  });
  if (stored.length !== rows.length) throw unfit(path, table);
}

/** Values that are none of their type, constraints, and limits of the engine. */
const UNFIT = /^(?:22|23|54)/;

const unfit = (path: string, { table }: TableHeader): BackupUnreadable =>
  new BackupUnreadable(
    path,
    `is damaged: '${table}' cannot store one of the file's rows unchanged.`,
  );

/** Everything belongs to a company or a workspace: without any, only migrations have run. */
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

/**
 * A new embedded engine has the schema of this version already (`embedded/snapshot.ts`), which an earlier backup
 * does not fit.
 *
 * @throws an error in words if a database of PostgreSQL has a later schema than the backup: others may use it.
 */
async function dropLaterSchema(
  { engine }: Database,
  tx: Transaction,
  migrations: BackupHeader["migrations"],
): Promise<void> {
  if (!(await hasSchema(tx))) return;
  const applied = [...(await appliedMigrations(tx)).keys()];
  if (applied.every((name) => Object.hasOwn(migrations, name))) return;
  if (engine !== "embedded") {
    throw new Error(
      "The database has a later schema than the backup. Restore into an empty database: its schema is migrated afterwards.",
    );
  }
  await tx.script("drop schema public cascade");
  await tx.script("create schema public");
}

/**
 * Migrations may have put rows into their tables, which the backup has, too. Only tables with rows
 * are truncated: truncating creates new files for a table and each of its indexes.
 */
async function clearTables(tx: Transaction): Promise<void> {
  const selects = (await readTables(tx)).map(
    ({ table }) => `select '"${table}"' as name where exists (select from "${table}")`,
  );
  if (selects.length === 0) return;
  const filled = await tx.query<{ name: string }>(selects.join(" union all "));
  if (filled.length > 0) await tx.script(`truncate ${filled.map(({ name }) => name).join(", ")}`);
}

/**
 * Rows are JSON arrays of texts, which each type reads as it wrote them. A row is not inserted if
 * its stored values would differ from those in the file.
 *
 * @param table of the catalog.
 */
function insertInto({ table, columns }: TableHeader): string {
  const names = columns.map(({ name }) => `"${name}"`).join(", ");
  const values = columns.map(({ type }, index) => `(value ->> ${index})::${type} as c${index}`);
  const texts = columns.map((_, index) => `c${index}::text`).join(", ");
  const given = columns.map((_, index) => `value ->> ${index}`).join(", ");
  return (
    `insert into "${table}" (${names}) select ${columns.map((_, index) => `c${index}`).join(", ")} ` +
    `from (select value, ${values.join(", ")} ` +
    "from (select row::jsonb as value from unnest($1::text[]) as given (row)) as read offset 0) as typed " +
    `where jsonb_array_length(value) = ${columns.length} ` +
    `and not jsonb_path_exists(value, 'strict $[*] ? (@.type() != "string" && @.type() != "null")') ` +
    `and array[${texts}] is not distinct from array[${given}] returning 1`
  );
}
