import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { announceServer } from "../../../src/core/admin/secrets/running-servers.ts";
import type { Sealing } from "../../../src/core/admin/secrets/sealing.ts";
import { systemClock } from "../../../src/core/base/clock.ts";
import { evenLanes, lanesFor } from "../../../src/core/database/lanes.ts";
import { migrate } from "../../../src/core/database/migrations/migrate.ts";
import { splitRequest } from "../../../src/core/track/split-request.ts";
import type { Config } from "../../../src/server/config.ts";
import { openDatabase } from "../../../src/server/open-database.ts";
import { ENGINE, testConfig } from "../../harness.ts";

const CASES = [
  { writers: 1, lanes: 3, atOnce: 3 },
  { writers: 2, lanes: 3, atOnce: 2 },
  { writers: 3, lanes: 3, atOnce: 1 },
  { writers: 4, lanes: 4, atOnce: 1 },
  { writers: 40, lanes: 8, atOnce: 1 },
];

for (const { writers, lanes, atOnce } of CASES) {
  test(`if ${writers} processes write to a database, each has ${lanes} lanes and writes to ${atOnce} at a time`, () => {
    const plan = lanesFor(() => writers, 8);
    // The first plan is one for many waiting items.
    assert.deepEqual([plan.inUse(0).count, plan.atOnce()], [lanes, atOnce]);
  });
}

test("the more processes write, the more has to wait before a process uses another lane", async () => {
  const plans = [1, 2, 3].map((writers) => lanesFor(() => writers, 8));
  for (const plan of plans) plan.inUse(600);
  await sleep(1_010);
  assert.deepEqual(
    plans.map((plan) => plan.inUse(600).count),
    [3, 2, 1],
  );
});

describe("servers on one database", () => {
  const skip = ENGINE === "embedded" ? "An embedded database has one server." : false;

  test("servers on one database count those that write, until one has ended", {
    skip,
  }, async () => {
    const config: Config = await testConfig();
    const keys = { current: undefined, previous: undefined };
    const start = async () => {
      const database = await openDatabase(config);
      after(() => database.close());
      await migrate(database, config.citusShards);
      const sealing = { keys } as Sealing;
      return { database, ...(await announceServer({ database, clock: systemClock, sealing })) };
    };
    const one = await start();
    const other = await start();
    assert.deepEqual([await one.renew(), await other.renew()], [1, 1]);

    await other.database.transaction(async () => {});
    assert.deepEqual([await other.renew(), await one.renew()], [1, 2]);
    // It has written since it last announced itself, a moment ago.
    assert.deepEqual([await other.renew(), await one.renew()], [1, 2]);

    await other.withdraw();
    assert.equal(await one.renew(), 1);
  });
});

test("a request is divided among lanes by its users, unless it has to wait for one of them or is recorded", () => {
  const items = Array.from({ length: 60 }, (_, user) => ({
    identifier: { kind: "external_id", value: `user-${user}` },
    addresses: [],
    affectsSharers: false,
    work: { kind: "event" },
  }));
  const context = { workspace: { id: 1, settings: { redirect_merged_ids: false } } };
  const partsOf = (more: object, isAwaited: boolean) =>
    splitRequest({ context, items, ...more } as never, evenLanes(3), isAwaited).map(
      (part) => part.items.length,
    );
  const divided = partsOf({}, false);
  assert.equal(divided.length, 3);
  assert.equal(
    divided.reduce((sum, length) => sum + length, 0),
    60,
  );
  assert.deepEqual(partsOf({}, true), [60]);
  assert.deepEqual(partsOf({ recorded: {} }, false), [60]);
});
