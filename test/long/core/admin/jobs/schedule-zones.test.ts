/* Schedules in time zones, over the changes of their clocks. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { nextTime } from "../../../../../src/core/admin/jobs/schedule.ts";

function runsOf(cron: string, timeZone: string, after: string, count: number): string[] {
  const runs: string[] = [];
  for (let at = new Date(after); runs.length < count; ) {
    at = nextTime({ cron, timeZone }, at) as Date;
    runs.push(at.toISOString().slice(0, 16));
  }
  return runs;
}

describe("a schedule in a time zone", () => {
  const cases: [title: string, cron: string, zone: string, after: string, runs: string[]][] = [
    [
      "a time that the clock leaves out comes at the first moment after it",
      "30 2 * * *",
      "Europe/Berlin",
      "2026-03-28T12:00Z",
      ["2026-03-29T01:00", "2026-03-30T00:30"],
    ],
    [
      "a time that the clock shows twice comes once",
      "30 2 * * *",
      "Europe/Berlin",
      "2026-10-24T12:00Z",
      ["2026-10-25T00:30", "2026-10-26T01:30"],
    ],
    [
      "each of several times that the clock leaves out comes at the first moment after it",
      "30 2,14 * * *",
      "Europe/Berlin",
      "2026-03-28T14:00Z",
      ["2026-03-29T01:00", "2026-03-29T12:30", "2026-03-30T00:30"],
    ],
    [
      "each of several times that the clock shows twice comes once",
      "15,45 1-2 * * *",
      "America/New_York",
      "2026-11-01T04:00Z",
      ["2026-11-01T05:15", "2026-11-01T05:45", "2026-11-01T07:15", "2026-11-01T07:45"],
    ],
    [
      "what comes every half hour goes on through an hour that comes twice",
      "*/30 * * * *",
      "America/New_York",
      "2026-11-01T05:00Z",
      ["2026-11-01T05:30", "2026-11-01T06:00", "2026-11-01T06:30", "2026-11-01T07:00"],
    ],
    [
      "a clock may change by half an hour",
      "15 2 * * *",
      "Australia/Lord_Howe",
      "2026-10-02T20:00Z",
      ["2026-10-03T15:30", "2026-10-04T15:15"],
    ],
    [
      "a zone may differ from UTC by three quarters of an hour",
      "0 9 * * *",
      "Asia/Kathmandu",
      "2026-01-01T00:00Z",
      ["2026-01-01T03:15"],
    ],
  ];
  for (const [title, cron, zone, after, runs] of cases) {
    test(`${title}: ${zone}`, () => {
      assert.deepEqual(runsOf(cron, zone, after, runs.length), runs);
    });
  }

  test("a zone that this server does not know is taken for UTC", () => {
    assert.deepEqual(runsOf("0 9 * * *", "Mars/Base", "2026-01-01T00:00Z", 1), [
      "2026-01-01T09:00",
    ]);
  });

  test("what comes daily comes once on each day of the zone, at its time or, if there is none, at the first one after it", () => {
    const zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca"];
    const time = fc.record({
      hour: fc.nat(23),
      minute: fc.nat(59),
      zone: fc.constantFrom(...zones),
    });
    fc.assert(
      fc.property(time, ({ hour, minute, zone }) => {
        const shown = new Intl.DateTimeFormat("en-CA", {
          timeZone: zone,
          dateStyle: "short",
          timeStyle: "short",
          hourCycle: "h23",
        });
        const wanted = `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
        const runs = runsOf(`${minute} ${hour} * * *`, zone, "2026-01-01T12:00Z", 366);
        const local = runs.map((run) => shown.format(new Date(`${run}Z`)).split(", "));
        assert.equal(new Set(local.map(([day]) => day)).size, runs.length);
        for (const [index, [day, at = ""]] of local.entries()) {
          if (at === wanted) continue;
          // A minute earlier the clock showed a time before the wanted one, on the same day.
          const before = new Date(Date.parse(`${runs[index]}Z`) - 60_000);
          const [dayBefore, timeBefore = ""] = shown.format(before).split(", ");
          assert.ok(dayBefore === day && timeBefore < wanted && at > wanted, `${day} ${at}`);
        }
      }),
      { numRuns: 20 },
    );
  });
});
