/*
 * A condition of a segment as SQL over `profiles p`.
 *
 * Some conditions depend on data that SQL cannot read together with a profile: the state of an
 * address is in the bucket of the address, and an attribute may hold a time in any of the written
 * forms. For each profile SQL therefore gives two answers: `must` is true if the condition surely
 * holds, `may` if it possibly holds. If they differ, the program decides. Neither is
 * ever null, so that `not` includes users without a value.
 *
 * The text of a statement grows with the number of comparators, and with nothing else that a caller
 * sends: an expression that several others use is a column of its own (`columnsOf`).
 */

export interface Bounds {
  readonly must: string;
  readonly may: string;
  /**
   * The most rows of other tables that are looked up for a user; none if the profile itself is
   * enough.
   */
  readonly lookups?: number;
}

/** A condition that SQL decides. */
export const decided = (sql: string, lookups = 0): Bounds => ({ must: sql, may: sql, lookups });

/** All of these conditions; true for an empty list. */
export const everyOf = (parts: readonly Bounds[]): Bounds => joined(parts, " and ", "true");

/** One of these conditions; false for an empty list. */
export const anyOf = (parts: readonly Bounds[]): Bounds => joined(parts, " or ", "false");

/** A condition that surely fails may not hold, and the other way round. */
export const negated = ({ must, may, lookups = 0 }: Bounds): Bounds => ({
  must: `(not ${may})`,
  may: `(not ${must})`,
  lookups,
});

/** SQL stops at the first part that decides, so parts without look-ups come first. */
function joined(parts: readonly Bounds[], word: string, empty: string): Bounds {
  const cheapFirst = parts.toSorted(({ lookups: one = 0 }, { lookups: other = 0 }) => one - other);
  const join = (side: (part: Bounds) => string) =>
    parts.length === 0 ? empty : `(${cheapFirst.map(side).join(word)})`;
  const lookups = parts.reduce((sum, part) => sum + (part.lookups ?? 0), 0);
  return { must: join((part) => part.must), may: join((part) => part.may), lookups };
}

/** Where a statement gets its values from: nothing of a filter becomes part of its text. */
export type Values = ReturnType<typeof valuesOf>;

/** To compare longer values would take longer than to send one twice. */
const LONG_VALUE = 1_000;

/**
 * Collects the values of a statement.
 *
 * @param parameters the values before them; is added to.
 */
export function valuesOf(
  now: Date,
  parameters: unknown[],
  { once, columnsOf: columnsOfOthers }: Columns,
) {
  const known = new Map<string, string>();
  return {
    now,
    /** Computes an expression over the rows once for each row. @returns the column that has it. */
    once,
    /** Columns for rows of other tables. */
    columnsOf: columnsOfOthers,
    /** Adds a parameter. @returns it with its type, such as `$3::text`. */
    bind(value: unknown, type: string) {
      const push = () => `$${parameters.push(value)}::${type}`;
      const text = typeof value === "string" ? value : JSON.stringify(value);
      if (text.length > LONG_VALUE) return push();
      const key = `${type} ${text}`;
      const bound = known.get(key) ?? push();
      known.set(key, bound);
      return bound;
    },
  };
}

/** Columns that a statement computes for its rows. */
interface Columns {
  once(expression: string): string;
  around(rows: string): string;
  columnsOf(alias: string): Columns;
}

/** Keeps the planner from dissolving a select. */
const FENCE = " offset 0";

/**
 * Collects columns. An expression may use columns that were made before it; each level of them is a
 * select around the last, which `offset 0` keeps the planner from dissolving: it would put the
 * expressions back in all the places that use them. A cluster cannot look at other tables for rows behind
 * `offset` or `limit`, so there the planner may do so.
 *
 * @param alias the rows in the expressions.
 */
export function columnsOf(alias: string, isCluster = false): Columns {
  const fence = isCluster ? "" : FENCE;
  /** The names of the expressions of each level. */
  const levels: Map<string, string>[] = [];
  const used = new RegExp(`\\b${alias}\\.c(\\d+)_`, "g");
  return {
    once(expression: string) {
      const level = Math.max(
        0,
        ...[...expression.matchAll(used)].map(([, below]) => Number(below) + 1),
      );
      if (level === levels.length) levels.push(new Map());
      const names = levels[level] as Map<string, string>;
      const name = names.get(expression) ?? `${alias}.c${level}_${names.size}`;
      names.set(expression, name);
      return name;
    },
    /** The rows with these columns, for a `from`. @param rows a statement. */
    around: (rows: string) =>
      levels.reduce((from, names) => {
        const added = [...names].map(([sql, name]) => `${sql} as ${name.slice(alias.length + 1)}`);
        return `(select ${alias}.*, ${added.join(", ")} from ${from}${fence}) as ${alias}`;
      }, `(${rows}) as ${alias}`),
    columnsOf: (other) => columnsOf(other, isCluster),
  };
}
