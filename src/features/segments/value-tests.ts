import { earlier, later } from "../../core/base/clock.ts";
import { parseTime } from "../../core/base/values/times.ts";
import { jsonbArrayLiteral } from "../../core/database/parameters/array-literal.ts";
import { type FilterPath, refuse } from "./filter-path.ts";
import type { ValueTest } from "./leaf.ts";
import { decided, type Values } from "./sql.ts";
import { dayOfYear, timeTest } from "./time-tests.ts";

/*
 * The comparators of a filter. Each is described once: its types of values, how its operand is
 * read, and its two forms: SQL over a JSON value, and words. docs/segments.md lists them.
 */

export type ValueType = "text" | "number" | "time" | "boolean" | "list";

/** The types of a subject's value; `any` is the value of a custom attribute. */
export type SubjectType = ValueType | "any" | "opaque";

/** How many values a list of a filter may have. */
export const MOST_VALUES = 1_000;

const LONGEST_TEXT = 2_048;
const MOST_DAYS = 36_500;

type Scalar = string | number | boolean;

interface Comparator {
  readonly types: readonly ValueType[];
  read(operand: unknown, path: FilterPath): ValueTest;
}

/** All comparators of values by name. `first` and `last` use the comparators of times. */
const COMPARATORS: Readonly<Record<string, Comparator>> = {
  equals: of(["text", "number", "boolean"], readScalar, equals),
  not_equals: of(["text", "number", "boolean"], readScalar, (operand) =>
    opposite(equals(operand), `is not ${shown(operand)}`),
  ),
  one_of: of(["text", "number", "boolean"], readScalars, oneOf),
  none_of: of(["text", "number", "boolean"], readScalars, (operand) =>
    opposite(oneOf(operand), `is none of ${shownList(operand)}`),
  ),
  contains: of(["text"], readText, (operand) =>
    textTest(
      `contains ${shown(operand)}`,
      (text, values) => `position(${values.bind(operand, "text")} in ${text}) > 0`,
    ),
  ),
  starts_with: of(["text"], readText, (operand) =>
    textTest(
      `starts with ${shown(operand)}`,
      (text, values) => `starts_with(${text}, ${values.bind(operand, "text")})`,
    ),
  ),
  more_than: order("is more than", ">"),
  at_least: order("is at least", ">="),
  less_than: order("is less than", "<"),
  at_most: order("is at most", "<="),
  before: of(["time"], readTime, (time) =>
    timeTest(`is before ${time.toISOString()}`, () => ({ until: time, isOpen: true })),
  ),
  after: of(["time"], readTime, (time) =>
    timeTest(`is after ${time.toISOString()}`, () => ({ since: time, isOpen: true })),
  ),
  in_last_days: of(["time"], readDays, (days) =>
    timeTest(`is within the last ${countOf(days, "day")}`, (now) => ({
      since: earlier(now, { days }),
      until: now,
    })),
  ),
  more_than_days_ago: of(["time"], readDays, (days) =>
    timeTest(`is more than ${countOf(days, "day")} ago`, (now) => ({
      until: earlier(now, { days }),
      isOpen: true,
    })),
  ),
  in_next_days: of(["time"], readDays, (days) =>
    timeTest(`is within the next ${countOf(days, "day")}`, (now) => ({
      since: now,
      until: later(now, { days }),
    })),
  ),
  day_of_year: of(["time"], readDayOfYear, dayOfYear),
  includes: of(["list"], readScalar, (operand) =>
    listTest(`includes ${shown(operand)}`, [operand], "any"),
  ),
  includes_any: of(["list"], readScalars, (operand) =>
    listTest(`includes any of ${shownList(operand)}`, operand, "any"),
  ),
  includes_all: of(["list"], readScalars, (operand) =>
    listTest(`includes all of ${shownList(operand)}`, operand, "all"),
  ),
  exists: {
    types: ["text", "number", "time", "boolean", "list"],
    read(operand, path) {
      if (typeof operand !== "boolean") throw refuse(path, "must be true or false");
      return {
        words: operand ? "exists" : "does not exist",
        isNegative: !operand,
        // A null inside a value is no value. docs/segments.md
        sql: (value) =>
          decided(`(nullif(${value}, 'null'::jsonb) is ${operand ? "not " : ""}null)`),
      };
    },
  },
};

/** The names of the comparators that fit a type of values. */
export const comparatorsFor = (type: SubjectType): string[] =>
  Object.entries(COMPARATORS)
    .filter(([name, { types }]) => fits(type, name, types))
    .map(([name]) => name);

function fits(type: SubjectType, name: string, types: readonly ValueType[]): boolean {
  if (type === "any") return true;
  return type === "opaque" ? name === "exists" : types.includes(type);
}

/**
 * Reads the comparators of a leaf, which all have to hold.
 *
 * @param given the leaf without its subject.
 * @throws Problem that names the comparator if it is unknown or does not fit the type, or if there is none.
 */
export function readValueTests(
  given: Readonly<Record<string, unknown>>,
  type: SubjectType,
  path: FilterPath,
): ValueTest[] {
  const tests = Object.entries(given).map(([name, operand]) => {
    const comparator = Object.hasOwn(COMPARATORS, name) ? COMPARATORS[name] : undefined;
    if (!comparator || !fits(type, name, comparator.types)) {
      throw refuse([...path, name], `is no comparator here: ${comparatorsFor(type).join(", ")}`);
    }
    return comparator.read(operand, [...path, name]);
  });
  if (tests.length > 0) return tests;
  throw refuse(path, `needs a comparator: ${comparatorsFor(type).join(", ")}`);
}

/** A comparator, from the reader of its operand and its forms. */
function of<Operand>(
  types: readonly ValueType[],
  read: (operand: unknown, path: FilterPath) => Operand,
  make: (operand: Operand) => ValueTest,
): Comparator {
  return { types, read: (operand, path) => make(read(operand, path)) };
}

const isScalar = (value: unknown): value is Scalar =>
  (typeof value === "string" && value.length <= LONGEST_TEXT) ||
  (typeof value === "number" && Number.isFinite(value)) ||
  typeof value === "boolean";

function readScalar(operand: unknown, path: FilterPath): Scalar {
  if (isScalar(operand)) return operand;
  throw refuse(path, `must be a text of at most ${LONGEST_TEXT} characters, a number or a boolean`);
}

function readScalars(operand: unknown, path: FilterPath): Scalar[] {
  if (!Array.isArray(operand) || operand.length === 0 || operand.length > MOST_VALUES) {
    throw refuse(path, `must be a list of 1 to ${MOST_VALUES} values`);
  }
  return operand.map((each, index) => readScalar(each, [...path, index]));
}

function readText(operand: unknown, path: FilterPath): string {
  if (typeof operand === "string" && operand !== "" && operand.length <= LONGEST_TEXT) {
    return operand;
  }
  throw refuse(path, `must be a text of 1 to ${LONGEST_TEXT} characters`);
}

/** @throws Problem unless it is a finite number. */
export function readNumber(operand: unknown, path: FilterPath): number {
  if (typeof operand === "number" && Number.isFinite(operand)) return operand;
  throw refuse(path, "must be a number");
}

function readTime(operand: unknown, path: FilterPath): Date {
  const time = typeof operand === "string" ? parseTime(operand) : undefined;
  if (time) return time;
  throw refuse(path, "must be a time in ISO 8601, such as 2026-01-31T12:00:00Z");
}

function readDays(operand: unknown, path: FilterPath): number {
  return readWhole(operand, path, 1, MOST_DAYS);
}

/** @throws Problem unless it is a whole number in the range. */
export function readWhole(operand: unknown, path: FilterPath, from: number, to: number): number {
  if (Number.isInteger(operand) && Number(operand) >= from && Number(operand) <= to) {
    return operand as number;
  }
  throw refuse(path, `must be a whole number from ${from} to ${to}`);
}

function readDayOfYear(operand: unknown, path: FilterPath): string {
  if (typeof operand === "string" && /^(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/.test(operand)) {
    return operand;
  }
  throw refuse(path, "must be a month and a day, such as 12-31");
}

function equals(operand: Scalar): ValueTest {
  return {
    words: `is ${shown(operand)}`,
    sql: (value, values) => {
      const wanted = `${values.bind(JSON.stringify(operand), "text")}::jsonb`;
      return decided(`coalesce(${value} = ${wanted}, false)`);
    },
  };
}

export function oneOf(operand: readonly Scalar[]): ValueTest {
  const isAmong = amongSql(operand);
  return {
    words: `is one of ${shownList(operand)}`,
    sql: (value, values) => decided(`coalesce(${isAmong(value, values)}, false)`),
  };
}

/**
 * Whether a JSON value is one of these, as SQL. The engine looks it up in a hash table. The list is written once for all
 * statements of a walk through many users.
 */
function amongSql(wanted: readonly Scalar[]): (value: string, values: Values) => string {
  let list: string | undefined;
  return (value, values) => {
    list ??= jsonbArrayLiteral(wanted);
    return `${value} = any(${values.bind(list, "jsonb[]")})`;
  };
}

export const opposite = (test: ValueTest, words: string): ValueTest => ({
  words,
  isNegative: true,
  sql: (value, values, isPlain) => decided(`(not ${test.sql(value, values, isPlain).must})`),
});

const textTest = (words: string, sql: (text: string, values: Values) => string): ValueTest => ({
  words,
  sql: (value, values) =>
    decided(
      `coalesce(jsonb_typeof(${value}) = 'string' and ${sql(`(${value} #>> '{}')`, values)}, false)`,
    ),
});

function order(words: string, operator: string): Comparator {
  return of(["number"], readNumber, (operand) => ({
    words: `${words} ${operand}`,
    // A case, because the order of the parts of an `and` is the planner's.
    sql: (value, values) =>
      decided(
        `(case when jsonb_typeof(${value}) = 'number' ` +
          `then (${value})::numeric ${operator} ${values.bind(String(operand), "numeric")} else false end)`,
      ),
  }));
}

function listTest(words: string, operand: readonly Scalar[], how: "all" | "any"): ValueTest {
  const wanted = [...new Set(operand)];
  const isAmong = amongSql(wanted);
  return {
    words,
    sql(value, values) {
      // The list is read once, however many values are wanted.
      const found = `from jsonb_array_elements(${value}) as found (each) where ${isAmong("found.each", values)}`;
      const condition =
        how === "any"
          ? `exists (select 1 ${found})`
          : `(select count(distinct found.each) ${found}) = ${values.bind(wanted.length, "bigint")}`;
      return decided(
        `(case when jsonb_typeof(${value}) = 'array' then ${condition} else false end)`,
      );
    },
  };
}

const shown = (value: Scalar): string => (typeof value === "string" ? `"${value}"` : String(value));

/** Long lists are cut short in sentences. */
const SHOWN_VALUES = 5;

const shownList = (values: readonly Scalar[]): string => {
  const more = values.length - SHOWN_VALUES;
  const text = values.slice(0, SHOWN_VALUES).map(shown).join(", ");
  return more > 0 ? `${text} and ${more} more` : text;
};

/** `1 day`, `2 days`. */
export const countOf = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;
