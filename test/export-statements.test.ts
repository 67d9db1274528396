/*
 * What an export costs in statements. Below HTTP, because it counts what reaches the engine; nothing is timed. A change
 * that makes an export more expensive fails here.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { systemClock } from "../src/clock.ts";
import { migrate } from "../src/database/migrate.ts";
import { type ExportRequest, exportByIds } from "../src/export/export-by-ids.ts";
import { createPeople } from "../src/people/people.ts";
import { savePeople } from "../src/people/save-people.ts";
import { openDatabase } from "../src/server/open-database.ts";
import { countingDatabase } from "./counted-statements.ts";
import { testConfig } from "./harness.ts";
import { testWorkspace } from "./test-context.ts";

const database = await openDatabase(await testConfig());
after(() => database.close());
await migrate(database);

const workspace = testWorkspace();
const names = (count: number) => Array.from({ length: count }, (_, index) => `user-${index}`);

const people = createPeople([], [], systemClock.newId);
for (const value of names(50)) people.create({ kind: "external_id", value });
const addressed = people.create({ kind: "external_id", value: "addressed" });
people.setEmail(addressed, "addressed@example.com");
await database.transaction((tx) => savePeople(tx, workspace.id, people.changes(systemClock.now())));

/** The statements of one export, beside those that set up its transaction. */
async function statementsOf(request: ExportRequest): Promise<number> {
  const { database: counting, counted } = countingDatabase(database);
  const services = { database: counting, clock: systemClock };
  const { invalid_user_ids } = await exportByIds(services, workspace, request);
  assert.equal(invalid_user_ids, undefined);
  assert.equal(counted.transactions, 1);
  return counted.statements.filter((sql) => !sql.startsWith("set ")).length;
}

test("an export of 50 profiles with all default fields takes as many statements as one profile: four", async () => {
  assert.equal(await statementsOf({ external_ids: "user-7" }), 4);
  assert.equal(await statementsOf({ external_ids: names(50) }), 4);
});

test("an export reads the states of addresses only where a profile has an address", async () => {
  assert.equal(await statementsOf({ external_ids: ["user-7", "addressed"] }), 5);
});

test("an export of attributes alone takes two statements", async () => {
  const fields_to_export = ["external_id", "first_name", "custom_attributes"] as const;
  const external_ids = ["addressed", ...names(49)];
  assert.equal(await statementsOf({ external_ids, fields_to_export }), 2);
});
