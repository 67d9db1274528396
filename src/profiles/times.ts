/**
 * Reads the time of an event or a purchase.
 *
 * Takes ISO 8601 (calendar dates, extended or basic form; the time or its seconds may be left out;
 * a space may stand for the `T`, as RFC 3339 allows) and `yyyy-MM-dd'T'HH:mm:ss:SSSZ` with a
 * numeric zone or the letter Z. No zone is UTC. Returns undefined for anything else, above all for
 * dates that do not exist; nothing is rolled over. spec: Event object; decision: Event time.
 *
 * Further decisions: fractions are cut to milliseconds; 24:00 is the end of its day; second 60 is
 * taken where a leap second can be, the last second of a month in UTC, and is the instant after it,
 * as in POSIX time; offsets reach to 18 hours; years are 1 to 9999, in UTC too: the engines have no
 * year 0.
 */
export const parseTime = (text: string): Date | undefined => toInstant(readIso(text), 9999);

/**
 * Reads a date inside an attribute value: what `parseTime` takes, and also `MM/dd/yyyy`,
 * `MM-dd-yyyy` (one digit is enough for month and day) and `ddd MM dd HH:mm:ss.TZD YYYY`, whose
 * weekday must be right. A date alone is its midnight in UTC. Returns undefined for anything else
 * and for years after 3000. decision: custom attributes.
 */
export const parseAttributeTime = (text: string): Date | undefined =>
  toInstant(readIso(text) ?? readMonthFirst(text) ?? readWeekdayFirst(text), 3000);

/** What a date-time says, still unchecked. */
interface Written {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** The digits after the second, however many; empty when there are none. */
  readonly fraction: string;
  /** East of UTC; NaN where the offset cannot be. */
  readonly offsetMinutes: number;
  /** 0 is Sunday. */
  readonly weekday?: number;
}

/** The widest offset taken. The widest in use is 14 hours, the widest ever was below 16. */
const maxOffsetMinutes = 18 * 60;

const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const zonePattern = "(Z|[+-]\\d\\d(?::?\\d\\d)?)";
const fractionPattern = "[.,](\\d+)";

/** `2020-01-24T11:59:02.402+05:30`; what stands after the day may be left out from the right. */
const extendedForm = new RegExp(
  "^(\\d{4})-(\\d\\d)-(\\d\\d)" +
    `(?:[T ](\\d\\d):(\\d\\d)(?::(\\d\\d)(?:${fractionPattern}|:(\\d{3}))?)?${zonePattern}?)?$`,
  "i",
);

/** `20200124T115902.402+0530`. */
const basicForm = new RegExp(
  "^(\\d{4})(\\d\\d)(\\d\\d)" +
    `(?:T(\\d\\d)(\\d\\d)(?:(\\d\\d)(?:${fractionPattern})?)?${zonePattern}?)?$`,
  "i",
);

/** `1/24/2020` and `1-24-2020`, the month first. */
const monthFirstForm = /^(\d{1,2})([/-])(\d{1,2})\2(\d{4})$/;

/** `Fri 01 24 11:59:02.+05:30 2020`, also with the month's name and a space before the zone. */
const weekdayFirstForm = new RegExp(
  `^(${weekdays.join("|")}) (\\d\\d|${months.join("|")}) (\\d\\d?) ` +
    `(\\d\\d):(\\d\\d):(\\d\\d)[. ](?:${zonePattern}|UTC|GMT) (\\d{4})$`,
  "i",
);

function readIso(text: string): Written | undefined {
  const extended = extendedForm.exec(text);
  if (extended) return written(extended.slice(1, 7), extended[7] ?? extended[8], extended[9]);
  const basic = basicForm.exec(text);
  return basic ? written(basic.slice(1, 7), basic[7], basic[8]) : undefined;
}

function readMonthFirst(text: string): Written | undefined {
  const match = monthFirstForm.exec(text);
  return match ? written([match[4], match[1], match[3]]) : undefined;
}

function readWeekdayFirst(text: string): Written | undefined {
  const match = weekdayFirstForm.exec(text);
  if (!match) return undefined;
  const [, weekday = "", month = "", day, hour, minute, second, offset, year] = match;
  const named = months.indexOf(month.toLowerCase());
  const monthNumber = named < 0 ? month : String(named + 1);
  return {
    ...written([year, monthNumber, day, hour, minute, second], "", offset),
    weekday: weekdays.indexOf(weekday.toLowerCase()),
  };
}

/** `digits` are year, month, day, hour, minute and second; the last three may be absent. */
function written(digits: readonly (string | undefined)[], fraction = "", offset = "Z"): Written {
  const [year, month, day, hour = 0, minute = 0, second = 0] = digits;
  return {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    fraction,
    offsetMinutes: minutesEast(offset),
  };
}

function minutesEast(offset: string): number {
  const sign = offset[0];
  if (sign !== "+" && sign !== "-") return 0;
  const minutes = offset.length > 3 ? Number(offset.slice(-2)) : 0;
  const total = Number(offset.slice(1, 3)) * 60 + minutes;
  if (minutes > 59 || total > maxOffsetMinutes) return Number.NaN;
  return sign === "+" ? total : -total;
}

function toInstant(written: Written | undefined, lastYear: number): Date | undefined {
  const instant = written && midnight(written);
  if (!written || !instant || !isTimeOfDay(written)) return undefined;
  const { hour, minute, second, fraction, offsetMinutes } = written;
  const isLeap = second === 60;
  instant.setUTCHours(hour, minute - offsetMinutes, isLeap ? 59 : second, milliseconds(fraction));
  if (isLeap && !stepOverLeapSecond(instant)) return undefined;
  const year = instant.getUTCFullYear();
  return year >= 1 && year <= lastYear ? instant : undefined;
}

/** The first instant of the day in UTC, undefined where the calendar has no such day. */
function midnight({ year, month, day, weekday }: Written): Date | undefined {
  const date = new Date(0);
  // Date.UTC would take the years 0 to 99 for those of the twentieth century.
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return weekday === undefined || weekday === date.getUTCDay() ? date : undefined;
}

function isTimeOfDay({ hour, minute, second, fraction, offsetMinutes }: Written): boolean {
  if (Number.isNaN(offsetMinutes) || minute > 59 || second > 60) return false;
  const isEndOfDay = hour === 24 && minute === 0 && second === 0 && /^0*$/.test(fraction);
  return hour < 24 || isEndOfDay;
}

const milliseconds = (fraction: string): number => Number(fraction.slice(0, 3).padEnd(3, "0"));

/** Moves on from second 59 to the one after second 60; false where no leap second can be. */
function stepOverLeapSecond(instant: Date): boolean {
  instant.setTime(instant.getTime() + 1000);
  return instant.getUTCDate() === 1 && instant.getTime() % 86_400_000 < 1000;
}
