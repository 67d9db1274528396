/* How a size is concluded from a sample. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sizeFrom } from "../../../src/features/segments/estimate.ts";
import { BEFORE_ALL } from "../../../src/features/segments/members-store.ts";

const SAMPLE = { kind: "sample", size: 5_000 } as const;

/** The share of users from which a sample can be drawn. */
const DRAWN = 1 / 4;

const RUNS = 600;

/** A generator of numbers from 0 to 1 that is the same in every run (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draws a sample as the index has it: the users with the lowest chances. */
function sampleOf(users: number, matchingShare: number, random: () => number) {
  // The chances of users in order are sums of exponential steps.
  let [chance, seen, matching] = [0, 0, 0];
  while (seen < SAMPLE.size) {
    // Among n random numbers the next one is at a share of 1 / n of the rest.
    const next = chance + ((1 - chance) * -Math.log(1 - random())) / (users - seen);
    if (next > DRAWN) break;
    chance = next;
    if (random() < (users * matchingShare - matching) / (users - seen)) matching += 1;
    seen += 1;
  }
  const highestChance = Math.floor(chance * 2 ** 32)
    .toString(16)
    .padStart(8, "0");
  return { seen, matching, lastId: "", highestChance };
}

test("the interval of an estimate holds the true number in at least 93 of 100 samples, for common and rare segments", () => {
  const random = randomNumbers(7);
  for (const users of [6_000, 19_000, 30_000, 1_000_000, 10_000_000]) {
    for (const share of [0.0005, 0.01, 0.2, 0.9]) {
      let held = 0;
      for (let run = 0; run < RUNS; run++) {
        const { low, high } = sizeFrom(SAMPLE, sampleOf(users, share, random));
        if (low <= users * share && users * share <= high) held += 1;
      }
      assert.ok(held >= 0.93 * RUNS, `${users} users, share ${share}: ${held} of ${RUNS}`);
    }
  }
});

test("an estimate of users whose number is known is about all of them, and its interval holds as often", () => {
  const random = randomNumbers(13);
  for (const users of [6_731, 1_000_000]) {
    for (const share of [0, 0.01, 0.9, 1]) {
      let held = 0;
      for (let run = 0; run < RUNS; run++) {
        const size = sizeFrom(SAMPLE, sampleOf(users, share, random), users);
        assert.equal(size.total, users);
        assert.ok(size.low <= size.matching && size.matching <= size.high && size.high <= users);
        if (size.low <= users * share && users * share <= size.high) held += 1;
      }
      assert.ok(held >= 0.93 * RUNS, `${users} users, share ${share}: ${held} of ${RUNS}`);
    }
  }
});

test("an estimate of a segment is within a few percent of all users, and so is their total", () => {
  const random = randomNumbers(11);
  const { total, matching, low, high, exact } = sizeFrom(SAMPLE, sampleOf(1_000_000, 0.3, random));
  assert.equal(exact, false);
  assert.ok(Math.abs(total - 1_000_000) < 50_000, String(total));
  assert.ok(Math.abs(matching - 300_000) < 30_000, String(matching));
  assert.ok(low <= matching && matching <= high && high - low < 60_000);
});

test("a workspace with few users is counted exactly", () => {
  const count = { seen: 5_999, matching: 12, lastId: "", highestChance: "00000fff" };
  const everyone = { kind: "next", after: BEFORE_ALL, size: 10_000 } as const;
  assert.deepEqual(sizeFrom(everyone, count), {
    total: 5_999,
    matching: 12,
    low: 12,
    high: 12,
    exact: true,
  });
});

test("a segment that nobody in the sample meets may still have a few users", () => {
  const sample = { ...sampleOf(1_000_000, 0, randomNumbers(3)), matching: 0 };
  const { matching, low, high } = sizeFrom(SAMPLE, sample);
  assert.deepEqual([matching, low], [0, 0]);
  assert.ok(high > 200 && high < 2_000, String(high));
});
