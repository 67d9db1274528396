/*
 * The cost of an export in statements. Below HTTP, because it counts what reaches the engine;
 * nothing is timed. A change that makes an export more expensive fails here.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/core/base/clock.ts";
import { NO_TRACING } from "../../src/core/base/observe/tracing.ts";
import { createPeople } from "../../src/core/people/profiles/people.ts";
import { savePeople } from "../../src/core/people/profiles/save-people.ts";
import { createLargeExports, exportByIds } from "../../src/features/export/export-by-ids.ts";
import { createSmallExports } from "../../src/features/export/small-exports.ts";
import type { ExportRequest } from "../../src/features/export/wanted-users.ts";
import { countingDatabase } from "../core/database/counted-statements.ts";
import { openMigrated } from "../databases.ts";
import { testWorkspace } from "../test-context.ts";

const database = await openMigrated();

const workspace = testWorkspace();
const names = (count: number) => Array.from({ length: count }, (_, index) => `user-${index}`);

const people = createPeople([], [], systemClock.newId);
for (const value of names(50)) people.create({ kind: "external_id", value });
const addressed = people.create({ kind: "external_id", value: "addressed" });
people.setEmail(addressed, "addressed@example.com");
await database.transaction((tx) => savePeople(tx, workspace.id, people.changes(systemClock.now())));

/** The statements of concurrent exports, without those that set up their transaction. */
async function statementsOf(...requests: readonly ExportRequest[]): Promise<number> {
  const { database: counting, counted } = countingDatabase(database);
  const smallExports = createSmallExports({ database: counting, tracing: NO_TRACING });
  const services = {
    database: counting,
    clock: systemClock,
    smallExports,
    largeExports: createLargeExports(),
  };
  for (const { users, invalid_user_ids } of await Promise.all(
    requests.map((request) => exportByIds(services, workspace, request)),
  )) {
    assert.ok(users.length > 0);
    assert.equal(invalid_user_ids, undefined);
  }
  assert.equal(counted.transactions, 1);
  return counted.statements.filter((sql) => !sql.startsWith("set ")).length;
}

test("an export of 50 profiles with all default fields takes as many statements as one profile: four", async () => {
  assert.equal(await statementsOf({ external_ids: "user-7" }), 4);
  assert.equal(await statementsOf({ external_ids: names(50) }), 4);
});

test("exports that wait at the same time share their statements, even with different fields", async () => {
  const [first, second, third] = [names(50).slice(0, 20), names(50).slice(10, 40), "user-45"];
  const requests = [{ external_ids: first }, { external_ids: second }, { external_ids: third }];
  assert.equal(await statementsOf(...requests), 4);
  const attributes: ExportRequest = { external_ids: "user-1", fields_to_export: ["first_name"] };
  assert.equal(await statementsOf({ external_ids: first }, attributes), 4);
});

test("an export reads the states of addresses only if a profile has an address", async () => {
  assert.equal(await statementsOf({ external_ids: ["user-7", "addressed"] }), 5);
});

test("an export of attributes alone takes two statements", async () => {
  const fields_to_export: ExportRequest["fields_to_export"] = [
    "external_id",
    "first_name",
    "custom_attributes",
  ];
  const external_ids = ["addressed", ...names(49)];
  assert.equal(await statementsOf({ external_ids, fields_to_export }), 2);
});
