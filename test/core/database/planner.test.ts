/* How the engine plans statements of each use. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Database, Queryable } from "../../../src/core/database/database.ts";
import { within } from "../../../src/core/database/database.ts";
import { migrate } from "../../../src/core/database/migrations/migrate.ts";
import { openDatabase } from "../../../src/server/open-database.ts";
import { testConfig } from "../../harness.ts";

const SETTINGS = ["enable_seqscan", "enable_bitmapscan", "enable_nestloop", "enable_mergejoin"];

async function settingsOf(queryable: Queryable): Promise<string> {
  const values: unknown[] = [];
  for (const name of SETTINGS) {
    const [row] = await queryable.query<{ value: string }>(
      "select current_setting($1::text) as value",
      [name],
    );
    values.push(row?.value);
  }
  return values.join(" ");
}

const INTAKE = "off off off off";

test("intake plans by key alone, lookups by any index, and analysis by PostgreSQL's defaults", async () => {
  const database: Database = await openDatabase(await testConfig());
  await migrate(database);
  const settings = {
    intake: await settingsOf(database),
    lookup: await settingsOf(database.for("lookup")),
    analysis: await settingsOf(database.for("analysis")),
  };
  assert.deepEqual(settings, {
    intake: INTAKE,
    lookup: "off on on on",
    analysis: "on on on on",
  });
  const inTransaction = await database.for("analysis").transaction(async (tx) => [
    await settingsOf(tx),
    // A running transaction stays the same.
    await settingsOf(within(database.for("analysis"), tx).for("intake")),
  ]);
  assert.deepEqual(inTransaction, ["on on on on", "on on on on"]);
  assert.equal(await settingsOf(database), INTAKE, "after other uses");
  assert.equal(await database.transaction(settingsOf), INTAKE);
  await database.close();
});
