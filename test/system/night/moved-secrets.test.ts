/* Migrations from an earlier schema. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { Database } from "../../../src/core/database/database.ts";
import { migrate, migrateWithin } from "../../../src/core/database/migrations/migrate.ts";
import type { Config } from "../../../src/server/config.ts";
import { closeDatabase, databaseOf } from "../../core/database/open-engines.ts";
import { testConfig } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";

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

describe("migrations", () => {
  test("the key that sealed secrets and the hashes of shared tokens survive their move into one table", async () => {
    const config = await keptConfig();
    await withDatabase(config, async (database) => {
      await database.for("analysis").transaction(async (tx) => {
        await tx.script("drop schema public cascade; create schema public");
        await migrateWithin(tx, (name) => name < "0011");
        await tx.query(
          `insert into shared_secrets (name, secret_hash, made_on, created_at)
           values ('admin-token', 'a1', 'server-1', '2026-01-01')`,
        );
        await tx.query(
          `insert into sealing_keys (name, check_value, kept_on)
           values ('secrets', 'sealed:1:0a', 'server-1')`,
        );
      });
      await migrate(database);
      const rows = await database.query(
        `select name, check_value, kept_on, created_at < '2026-01-02' as "keepsAge"
         from shared_secrets order by name`,
      );
      assert.deepEqual(
        [...rows],
        [
          { name: "admin-token", check_value: "a1", kept_on: "server-1", keepsAge: true },
          { name: "secret-key", check_value: "sealed:1:0a", kept_on: "server-1", keepsAge: false },
        ],
      );
    });
  });
});
