/*
 * How long runs are kept. The log of their rows: retention.test.ts.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { sweepSyncs } from "../../src/features/warehouses/forget.ts";
import { insertRun, selectRunsBeyond } from "../../src/features/warehouses/store.ts";
import { openMigrated } from "../databases.ts";

const database = await openMigrated();

const NOW = new Date("2026-06-30T12:00:00Z");
const daysAgo = (days: number) => new Date(NOW.getTime() - days * 24 * 3_600 * 1_000);

test("the run of a sync is kept for one year", async () => {
  const integrationId = randomUUID();
  const ages = [29, 31, 364, 366];
  const runs = new Map<string, number>(ages.map((age) => [randomUUID(), age]));
  await database.transaction(async (tx) => {
    for (const [runId, age] of runs) {
      await insertRun(tx, { workspaceId: 1, integrationId, runId }, daysAgo(age));
    }
  });
  await sweepSyncs(database, NOW);
  const kept = await selectRunsBeyond(database, 1, integrationId, undefined, true, 10);
  assert.deepEqual(kept.map((run) => runs.get(run.id)).sort(), [29, 31, 364].sort());
});
