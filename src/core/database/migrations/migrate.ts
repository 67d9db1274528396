import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { RAPPORT } from "../../base/command.ts";
import { packageRoot } from "../../base/package-root.ts";
import { sha256 } from "../../base/values/hashes.ts";
import { FULL_VERSION } from "../../base/version.ts";
import { distributeTables } from "../citus/distribute.ts";
import type { Database, Queryable, Transaction } from "../database.ts";

/** An arbitrary number that nothing else in the database locks: one process migrates at a time. */
export const MIGRATION_LOCK = 7_270_411;

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/**
 * Brings the database to this version's schema: applies the files of `migrations/` that it does not
 * have yet, in the order of their numbers and in one transaction (migrations/README.md). On Citus it
 * distributes the tables marked `-- distributed by: bucket` in the same transaction, with the rows of a
 * database that was a plain PostgreSQL before.
 *
 * @param shards see `distributeTables`.
 * @param isForced whether to apply what is unsafe while servers of an earlier version run.
 * @returns the names of the files applied now.
 * @throws when an applied file was changed, the database is newer than this version, or servers run that could not work on
 *   the new schema.
 */
export const migrate = (
  database: Database,
  shards: number | null = null,
  isForced = false,
): Promise<string[]> =>
  database.for("maintenance").transaction(async (tx) => {
    await tx.query("select pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    if (!isForced) await refuseUnsafe(tx);
    return migrateWithin(tx, undefined, shards);
  });

/** Servers announce themselves every five seconds (`core/admin/secrets/running-servers.ts`). */
const RUNS_WITHIN_SECONDS = 20;

/** A migration without this first line may be one that the previous version cannot work with. */
const SAFE = /^-- alongside the previous version: safe/;

/** @throws if servers run, and a migration that is to be applied is unsafe for them. They have the schema of before. */
export async function refuseUnsafe(database: Queryable): Promise<void> {
  if (!(await hasSchema(database))) return;
  const applied = await appliedMigrations(database);
  // Those that came before servers announced themselves.
  if (!applied.has(ANNOUNCED_SINCE)) return;
  const unsafe = (await readMigrations()).filter(
    ({ name, sql }) => !applied.has(name) && !SAFE.test(sql),
  );
  if (unsafe.length === 0) return;
  const servers = await database.query<{ name: string; version: string }>(
    `select name, version from running_servers
     where seen_at > now() - make_interval(secs => $1) order by name limit 20`,
    [RUNS_WITHIN_SECONDS],
  );
  if (servers.length === 0) return;
  throw new Error(
    `${unsafe.map(({ name }) => name).join(", ")} cannot be applied while servers of an earlier version run: ` +
      `${servers.map(({ name, version }) => `${name}, Rapport ${version}`).join("; ")}. Stop them first; one that ` +
      `has ended is forgotten after ${RUNS_WITHIN_SECONDS} seconds. ${RAPPORT} migrate --force applies it nevertheless, and they may fail.`,
  );
}

const ANNOUNCED_SINCE = "0023-running-servers.sql";

/**
 * The same within a transaction.
 *
 * @param isWanted whether to apply a migration, by its name; by default all of them.
 */
export async function migrateWithin(
  tx: Transaction,
  isWanted: (name: string) => boolean = () => true,
  shards: number | null = null,
): Promise<string[]> {
  const migrations = await readMigrations();
  await tx.query("select pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
  await tx.query(
    "create table if not exists migrations (name text primary key, checksum text not null)",
  );
  const applied = await appliedMigrations(tx);
  refuseForeignHistory(migrations, applied, await lastVersion(tx));
  const pending = migrations.filter(({ name }) => !applied.has(name) && isWanted(name));
  for (const migration of pending) {
    for (const statement of statementsOf(migration.sql)) await tx.script(statement);
    await tx.query("insert into migrations (name, checksum) values ($1, $2)", [
      migration.name,
      migration.checksum,
    ]);
  }
  if (pending.length > 0) await recordVersion(tx);
  const present = migrations.filter(({ name }) => applied.has(name) || isWanted(name));
  await distributeTables(
    tx,
    present.map(({ sql }) => sql),
    shards,
  );
  return pending.map((migration) => migration.name);
}

/**
 * Statements end at the end of a line (migrations/README.md). Each is sent by itself: if it changes
 * a distributed table, Citus sends the whole text on to the workers, which accept one statement.
 */
const statementsOf = (sql: string): string[] =>
  sql.split(/;$/m).filter((statement) => /^\s*[^\s-]/m.test(statement));

/** @throws where `migrate` refuses the database: it is newer than this version, or an applied file was changed. */
export async function checkHistory(database: Queryable): Promise<void> {
  if (await hasSchema(database)) {
    const applied = await appliedMigrations(database);
    refuseForeignHistory(await readMigrations(), applied, await lastVersion(database));
  }
}

/** How a database's schema relates to this version's. */
export interface SchemaState {
  /** Migrations that the database does not have yet. */
  readonly pending: readonly string[];
  /** Migrations of a newer version. */
  readonly unknown: readonly string[];
}

/** Compares without changing anything. An empty database has every migration pending. */
export async function compareMigrations(database: Database): Promise<SchemaState> {
  const known = (await readMigrations()).map(({ name }) => name);
  const applied = (await hasSchema(database))
    ? [...(await appliedMigrations(database)).keys()]
    : [];
  return {
    pending: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  };
}

/** Whether Rapport's tables exist, of any version. */
export async function hasSchema(database: Queryable): Promise<boolean> {
  const sql = "select to_regclass('migrations') is not null as exists";
  const [table] = await database.query<{ exists: boolean }>(sql);
  return table?.exists ?? false;
}

/** Identifies the schema of this version: changes with any migration. */
export async function schemaFingerprint(): Promise<string> {
  const files = [...(await migrationHashes())].map(([name, checksum]) => `${name} ${checksum}\n`);
  return sha256(files.join("")).slice(0, 16);
}

/** @returns the SHA-256 of every migration by file name, in their order. */
export async function migrationHashes(): Promise<Map<string, string>> {
  return new Map((await readMigrations()).map(({ name, checksum }) => [name, checksum]));
}

async function readMigrations(): Promise<Migration[]> {
  const folder = join(packageRoot(), "migrations");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(folder, name), "utf8");
      return { name, sql, checksum: sha256(sql) };
    }),
  );
}

/** The checksum of each applied migration, by file name. */
export async function appliedMigrations(tx: Queryable): Promise<Map<string, string>> {
  const rows = await tx.query<{ name: string; checksum: string }>(
    "select name, checksum from migrations",
  );
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

/**
 * Records, in the comment of the table itself, which version migrated last: an older one can name
 * the needed version.
 */
async function recordVersion(tx: Transaction): Promise<void> {
  await tx.script(`comment on table migrations is 'Rapport ${FULL_VERSION.replaceAll("'", "''")}'`);
}

/** Such as `Rapport 0.2.0 (4f2a91c3, 2026-01-31)`; undefined if none is recorded. */
async function lastVersion(database: Queryable): Promise<string | undefined> {
  const sql = "select obj_description('migrations'::regclass, 'pg_class') as version";
  const [row] = await database.query<{ version: string | null }>(sql);
  return row?.version ?? undefined;
}

/** The first file since development versions; theirs had other names. */
const BASELINE = "0001-baseline.sql";

function refuseForeignHistory(
  migrations: readonly Migration[],
  applied: ReadonlyMap<string, string>,
  usedBy: string | undefined,
): void {
  const known = new Map(migrations.map((migration) => [migration.name, migration.checksum]));
  if (applied.size > 0 && !applied.has(BASELINE)) {
    throw new Error(
      "This database was made by a development version of Rapport, from before its first schema, and cannot be " +
        "migrated. Export the users with that version, and import them into an empty database.",
    );
  }
  for (const [name, checksum] of applied) {
    const expected = known.get(name);
    if (expected === undefined) {
      const newer = usedBy ?? "a newer version of Rapport";
      throw new Error(
        `This is Rapport ${FULL_VERSION}, and the database was migrated by ${newer}: it holds the migration ` +
          `${name}, which this version does not know. Start that version, or a newer one.`,
      );
    }
    if (expected !== checksum) {
      throw new Error(
        `The migration ${name} was changed after it was applied. ` +
          "Restore it, and put the change into a new file.",
      );
    }
  }
}
