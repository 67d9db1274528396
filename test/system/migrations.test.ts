/* How the schema of a database is brought up to date, and which databases are refused. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { packageRoot } from "../../src/core/base/package-root.ts";
import type { Database } from "../../src/core/database/database.ts";
import { migrate } from "../../src/core/database/migrations/migrate.ts";
import type { Config } from "../../src/server/config.ts";
import { serve } from "../../src/server/serve.ts";
import { closeDatabase, databaseOf } from "../core/database/open-engines.ts";
import { ENGINE, testConfig } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { runCommand } from "./child-server.ts";

const FILES = readdirSync(join(packageRoot(), "migrations"))
  .filter((name) => name.endsWith(".sql"))
  .sort();

/** Settings for a database of only this test, which outlives a server and stays open: opening takes most of the time. */
async function keptConfig(): Promise<Config> {
  let dataDir = "";
  // Registered before the folder and the database are made, because hooks run in order.
  after(() => closeDatabase(dataDir));
  dataDir = await temporaryFolder();
  return testConfig({ dataDir });
}

async function withDatabase<Result>(
  config: Config,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  return work(await databaseOf(config));
}

const serveOn = (config: Config) => serve(config, undefined, databaseOf(config));

const appliedTo = async (database: Database) =>
  (await database.query<{ name: string }>("select name from migrations order by name")).map(
    (row) => row.name,
  );

describe("migrations", () => {
  test("migrating applies every file once in numeric order, and a second run does nothing", async () => {
    const config = await keptConfig();
    await withDatabase(config, async (database) => {
      const now = await migrate(database);
      // A new embedded database begins as the snapshot that the build has made.
      assert.deepEqual(now, ENGINE === "embedded" ? [] : FILES);
      assert.deepEqual(await appliedTo(database), FILES);
      assert.deepEqual(await migrate(database), []);
    });
  });

  test("concurrent migrations from several connections apply every file exactly once", {
    skip: ENGINE !== "postgres",
  }, async () => {
    const config = await keptConfig();
    await withDatabase(config, async (database) => {
      const applied = await Promise.all([migrate(database), migrate(database), migrate(database)]);
      assert.deepEqual(applied.flat(), FILES);
    });
  });

  test("a database is refused if a migration file was changed after it was applied", async () => {
    const config = await keptConfig();
    await withDatabase(config, async (database) => {
      await migrate(database);
      await database.query("update migrations set checksum = 'other' where name = $1", [FILES[0]]);
    });
    const sentence = new RegExp(`^The migration ${FILES[0]} was changed after it was applied\\. `);
    await assert.rejects(serveOn(config), { message: sentence });
    await closeDatabase(config.dataDir);
    const { code, stderr } = await runCommand(["migrate"], environmentOf(config));
    assert.equal(code, 1);
    assert.match(stderr, /^rapport: The migration .* was changed after it was applied\./);
  });

  test("a database used by a newer version is refused and left unchanged", async () => {
    const config = await keptConfig();
    await withDatabase(config, async (database) => {
      await migrate(database);
      await database.query("insert into migrations values ('9999-from-the-future.sql', 'x')");
    });
    await assert.rejects(serveOn(config), {
      message:
        /^This is Rapport 0\.1\.0.*, and the database was migrated by Rapport 0\.1\.0.*: it holds the migration 9999-from-the-future\.sql/,
    });
    await withDatabase(config, async (database) => {
      assert.deepEqual(await appliedTo(database), [...FILES, "9999-from-the-future.sql"]);
    });
  });

  test("a database from before the first schema is refused with that reason", async () => {
    const config = await keptConfig();
    await withDatabase(config, (database) =>
      database.for("analysis").transaction(async (tx) => {
        await tx.script("drop schema public cascade; create schema public");
        await tx.script("create table migrations (name text primary key, checksum text not null)");
        await tx.query("insert into migrations values ('0001-foundation.sql', 'x')");
      }),
    );
    await assert.rejects(serveOn(config), {
      message: /^This database was made by a development version/,
    });
  });

  test("a failed migration rolls back every file applied in the same run", {
    skip: ENGINE !== "postgres",
  }, async () => {
    const config = await keptConfig();
    await withDatabase(config, async (database) => {
      await database.query("create table idempotency_keys (in_the_way int)");
      await assert.rejects(migrate(database), /already exists/);
      const tables = await database.query<{ name: string }>(
        "select tablename as name from pg_tables where schemaname = 'public'",
      );
      assert.deepEqual(
        tables.map((table) => table.name),
        ["idempotency_keys"],
      );
    });
  });
});

const environmentOf = (config: Config) => ({
  DATA_DIR: config.dataDir,
  ...(config.databaseUrl !== undefined && { DATABASE_URL: config.databaseUrl }),
});

test("rapport migrate lists the migrations it applied, and a second run reports nothing to do", async () => {
  const environment = environmentOf(await keptConfig());
  const first = await runCommand(["migrate"], environment);
  const made = ENGINE === "embedded" ? "Nothing to do.\n" : `${FILES.join("\n")}\n`;
  assert.deepEqual([first.code, first.stdout, first.stderr], [0, made, ""]);
  const second = await runCommand(["migrate"], environment);
  assert.deepEqual([second.code, second.stdout], [0, "Nothing to do.\n"]);
});
