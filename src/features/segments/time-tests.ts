import { isJsonObject, type Json } from "../../core/base/values/plain-json.ts";
import { parseAttributeTime } from "../../core/base/values/times.ts";
import type { ValueTest } from "./leaf.ts";
import { decided, type Values } from "./sql.ts";

/* Comparators of times, which a value of an attribute may hold in any written form (docs/decisions/times.md). */

/** A period; `isOpen` leaves out its ends. */
export interface Period {
  readonly since?: Date;
  readonly until?: Date;
  readonly isOpen?: boolean;
}

/** A test of a time, which a column of the type timestamptz can pass too. */
export interface TimeTest extends ValueTest {
  /** Decides about a value that SQL leaves open. */
  holds(value: Json | undefined, now: Date): boolean;
  columnSql(column: string, values: Values): string;
}

const inPeriod = ({ since, until, isOpen = false }: Period, time: Date): boolean =>
  (!since || (isOpen ? time > since : time >= since)) &&
  (!until || (isOpen ? time < until : time <= until));

/** A test of a time by a period that may depend on now. */
export function timeTest(words: string, periodAt: (now: Date) => Period): TimeTest {
  const conditions = (now: Date, compare: (operator: string, bound: Date) => string): string => {
    const { since, until, isOpen = false } = periodAt(now);
    return [
      ...(since ? [compare(isOpen ? ">" : ">=", since)] : []),
      ...(until ? [compare(isOpen ? "<" : "<=", until)] : []),
    ].join(" and ");
  };
  return writtenTime(words, {
    holdsAt: (time, now) => inPeriod(periodAt(now), time),
    columnSql: (column, values) =>
      `coalesce(${conditions(values.now, (operator, bound) => `${column} ${operator} ${values.bind(bound.toISOString(), "timestamptz")}`)}, false)`,
    plainSql: (text, values) =>
      conditions(
        values.now,
        (operator, bound) =>
          `${text} collate "C" ${operator} ${values.bind(bound.toISOString(), "text")} collate "C"`,
      ),
  });
}

/** A test of the month and the day, such as 12-31, in UTC. */
export function dayOfYear(wanted: string): TimeTest {
  return writtenTime(`is on ${wanted} of any year`, {
    holdsAt: (time) => time.toISOString().slice(5, 10) === wanted,
    columnSql: (column, values) =>
      `coalesce(to_char(${column} at time zone 'UTC', 'MM-DD') = ${values.bind(wanted, "text")}, false)`,
    plainSql: (text, values) => `substr(${text}, 6, 5) = ${values.bind(wanted, "text")}`,
  });
}

/** The first days of the months of a thousand years or more: SQL compares them as they are written. */
const PLAIN_TIME =
  "^[12]\\d{3}-(0[1-9]|1[0-2])-(0[1-9]|1\\d|2[0-8])(T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{3})?Z)?$";

/** What the shorter forms leave out is here. */
const FULL_TIME = "0000-00-00T00:00:00.000Z";

/** No longer text is taken for a time, so that no other one is read to find out. */
const LONGEST_TIME = 256;

/** Every text that `parseAttributeTime` may read begins like this. */
const BEGINS_LIKE_A_TIME = "^(\\d|(sun|mon|tue|wed|thu|fri|sat) )";

function writtenTime(
  words: string,
  {
    holdsAt,
    columnSql,
    plainSql,
  }: Pick<TimeTest, "columnSql"> & {
    holdsAt(time: Date, now: Date): boolean;
    /** @param text such as 2026-01-31T12:00:00.000Z */
    plainSql(text: string, values: Values): string;
  },
): TimeTest {
  return {
    words,
    columnSql,
    holds(value, now) {
      const time = timeIn(value);
      return time !== undefined && holdsAt(time, now);
    },
    sql(value, values, isPlain) {
      // A time inside an object is written {"$time": "…"}.
      const text = values.once(
        `coalesce(${value} ->> '$time', case when jsonb_typeof(${value}) = 'string' then ${value} #>> '{}' end, '')`,
      );
      // In its full form; null for every other text. The shorter forms are a day, or lack the milliseconds.
      const isWritten = isPlain ? `${text} <> ''` : `${text} ~ ${values.bind(PLAIN_TIME, "text")}`;
      const full = values.once(
        `case when ${isWritten} then overlay(${values.bind(FULL_TIME, "text")} placing rtrim(${text}, 'Z') from 1) end`,
      );
      const must = `coalesce(${plainSql(full, values)}, false)`;
      if (isPlain) return decided(must);
      const isOpen = values.once(
        `(${full} is null and length(${text}) <= ${LONGEST_TIME} and ${text} ~* ${values.bind(BEGINS_LIKE_A_TIME, "text")})`,
      );
      return { must, may: `(${must} or ${isOpen})` };
    },
  };
}

/** The time that a value of an attribute holds, in any written form. */
function timeIn(value: Json | undefined): Date | undefined {
  const text = isJsonObject(value) ? value.$time : value;
  if (typeof text !== "string" || text.length > LONGEST_TIME) return undefined;
  return parseAttributeTime(text);
}

export const isTimeTest = (test: ValueTest): test is TimeTest => "columnSql" in test;
