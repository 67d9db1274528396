import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { parseAttributeTime, parseTime } from "../../../src/core/base/values/times.ts";
import { isoTime } from "../../../src/features/export/iso-time.ts";
import { anyText } from "../../any-text.ts";

type Table = readonly (readonly [text: string, instant: string])[];

const both = [parseTime, parseAttributeTime];

const readAlike: Table = [
  // what existing clients send, the Ruby client among them
  ["2026-11-22 04:00:41 +0000", "2026-11-22T04:00:41.000Z"],
  ["2026-11-22 04:00:41 -0500", "2026-11-22T09:00:41.000Z"],
  ["2026-11-22 04:00:41 UTC", "2026-11-22T04:00:41.000Z"],
  ["2026-11-22 04:00:41.123456789 +0530", "2026-11-21T22:30:41.123Z"],
  ["2020-01-24T11:59:02.403+05:30", "2020-01-24T06:29:02.403Z"],
  ["2024-01-24T13:00:00.500Z", "2024-01-24T13:00:00.500Z"],
  // the form with a colon before the milliseconds, with both kinds of zone and none
  ["2020-01-24T11:59:02:402+0530", "2020-01-24T06:29:02.402Z"],
  ["2020-01-24T11:59:02:402Z", "2020-01-24T11:59:02.402Z"],
  ["2020-01-24T11:59:02:402", "2020-01-24T11:59:02.402Z"],
  // no zone is UTC
  ["2020-01-24T11:59:02", "2020-01-24T11:59:02.000Z"],
  ["2020-01-24 11:59:02", "2020-01-24T11:59:02.000Z"],
  ["2020-01-24T11:59", "2020-01-24T11:59:00.000Z"],
  ["2020-01-24", "2020-01-24T00:00:00.000Z"],
  // letters in either case
  ["2020-01-24t11:59:02z", "2020-01-24T11:59:02.000Z"],
  // basic form
  ["20200124T115902Z", "2020-01-24T11:59:02.000Z"],
  ["20200124T115902,402-0800", "2020-01-24T19:59:02.402Z"],
  ["20200124T1159", "2020-01-24T11:59:00.000Z"],
  ["20200124", "2020-01-24T00:00:00.000Z"],
  // week and ordinal dates, in both forms
  ["2020-W04-5", "2020-01-24T00:00:00.000Z"],
  ["2020W045T115902Z", "2020-01-24T11:59:02.000Z"],
  ["2020-W01-1", "2019-12-30T00:00:00.000Z"],
  ["2020-W53-7T23:59Z", "2021-01-03T23:59:00.000Z"],
  ["2026-W47-7T04:00:41+01:00", "2026-11-22T03:00:41.000Z"],
  ["2020-024T11:59:02Z", "2020-01-24T11:59:02.000Z"],
  ["2020366", "2020-12-31T00:00:00.000Z"],
  // only the hour, and fractions of the last part
  ["2020-01-24T11Z", "2020-01-24T11:00:00.000Z"],
  ["20200124T11+0100", "2020-01-24T10:00:00.000Z"],
  ["2020-01-24T11.5Z", "2020-01-24T11:30:00.000Z"],
  ["2020-01-24T11:59,25", "2020-01-24T11:59:15.000Z"],
  // fractions: a comma is one too, what is finer than a millisecond is cut
  ["2020-01-24T11:59:02,5Z", "2020-01-24T11:59:02.500Z"],
  ["2020-01-24T11:59:02.999999999Z", "2020-01-24T11:59:02.999Z"],
  ["1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"],
  // offsets
  ["2020-01-24T11:59:02+05", "2020-01-24T06:59:02.000Z"],
  ["2020-01-24T11:59:02-00:00", "2020-01-24T11:59:02.000Z"],
  ["2020-01-24T11:59:02+14:00", "2020-01-23T21:59:02.000Z"],
  ["2020-01-24T11:59:02-18:00", "2020-01-25T05:59:02.000Z"],
  // the end of a day
  ["2020-02-28T24:00:00.000Z", "2020-02-29T00:00:00.000Z"],
  ["2020-02-28T24:00", "2020-02-29T00:00:00.000Z"],
  // leap years; second 60 is the instant after second 59, in any minute
  ["2016-12-30T23:59:60Z", "2016-12-31T00:00:00.000Z"],
  ["2026-11-22T04:00:60+01:00", "2026-11-22T03:01:00.000Z"],
  ["2020-02-29", "2020-02-29T00:00:00.000Z"],
  ["2000-02-29", "2000-02-29T00:00:00.000Z"],
  ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
  ["2016-12-31T23:59:60.250Z", "2017-01-01T00:00:00.250Z"],
  ["2017-01-01T05:29:60+05:30", "2017-01-01T00:00:00.000Z"],
  ["1966-06-30T23:59:60Z", "1966-07-01T00:00:00.000Z"],
  // years that Date.UTC would move
  ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
  ["0099-12-31T23:59:59Z", "0099-12-31T23:59:59.000Z"],
];

const refusedByBoth = [
  ...["", " ", "now", "2020", "2020-01", "12:00:00", "1579867142"],
  // weeks and days that the year lacks
  ...["2021-W53-1", "2020-W00-1", "2020-W54-1", "2020-W04-8", "2020-W04", "2021-366", "2020-000"],
  ...["2020-W045", "2020W04-5"],
  // days, months and times that are not
  ...["2020-02-30", "2021-02-29", "1900-02-29", "2020-04-31", "2020-13-01", "2020-00-10"],
  ...["2020-01-00", "2020-01-32T00:00:00Z", "20210229", "2020-01-24T25:00:00Z"],
  ...["2020-01-24T11:60:00Z", "2020-01-24T11:59:61Z", "2020-01-24T24:00:01Z"],
  ...["2020-01-24T24:01:00Z", "2020-01-24T24:00:00.001Z", "2020-01-24T24:00:00.0001Z"],
  // offsets that are not
  ...["2020-01-24T11:59:02+18:01", "2020-01-24T11:59:02+25:00", "2020-01-24T11:59:02+05:60"],
  ...["2020-01-24T11:59:02+5:30", "2020-01-24T11:59:02PST"],
  ...["2020-01-24Z", "2020-01-24+05:30"],
  // loose forms
  ...["2020-1-24", "2020-01-24T1:59:02Z", "2020-01-24T11:59:02.Z"],
  ...["2020-01-24T11:59:02:402.5Z", "2020-01-24T11:59:402Z", "2020-01-24T11:59:02  UTC"],
  ...["2020-01-24T11:59:02:40Z", "2020-01-24T11:59:02:4021Z", "2020/01/24", "24.01.2020"],
  ...["2020-01-24  11:59:02", " 2020-01-24", "2020-01-24\n", "2020-01-24T11:59:02Z junk"],
  ...["２０２０-01-24", "20-01-24", "-0001-01-01T00:00:00Z", "+002020-01-24T00:00:00Z"],
  // years that leave 1 to 9999 once the zone is taken off
  ...[
    "0000-12-31T23:59:59Z",
    "0001-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59-01:00",
    "9999-12-31T24:00:00Z",
  ],
  "9999-12-31T23:59:60Z",
];

describe("times of events and attributes are read in every form of ISO 8601", () => {
  for (const [text, instant] of readAlike) {
    test(`${text} is read as ${instant}`, () => {
      for (const parse of both) assert.equal(parse(text)?.toISOString(), instant);
    });
  }

  for (const text of refusedByBoth) {
    test(`${JSON.stringify(text)} is refused as a time, and not rolled over`, () => {
      for (const parse of both) assert.equal(parse(text), undefined);
    });
  }

  test("the last year for an event is 9999, and for the date of an attribute 3000", () => {
    assert.equal(parseTime("9999-12-31T23:59:59.999Z")?.getUTCFullYear(), 9999);
    assert.equal(parseAttributeTime("3000-12-31T23:59:59Z")?.getUTCFullYear(), 3000);
    assert.equal(parseAttributeTime("3001-01-01"), undefined);
    assert.equal(parseAttributeTime("3000-12-31T23:59:59-01:00"), undefined);
  });

  test("every instant of the years 1 to 9999 is read back from its ISO form", () => {
    const instants = fc.date({
      min: new Date("0001-01-01T00:00:00.000Z"),
      max: new Date("9999-12-31T23:59:59.999Z"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instants, (instant) => {
        assert.deepEqual(parseTime(instant.toISOString()), instant);
        assert.deepEqual(parseTime(instant.toISOString().replace(/\.(\d+)Z/, ":$1Z")), instant);
      }),
    );
  });

  test("an offset shifts the instant by exactly its amount", () => {
    const offsets = fc.record({
      sign: fc.constantFrom("+", "-"),
      hours: fc.integer({ min: 0, max: 17 }),
      minutes: fc.integer({ min: 0, max: 59 }),
    });
    fc.assert(
      fc.property(offsets, ({ sign, hours, minutes }) => {
        const two = (number: number) => String(number).padStart(2, "0");
        const parsed = parseTime(`2020-02-28T12:00:00${sign}${two(hours)}:${two(minutes)}`);
        const moved = (hours * 60 + minutes) * 60_000 * (sign === "+" ? -1 : 1);
        assert.equal(parsed?.getTime(), Date.UTC(2020, 1, 28, 12) + moved);
      }),
    );
  });

  test("a date is accepted only if the calendar has that day", () => {
    const dates = fc.tuple(
      fc.integer({ min: 1000, max: 2999 }),
      fc.integer({ min: 0, max: 99 }),
      fc.integer({ min: 0, max: 99 }),
    );
    fc.assert(
      fc.property(dates, ([year, month, day]) => {
        const text = [year, ...[month, day].map((n) => String(n).padStart(2, "0"))].join("-");
        const exists =
          month >= 1 && month <= 12 && day >= 1 && day <= new Date(year, month, 0).getDate();
        assert.equal(parseTime(text)?.toISOString().slice(0, 10), exists ? text : undefined);
      }),
    );
  });

  test("no text makes a time parser throw", () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        for (const parse of both) parse(text);
      }),
    );
  });
});

describe("times of attributes only", () => {
  const table: Table = [
    ["01/24/2020", "2020-01-24T00:00:00.000Z"],
    ["12/1/2021", "2021-12-01T00:00:00.000Z"],
    ["12-1-2021", "2021-12-01T00:00:00.000Z"],
    ["Fri 01 24 11:59:02.Z 2020", "2020-01-24T11:59:02.000Z"],
    ["Fri 01 24 11:59:02.+05:30 2020", "2020-01-24T06:29:02.000Z"],
    ["Fri Jan 24 11:59:02 UTC 2020", "2020-01-24T11:59:02.000Z"],
    ["fri jan 3 11:59:02 -0800 2020", "2020-01-03T19:59:02.000Z"],
  ];
  for (const [text, instant] of table) {
    test(`${text} is read as ${instant} in an attribute and refused in an event`, () => {
      assert.equal(parseAttributeTime(text)?.toISOString(), instant);
      assert.equal(parseTime(text), undefined);
    });
  }

  const refused = [
    ...["24/01/2020", "02/30/2020", "0/1/2020", "1/0/2020", "01/24/20", "01/24-2020"],
    ...["Thu 01 24 11:59:02.Z 2020", "Xyz 01 24 11:59:02.Z 2020", "Fri Foo 24 11:59:02.Z 2020"],
    ...["Fri 01 24 11:59:02.PST 2020", "Fri 13 24 11:59:02.Z 2020", "Fri 01 24 11:59:02 2020"],
  ];
  for (const text of refused) {
    test(`${text} is refused as the time of an attribute`, () =>
      assert.equal(parseAttributeTime(text), undefined));
  }
});

test("a time in any year is written as toISOString writes it", () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), (time) => {
      assert.equal(isoTime(time), time.toISOString());
    }),
  );
  for (const time of [0, -1, 59_999, 86_399_999, 253_402_300_800_000, -62_198_755_200_000]) {
    assert.equal(isoTime(new Date(time)), new Date(time).toISOString());
  }
  assert.throws(() => isoTime(new Date(Number.NaN)), RangeError);
});
