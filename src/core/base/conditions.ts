/*
 * Conditions on stored data: `and`, `or` and `not` over leaves. Each language of filters has its
 * own leaves, and says how a leaf is tested and written as SQL. It shares everything else: the
 * tree, its bounds, and how texts compare, the same in memory and in the database.
 */

/** The `op` distinguishes a leaf from the other kinds. */
export interface Leaf {
  readonly op: string;
}

export type Condition<L extends Leaf> =
  | { readonly op: "and" | "or"; readonly conditions: readonly Condition<L>[] }
  | { readonly op: "not"; readonly condition: Condition<L> }
  /** Nothing meets it. */
  | { readonly op: "never" }
  | L;

/** The result for each kind of condition, given the results of its parts. */
export interface Fold<L extends Leaf, Result> {
  and(parts: readonly (() => Result)[]): Result;
  or(parts: readonly (() => Result)[]): Result;
  not(part: Result): Result;
  never(): Result;
  leaf(leaf: L): Result;
}

/** Works a condition out from its parts. */
export function fold<L extends Leaf, Result>(
  condition: Condition<L>,
  into: Fold<L, Result>,
): Result {
  if ("conditions" in condition && (condition.op === "and" || condition.op === "or")) {
    return into[condition.op](condition.conditions.map((each) => () => fold(each, into)));
  }
  if (condition.op === "not") {
    const { condition: part } = condition as { readonly condition: Condition<L> };
    return into.not(fold(part, into));
  }
  return condition.op === "never" ? into.never() : into.leaf(condition as L);
}

/** Whether a condition holds where `test` decides its leaves; later ones are not tested once it is decided. */
export const holds = <L extends Leaf>(condition: Condition<L>, test: (leaf: L) => boolean) =>
  fold<L, boolean>(condition, {
    and: (parts) => parts.every((part) => part()),
    or: (parts) => parts.some((part) => part()),
    not: (part) => !part,
    never: () => false,
    leaf: test,
  });

/**
 * A condition as a boolean SQL expression. The SQL of a leaf is never null, so that `not` works.
 */
export const conditionSql = <L extends Leaf>(condition: Condition<L>, sqlOf: (leaf: L) => string) =>
  fold<L, string>(condition, {
    and: (parts) => `(${parts.map((part) => part()).join(" and ")})`,
    or: (parts) => `(${parts.map((part) => part()).join(" or ")})`,
    not: (part) => `(not ${part})`,
    never: () => "false",
    leaf: sqlOf,
  });

/** The condition with each leaf replaced, such as a name by the named thing. */
export const replaceLeaves = <From extends Leaf, To extends Leaf>(
  condition: Condition<From>,
  replace: (leaf: From) => Condition<To>,
) =>
  fold<From, Condition<To>>(condition, {
    and: (parts) => ({ op: "and", conditions: parts.map((part) => part()) }),
    or: (parts) => ({ op: "or", conditions: parts.map((part) => part()) }),
    not: (part) => ({ op: "not", condition: part }),
    never: () => ({ op: "never" }),
    leaf: replace,
  });

/** A test of two texts, in memory and as SQL over two text expressions. */
type TextComparison = ReturnType<typeof ordered>;

/** Order is by code points, independent of the database's collation. */
const ordered = (operator: string, holdsFor: (order: number) => boolean) => ({
  holds: (value: string, wanted: string) =>
    holdsFor(Buffer.compare(Buffer.from(value), Buffer.from(wanted))),
  sql: (value: string, wanted: string) => `${value} collate "C" ${operator} ${wanted} collate "C"`,
});

export type TextComparator = "eq" | "co" | "sw" | "ew" | "gt" | "ge" | "lt" | "le";

/** Equal, contains, starts with, ends with, and order. */
export const TEXT_COMPARISONS: Readonly<Record<TextComparator, TextComparison>> = {
  eq: {
    holds: (value, wanted) => value === wanted,
    sql: (value, wanted) => `${value} = ${wanted}`,
  },
  co: {
    holds: (value, wanted) => value.includes(wanted),
    sql: (value, wanted) => `strpos(${value}, ${wanted}) > 0`,
  },
  sw: {
    holds: (value, wanted) => value.startsWith(wanted),
    sql: (value, wanted) => `starts_with(${value}, ${wanted})`,
  },
  ew: {
    holds: (value, wanted) => value.endsWith(wanted),
    sql: (value, wanted) => `right(${value}, length(${wanted})) = ${wanted}`,
  },
  gt: ordered(">", (order) => order > 0),
  ge: ordered(">=", (order) => order >= 0),
  lt: ordered("<", (order) => order < 0),
  le: ordered("<=", (order) => order <= 0),
};
