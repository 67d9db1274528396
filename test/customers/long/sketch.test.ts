import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { dateOf, dayAt, daysIn } from "../../../src/features/customers/days.ts";
import {
  addMark,
  addPacked,
  addSketch,
  emptySketch,
  estimate,
  markOf,
  packSketch,
} from "../../../src/features/customers/sketch.ts";

const sketchOf = (ids: readonly string[]) => {
  const sketch = emptySketch();
  for (const id of ids) addMark(sketch, markOf(id));
  return sketch;
};

const idsOf = (count: number) => Array.from({ length: count }, () => randomUUID());

describe("a sketch of users", () => {
  test("estimates how many there are within 2 %, for few and for many", () => {
    for (const count of [0, 1, 10, 100, 2_000, 50_000, 300_000]) {
      const found = estimate(sketchOf(idsOf(count)));
      assert.ok(Math.abs(found - count) <= count * 0.02, `${found} instead of ${count}`);
    }
  });

  test("counts a user once, however often added, also in the union of two sketches", () => {
    const [one, other] = [idsOf(3_000), idsOf(2_000)];
    const sketch = sketchOf([...one, ...one]);
    addSketch(sketch, sketchOf([...one.slice(0, 1_000), ...other]));
    assert.ok(Math.abs(estimate(sketch) - 5_000) <= 100);
  });

  test("is the same after it was packed, with few and with many registers", () => {
    for (const count of [0, 5, 1_000, 40_000]) {
      const sketch = sketchOf(idsOf(count));
      const unpacked = emptySketch();
      addPacked(unpacked, packSketch(sketch));
      assert.deepEqual(unpacked, sketch);
    }
  });
});

describe("days in a time zone", () => {
  test("begin at its midnight, also where the clocks change and where midnight does not exist", () => {
    const cases = [
      ["UTC", "2026-03-29T23:59:59.999Z", "2026-03-29"],
      ["Europe/Berlin", "2026-03-28T22:59:59.999Z", "2026-03-28"],
      ["Europe/Berlin", "2026-03-28T23:00:00.000Z", "2026-03-29"],
      ["Europe/Berlin", "2026-03-29T21:59:59.999Z", "2026-03-29"],
      ["Europe/Berlin", "2026-03-29T22:00:00.000Z", "2026-03-30"],
      ["Asia/Kathmandu", "2026-04-01T18:14:59.999Z", "2026-04-01"],
      ["Asia/Kathmandu", "2026-04-01T18:15:00.000Z", "2026-04-02"],
      ["America/Santiago", "2026-04-05T03:59:59.999Z", "2026-04-05"],
      ["Africa/Cairo", "2026-04-23T22:00:00.000Z", "2026-04-24"],
      ["Africa/Cairo", "2026-04-23T21:59:59.999Z", "2026-04-23"],
    ] as const;
    for (const [zone, time, expected] of cases) {
      const days = daysIn(zone, new Date("2026-05-01T12:00:00Z"));
      const day = dayAt(days, Date.parse(time));
      const formatted = new Intl.DateTimeFormat("en-CA", { timeZone: zone }).format(new Date(time));
      assert.equal(day === undefined ? undefined : dateOf(day), formatted, `${zone} ${time}`);
      if (zone !== "America/Santiago") assert.equal(formatted, expected);
    }
  });

  test("a time before the oldest and after tomorrow is in none", () => {
    const days = daysIn("UTC", new Date("2026-05-01T12:00:00Z"));
    assert.equal(dayAt(days, Date.parse("2025-10-03T23:59:59Z")), undefined);
    assert.equal(dayAt(days, Date.parse("2026-05-02T23:59:59Z")), days.today + 1);
    assert.equal(dayAt(days, Date.parse("2026-05-03T00:00:00Z")), undefined);
  });
});
