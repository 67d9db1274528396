import { earlier } from "../../core/base/clock.ts";
import { isJsonObject } from "../../core/base/values/plain-json.ts";
import { pathSql, wordsOf } from "./attribute-subjects.ts";
import { type FilterPath, refuse } from "./filter-path.ts";
import type { ValueTest } from "./leaf.ts";
import { itsRows, type Leaf, type Subject } from "./leaf.ts";
import { decided, everyOf, type Values } from "./sql.ts";
import { isTimeTest, type TimeTest } from "./time-tests.ts";
import { countOf, readValueTests, readWhole } from "./value-tests.ts";

/*
 * Conditions on a user's activity. Counts of all time come from the summaries. Counts of the last
 * days, and counts of events with a certain property, come from the events and purchases themselves, if
 * retention has kept them.
 */

export const MOST_DAYS = 30;
/** spec: Merge behaviour, X times in Y days: X <= 50. */
const MOST_IN_DAYS = 50;

type Members = Readonly<Record<string, unknown>>;

type CountComparator = "at_least" | "at_most" | "exactly";

interface CountTest {
  readonly comparator: CountComparator;
  readonly operand: number;
}

const COUNT_SQL: Readonly<Record<CountComparator, string>> = {
  at_least: ">=",
  at_most: "<=",
  exactly: "=",
};

const COUNT_WORDS: Readonly<Record<CountComparator, string>> = {
  at_least: "at least",
  at_most: "at most",
  exactly: "exactly",
};

/** The fields of a leaf about an occurrence, in addition to its name. */
interface Occurrences {
  readonly counts: readonly CountTest[];
  readonly inLastDays: number | undefined;
  readonly where: { readonly property: string; readonly tests: readonly ValueTest[] } | undefined;
  readonly first: readonly TimeTest[];
  readonly last: readonly TimeTest[];
}

function readOccurrences(
  { in_last_days, where, first, last, ...rest }: Members,
  path: FilterPath,
  takesDetails: boolean,
): Occurrences {
  if (!takesDetails && (in_last_days !== undefined || where !== undefined)) {
    const name = in_last_days === undefined ? "where" : "in_last_days";
    throw refuse([...path, name], "does not fit this subject");
  }
  const inLastDays =
    in_last_days === undefined
      ? undefined
      : readWhole(in_last_days, [...path, "in_last_days"], 1, MOST_DAYS);
  const most = inLastDays === undefined ? Number.MAX_SAFE_INTEGER : MOST_IN_DAYS;
  const counts = Object.entries(rest).map(([name, operand]) => {
    if (!Object.hasOwn(COUNT_SQL, name)) {
      const others = takesDetails ? "in_last_days, where, first, last" : "first, last";
      throw refuse([...path, name], `is no comparator here: at_least, at_most, exactly, ${others}`);
    }
    const comparator = name as CountComparator;
    return { comparator, operand: readWhole(operand, [...path, name], 0, most) };
  });
  const times = {
    first: readTimes(first, [...path, "first"]),
    last: readTimes(last, [...path, "last"]),
  };
  const hasTimes = times.first.length + times.last.length > 0;
  if (hasTimes && (inLastDays !== undefined || where !== undefined)) {
    throw refuse(path, "has first or last, which are of all time: not with in_last_days or where");
  }
  if (counts.length === 0 && !hasTimes) counts.push({ comparator: "at_least", operand: 1 });
  return { counts, inLastDays, where: readWhere(where, [...path, "where"]), ...times };
}

function readTimes(given: unknown, path: FilterPath): TimeTest[] {
  if (given === undefined) return [];
  if (!isJsonObject(given)) throw refuse(path, "must be an object with comparators of times");
  const tests = readValueTests(given, "time", path).filter(isTimeTest);
  if (tests.length === Object.keys(given).length) return tests;
  throw refuse([...path, "exists"], "does not fit: count with at_least instead");
}

function readWhere(given: unknown, path: FilterPath): Occurrences["where"] {
  if (given === undefined) return undefined;
  if (!isJsonObject(given)) throw refuse(path, "must be an object with 'property' and comparators");
  const { property, ...rest } = given;
  if (typeof property !== "string" || property === "" || property.length > 255) {
    throw refuse([...path, "property"], "must be the name of a property, or a path into one");
  }
  return { property, tests: readValueTests(rest, "any", path) };
}

function wordsOfOccurrences(noun: string, occurrences: Occurrences): string {
  const { counts, inLastDays, where, first, last } = occurrences;
  const parts = [
    counts
      .map(({ comparator, operand }) => `${COUNT_WORDS[comparator]} ${countOf(operand, "time")}`)
      .join(" and "),
    ...(inLastDays ? [`in the last ${countOf(inLastDays, "day")}`] : []),
    ...(where ? [`where ${wordsOf(where.property, where.tests)}`] : []),
    ...(first.length > 0 ? [wordsOf("and the first time", first)] : []),
    ...(last.length > 0 ? [wordsOf("and the last time", last)] : []),
  ];
  return `${noun} ${parts.filter(Boolean).join(" ")}`.replace(" and the first", ", the first");
}

/** A table of things that happened and the table of their summaries. */
interface CountedTable {
  readonly kept: "events" | "purchases";
  readonly summaries: string;
  readonly rows: string;
  readonly name: string;
  /** How many one row counts. */
  readonly weight: string;
}

const EVENTS: CountedTable = {
  kept: "events",
  summaries: "event_summaries",
  rows: "events",
  name: "name",
  weight: "1",
};

const PURCHASES: CountedTable = {
  kept: "purchases",
  summaries: "purchase_summaries",
  rows: "purchases",
  name: "product_id",
  weight: "e.quantity",
};

/** A condition on the name of an event or product; empty if any name counts. */
export const nameSql = (column: string, name: string | undefined, values: Values): string =>
  name === undefined ? "" : ` and ${column} = ${values.bind(name, "text")}`;

/** The name that a leaf gives, or undefined for `any`. */
export function readName(value: unknown, subject: string, path: FilterPath): string {
  if (typeof value === "string" && value !== "" && value.length <= 255) return value;
  throw refuse([...path, subject], "must be a name of 1 to 255 characters");
}

/** The name, or undefined for `any`. */
export const orAny = (name: string): string | undefined => (name === "any" ? undefined : name);

function happened(
  source: CountedTable,
  name: string | undefined,
  noun: string,
  occurrences: Occurrences,
): Leaf {
  const { inLastDays, where } = occurrences;
  const isSummed = inLastDays === undefined && where === undefined;
  return {
    looksUp: true,
    words: wordsOfOccurrences(noun, occurrences),
    ...(!isSummed && { readsExpiring: source.kept }),
    sql(values) {
      const summaries = `from ${source.summaries} s where ${itsRows("s")}${nameSql(`s.${source.name}`, name, values)}`;
      if (!isSummed) {
        return decided(countedSql(source, name, occurrences, summaries, values), 2);
      }
      return decided(
        summedSql(
          {
            count: "sum(s.count)",
            first: "min(s.first_at)",
            last: "max(s.last_at)",
            rows: summaries,
          },
          occurrences,
          values,
        ),
        1,
      );
    },
  };
}

const countTests = (count: string, tests: readonly CountTest[], values: Values): string[] =>
  tests.map(
    ({ comparator, operand }) =>
      `${count} ${COUNT_SQL[comparator]} ${values.bind(operand, "bigint")}`,
  );

/** Tests what summaries say of all time: they are read once for all tests. */
function summedSql(
  { count, first, last, rows }: Readonly<Record<"count" | "first" | "last" | "rows", string>>,
  tests: Pick<Occurrences, "counts" | "first" | "last">,
  values: Values,
): string {
  const conditions = [
    ...countTests(`coalesce(${count}, 0)`, tests.counts, values),
    ...tests.first.map((test) => test.columnSql(first, values)),
    ...tests.last.map((test) => test.columnSql(last, values)),
  ];
  return `(select ${conditions.join(" and ")} ${rows})`;
}

/**
 * Tests how many rows there are. Looks at them only if the summary says that there may be enough: of an event, a user without as many of all time
 * has too few in any period, as one without any has.
 */
function countedSql(
  source: CountedTable,
  name: string | undefined,
  { counts, inLastDays, where }: Occurrences,
  summaries: string,
  values: Values,
): string {
  const since = inLastDays && values.bind(sinceOf(values.now, inLastDays), "timestamptz");
  const columns = values.columnsOf("e");
  const ofRows = { ...values, once: columns.once };
  const property = where && columns.once(pathSql("e.properties", where.property, values));
  const tests = everyOf(
    (where?.tests ?? []).map((test) => test.sql(String(property), ofRows, false)),
  ).must;
  const period = since
    ? ` and e.occurred_at >= ${since} and e.occurred_at <= ${values.bind(values.now.toISOString(), "timestamptz")}`
    : "";
  const fewest = Math.max(
    0,
    ...counts.map(({ comparator, operand }) => (comparator === "at_most" ? 0 : operand)),
  );
  const enough =
    source.kept === "events" && fewest > 1
      ? ` and s.count >= ${values.bind(fewest, "bigint")}`
      : "";
  const rows = `select e.* from ${source.rows} e
    where ${itsRows("e")}${nameSql(`e.${source.name}`, name, values)}${period}`;
  const meets = (count: string) => countTests(count, counts, values).join(" and ");
  return `(case when exists (select 1 ${summaries}${since ? ` and s.last_at >= ${since}` : ""}${enough})
    then (select ${meets(`coalesce(sum(${source.weight}), 0)`)} from ${columns.around(rows)} where ${tests})
    else ${meets("0")} end)`;
}

/** The beginning of the last days, in ISO 8601. */
export const sinceOf = (now: Date, days: number): string => earlier(now, { days }).toISOString();

export const event: Subject = {
  read(value, rest, path) {
    const name = readName(value, "event", path);
    return happened(EVENTS, name, `did ${name}`, readOccurrences(rest, path, true));
  },
};

export const purchases: Subject = {
  read(value, rest, path) {
    const name = orAny(readName(value, "purchases", path));
    const noun = name === undefined ? "bought anything" : `bought ${name}`;
    return happened(PURCHASES, name, noun, readOccurrences(rest, path, true));
  },
};

export const sessions: Subject = {
  read(value, rest, path, scope) {
    const appId = orAny(readName(value, "sessions", path));
    if (appId !== undefined && !scope.apps.has(appId)) {
      throw refuse([...path, "sessions"], "must be 'any' or the id of an app of this workspace");
    }
    const { counts, first, last, ...others } = readOccurrences(rest, path, false);
    const noun = `opened ${appId ? (scope.apps.get(appId)?.name ?? appId) : "any app"}`;
    return {
      looksUp: true,
      words: wordsOfOccurrences(noun, { counts, first, last, ...others }),
      sql(values) {
        const rows = `from app_usages s where ${itsRows("s")}${nameSql("s.app_id", appId, values)}`;
        return decided(
          summedSql(
            {
              count: "sum(s.sessions)",
              first: "min(s.first_used_at)",
              last: "max(s.last_used_at)",
              rows,
            },
            { counts, first, last },
            values,
          ),
          1,
        );
      },
    };
  },
};
