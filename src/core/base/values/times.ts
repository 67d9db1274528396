/**
 * Reads the time of an event or a purchase.
 *
 * Accepts ISO 8601 (calendar, week and ordinal dates, extended or basic form; the time, its seconds
 * or its minutes may be left out, and the last part may have a fraction; a space may replace the
 * `T`), `yyyy-MM-dd'T'HH:mm:ss:SSSZ`, and what Ruby writes: `2026-11-22 04:00:41 +0000` and `… UTC`.
 * No zone is UTC. Returns undefined for anything else, such as a day that the calendar lacks.
 * spec: Event object; docs/decisions/times.md.
 */
export const parseTime = (text: string): Date | undefined => toInstant(readIso(text), 9999);

/**
 * Reads a time as `parseTime` does, and returns ISO 8601 in UTC with microseconds, which a `Date` cannot hold: `2026-01-31T12:00:00.123456Z`.
 */
export function parseTimeExactly(text: string): string | undefined {
  const written = readIso(text);
  const time = toInstant(written, 9999);
  if (!written || !time) return undefined;
  const beyond = written.lastPartMs === 1_000 ? written.fraction.slice(3, 6) : "";
  return time.toISOString().replace("Z", `${beyond.padEnd(3, "0")}Z`);
}

/**
 * Reads a date inside an attribute value: what `parseTime` accepts, and also `MM/dd/yyyy`,
 * `MM-dd-yyyy` (one digit is enough for month and day) and `ddd MM dd HH:mm:ss.TZD YYYY`, whose
 * weekday must be right. A date without a time is its midnight in UTC. Returns undefined for
 * anything else and for years after 3000. docs/decisions/times.md
 */
export const parseAttributeTime = (text: string): Date | undefined =>
  toInstant(readIso(text) ?? readMonthFirst(text) ?? readWeekdayFirst(text), 3000);

interface Written {
  /** The first instant of the day in UTC; undefined if the calendar lacks the day. */
  readonly midnight: Date | undefined;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** The digits of the fraction of the last part; empty when there are none. */
  readonly fraction: string;
  /** The length of one unit of the last part. */
  readonly lastPartMs: number;
  /** East of UTC; NaN if there is no such offset. */
  readonly offsetMinutes: number;
}

type Digits = string | undefined;

/**
 * The widest offset accepted. The widest offset in use is 14 hours, the widest ever was below 16.
 */
const maxOffsetMinutes = 18 * 60;

const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const zone = "(?: ?(Z|UTC|[+-]\\d\\d(?::?\\d\\d)?))?";
const fraction = "(?:[.,](\\d+))?";

/** `2020-01-24T11:59:02.402+05:30`, also `2020-W04-5` and `2020-024`. */
const extendedForm = new RegExp(
  "^(\\d{4})-(?:(\\d\\d)-(\\d\\d)|W(\\d\\d)-([1-7])|(\\d{3}))" +
    `(?:[T ](\\d\\d)(?::(\\d\\d)(?::(\\d\\d)(?::(\\d{3})(?![.,]))?)?)?${fraction}${zone})?$`,
  "i",
);

/** `20200124T115902.402+0530`, also `2020W045` and `2020024`. */
const basicForm = new RegExp(
  "^(\\d{4})(?:(\\d\\d)(\\d\\d)|W(\\d\\d)([1-7])|(\\d{3}))" +
    `(?:T(\\d\\d)(?:(\\d\\d)(?:(\\d\\d)())?)?${fraction}${zone})?$`,
  "i",
);

/** `1/24/2020` and `1-24-2020`, the month first. */
const monthFirstForm = /^(\d{1,2})([/-])(\d{1,2})\2(\d{4})$/;

/** `Fri 01 24 11:59:02.+05:30 2020`, also with the month's name and a space before the zone. */
const weekdayFirstForm = new RegExp(
  `^(${weekdays.join("|")}) (\\d\\d|${months.join("|")}) (\\d\\d?) ` +
    "(\\d\\d):(\\d\\d):(\\d\\d)[. ](Z|UTC|GMT|[+-]\\d\\d(?::?\\d\\d)?) (\\d{4})$",
  "i",
);

function readIso(text: string): Written | undefined {
  const match = extendedForm.exec(text) ?? basicForm.exec(text);
  if (!match) return undefined;
  const [, year, month, day, week, weekday, ordinal, ...time] = match;
  const midnight =
    month !== undefined
      ? calendarDay(Number(year), Number(month), Number(day))
      : week !== undefined
        ? weekDay(Number(year), Number(week), Number(weekday))
        : ordinalDay(Number(year), Number(ordinal));
  const [hour, minute, second, milliseconds, fractionDigits, offset] = time;
  return written(midnight, [hour, minute, second], milliseconds || fractionDigits, offset);
}

function readMonthFirst(text: string): Written | undefined {
  const match = monthFirstForm.exec(text);
  if (!match) return undefined;
  return written(calendarDay(Number(match[4]), Number(match[1]), Number(match[3])), []);
}

function readWeekdayFirst(text: string): Written | undefined {
  const match = weekdayFirstForm.exec(text);
  if (!match) return undefined;
  const [, weekday = "", month = "", day, hour, minute, second, offset, year] = match;
  const named = months.indexOf(month.toLowerCase());
  const midnight = calendarDay(Number(year), named < 0 ? Number(month) : named + 1, Number(day));
  if (midnight?.getUTCDay() !== weekdays.indexOf(weekday.toLowerCase())) return undefined;
  return written(midnight, [hour, minute, second], undefined, offset);
}

function written(
  midnight: Date | undefined,
  [hour = "0", minute, second]: readonly Digits[],
  fractionDigits: Digits = "",
  offset: Digits = "Z",
): Written {
  return {
    midnight,
    hour: Number(hour),
    minute: Number(minute ?? 0),
    second: Number(second ?? 0),
    fraction: fractionDigits,
    lastPartMs: second !== undefined ? 1_000 : minute !== undefined ? 60_000 : 3_600_000,
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

/** Second 60 is the instant after second 59, as in POSIX time. */
function toInstant(written: Written | undefined, lastYear: number): Date | undefined {
  const instant = written?.midnight;
  if (!instant || !isTimeOfDay(written)) return undefined;
  const { hour, minute, second, offsetMinutes } = written;
  instant.setUTCHours(hour, minute - offsetMinutes, second, millisecondsOf(written));
  const year = instant.getUTCFullYear();
  return year >= 1 && year <= lastYear ? instant : undefined;
}

function calendarDay(year: number, month: number, day: number): Date | undefined {
  const date = new Date(0);
  // Date.UTC would read the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date : undefined;
}

function ordinalDay(year: number, day: number): Date | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, 0, day);
  return day > 0 && date.getUTCFullYear() === year ? date : undefined;
}

/** Week 1 holds January 4; a week belongs to the year of its Thursday. */
function weekDay(year: number, week: number, weekday: number): Date | undefined {
  const thursday = new Date(0);
  thursday.setUTCFullYear(year, 0, 4);
  thursday.setUTCDate(4 + 4 - (thursday.getUTCDay() || 7) + (week - 1) * 7);
  if (week === 0 || thursday.getUTCFullYear() !== year) return undefined;
  thursday.setUTCDate(thursday.getUTCDate() + weekday - 4);
  return thursday;
}

function isTimeOfDay({ hour, minute, second, fraction, offsetMinutes }: Written): boolean {
  if (Number.isNaN(offsetMinutes) || minute > 59 || second > 60) return false;
  const isEndOfDay = hour === 24 && minute === 0 && second === 0 && /^0*$/.test(fraction);
  return hour < 24 || isEndOfDay;
}

/** Cut, not rounded. Nine digits are exact: ten to the ninth times an hour is below 2^53. */
const millisecondsOf = ({ fraction, lastPartMs }: Written): number =>
  Math.floor((Number(fraction.slice(0, 9).padEnd(9, "0")) * lastPartMs) / 1e9);
