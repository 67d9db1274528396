import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { lendFromWindow } from "../../../../../src/core/admin/access/limit-store.ts";
import {
  createLimitWindows,
  type Lender,
  type Limit,
  lendToOneProcess,
} from "../../../../../src/core/admin/access/limit-windows.ts";
import { openMigrated } from "../../../../databases.ts";

/* The shared windows on a real database, with a clock that the test decides. */

const database = await openMigrated();

/** Milliseconds on the clock that never jumps. */
let now = 0;
/** How far the time of day is ahead of it. */
let ahead = Date.parse("2026-01-01T00:00:00Z");
const clock = { now: () => new Date(ahead + now), elapsedMs: () => now, newId: () => "" };

const lendShared: Lender = (limit, wanted) => lendFromWindow(database, limit, wanted, clock.now());

let names = 0;
const limitOf = (requests: number, perSeconds = 60): Limit => ({
  name: `limit-${++names}`,
  requests,
  perSeconds,
});

let statements = 0;
const processes = (count: number) =>
  Array.from({ length: count }, () =>
    createLimitWindows((limit, wanted) => {
      statements++;
      return lendShared(limit, wanted);
    }, clock),
  );

async function letThrough(
  take: ReturnType<typeof createLimitWindows>,
  limit: Limit,
  count: number,
) {
  const states = await Promise.all(Array.from({ length: count }, () => take(limit)));
  return states.filter((state) => state.isTaken).length;
}

describe("rate limit windows shared by several processes", () => {
  test("processes that share a rate limit window never exceed the limit together", async () => {
    const turn = fc.record({
      process: fc.nat({ max: 2 }),
      requests: fc.integer({ min: 1, max: 40 }),
      later: fc.nat({ max: 500 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 100 }),
        fc.array(fc.array(turn, { maxLength: 4 }), { maxLength: 8 }),
        async (requests, rounds) => {
          // Longer than all rounds take: it is one window.
          const limit = limitOf(requests, 60);
          const all = processes(3);
          let taken = 0;
          for (const round of rounds) {
            const counts = round.map((each) =>
              letThrough(all[each.process] as (typeof all)[0], limit, each.requests),
            );
            taken += (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
            now += round[0]?.later ?? 0;
          }
          assert.ok(taken <= requests, `${taken} of ${requests}`);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("a single process gets exactly the whole rate limit", async () => {
    for (const requests of [1, 10, 1_000, 3_000]) {
      const [take] = processes(1) as [ReturnType<typeof createLimitWindows>];
      const limit = limitOf(requests);
      let taken = 0;
      for (let round = 0; round < 20; round++) {
        taken += await letThrough(take, limit, Math.ceil(requests / 15));
        now += 20;
      }
      assert.equal(taken, requests);
    }
  });

  test("a small rate limit is exact across several processes", async () => {
    const all = processes(3);
    const limit = limitOf(39);
    const taken: boolean[] = [];
    for (let turn = 0; turn < 41; turn++) {
      const take = all[turn % 3] as (typeof all)[0];
      taken.push((await take(limit)).isTaken);
    }
    assert.deepEqual(taken, [...Array(39).fill(true), false, false]);
  });

  test("an idle process withholds less than a sixteenth of a shared rate limit", async () => {
    const [busy, quiet] = processes(2) as [
      ReturnType<typeof createLimitWindows>,
      ReturnType<typeof createLimitWindows>,
    ];
    const limit = limitOf(3_000);
    let taken = 0;
    for (let round = 0; round < 30; round++) {
      taken += await letThrough(quiet, limit, 30);
      now += 10;
    }
    for (let round = 0; round < 100; round++) {
      taken += await letThrough(busy, limit, 50);
      now += 10;
    }
    assert.ok(taken <= 3_000 && taken > 3_000 * (15 / 16), `${taken}`);
  });

  test("under load, one database statement serves many rate-limited requests, and a full window needs none", async () => {
    const [take] = processes(1) as [ReturnType<typeof createLimitWindows>];
    const limit = limitOf(20_000);
    for (let round = 0; round < 10; round++) {
      await letThrough(take, limit, 100);
      now += 10;
    }
    statements = 0;
    for (let round = 0; round < 50; round++) {
      await letThrough(take, limit, 100);
      now += 10;
    }
    assert.ok(statements <= 20, `${statements} statements for 5,000 requests`);
    while ((await letThrough(take, limit, 1_000)) > 0) now += 1;
    statements = 0;
    assert.equal(await letThrough(take, limit, 1_000), 0);
    assert.equal(statements, 0);
  });

  test("a rate limit window ends at the same time in all processes, and the next request starts a new one", async () => {
    const [one, other] = processes(2) as [
      ReturnType<typeof createLimitWindows>,
      ReturnType<typeof createLimitWindows>,
    ];
    const limit = limitOf(2);
    const first = await one(limit);
    now += 1_000;
    const second = await other(limit);
    assert.deepEqual([second.isTaken, second.remaining], [true, 0]);
    assert.equal(second.endsInMs, first.endsInMs - 1_000);
    assert.equal((await one(limit)).isTaken, false);
    now += second.endsInMs;
    const next = await other(limit);
    assert.deepEqual([next.isTaken, next.remaining], [true, 1]);
    assert.equal(next.endsInMs, 60_000);
  });

  test("a changed number of requests applies to the running rate limit window", async () => {
    const [one, other] = processes(2) as [
      ReturnType<typeof createLimitWindows>,
      ReturnType<typeof createLimitWindows>,
    ];
    const limit = limitOf(2);
    assert.equal(await letThrough(one, limit, 3), 2);
    assert.equal(await letThrough(other, { ...limit, requests: 5 }, 5), 3);
    assert.equal(await letThrough(one, { ...limit, requests: 1 }, 1), 0);
  });

  test("a rate-limited request fails if the database is unavailable, and the next request tries again", async () => {
    let isDown = true;
    const take = createLimitWindows(async (limit, wanted) => {
      if (isDown) throw new Error("no connection");
      return lendShared(limit, wanted);
    }, clock);
    const limit = limitOf(1);
    await assert.rejects(take(limit), /no connection/);
    isDown = false;
    assert.equal((await take(limit)).isTaken, true);
  });
});

describe("a rate limit window of a single process", () => {
  test("a single process counts its rate limit exactly and without the database", async () => {
    const take = createLimitWindows(lendToOneProcess(clock), clock);
    const limit = limitOf(3);
    const states = [await take(limit), await take(limit), await take(limit), await take(limit)];
    assert.deepEqual(
      states.map(({ isTaken, remaining }) => [isTaken, remaining]),
      [
        [true, 2],
        [true, 1],
        [true, 0],
        [false, 0],
      ],
    );
    now += 60_000;
    assert.deepEqual((await take(limit)).remaining, 2);
  });
});

describe("a clock that jumps", () => {
  const lenders = {
    "shared by all processes": lendShared,
    "of the only process": lendToOneProcess(clock),
  };
  for (const [where, lend] of Object.entries(lenders)) {
    for (const [direction, jumpMs] of [
      ["an hour ahead", 3_600_000],
      ["an hour back", -3_600_000],
      ["two seconds back", -2_000],
    ] as const) {
      test(`after a clock jumps ${direction}, a window ${where} accepts what was left of its limit and ends soon`, async () => {
        const limit = limitOf(1_000, 3);
        const take = createLimitWindows(lend, clock);
        assert.equal(await letThrough(take, limit, 10), 10);
        ahead += jumpMs;
        for (let round = 0; round < 5; round++) {
          now += 100;
          assert.equal(await letThrough(take, limit, 10), 10);
        }
        while ((await letThrough(take, limit, 1_000)) > 0);
        // A shared window that ends by the clock of before is shortened once it is leased again.
        for (let second = 1; second <= 6 && (await letThrough(take, limit, 1)) === 0; second++) {
          now += 1_000;
        }
        assert.equal(await letThrough(take, limit, 10), 10);
      });
    }

    test(`after a clock jumps 30 days ahead and back, a full window ${where} blocks for at most one window length, even after a restart`, async () => {
      const limit = limitOf(2);
      ahead += 30 * 86_400_000;
      const take = createLimitWindows(lend, clock);
      assert.equal(await letThrough(take, limit, 3), 2);
      ahead -= 30 * 86_400_000;
      const restarted = createLimitWindows(lend, clock);
      for (const each of [take, restarted]) {
        const { isTaken, endsInMs } = await each(limit);
        assert.equal(isTaken, false);
        assert.ok(endsInMs <= 60_000, `ends in ${endsInMs} ms`);
      }
      now += 60_000;
      assert.equal((await take(limit)).isTaken, true);
    });
  }
});
