import type { Condition } from "./dashboard-user.ts";

/**
 * A condition as SQL over `dashboard_users`, with its values as parameters.
 *
 * Values are compared by bytes, in their searchable form. A path into JSON finds every value of a list on
 * its way. Attributes with a column of their own are compared there, so that an index serves the queries
 * that identity providers send for every user.
 *
 * @param parameters is added to; `$n` counts from its present end.
 */
export function conditionSql(condition: Condition, parameters: unknown[]): string {
  return sqlOf(condition, TOP, (value) => `$${parameters.push(value)}`);
}

type Bind = (value: unknown) => string;

/** Where a condition looks: the row, or one value of a list in it. */
interface Place {
  /** The JSON to look into. */
  readonly json: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly depth: number;
}

const TOP: Place = {
  json: "searchable",
  columns: { id: "user_id::text", userName: "user_name_key", externalId: "external_id" },
  depth: 0,
};

function sqlOf(condition: Condition, place: Place, bind: Bind): string {
  switch (condition.op) {
    case "and":
    case "or": {
      const parts = condition.conditions.map((each) => sqlOf(each, place, bind));
      return `(${parts.join(` ${condition.op} `)})`;
    }
    case "not":
      return `(not ${sqlOf(condition.condition, place, bind)})`;
    case "never":
      return "false";
    case "pr":
      return anyValue(condition.path, place, bind, (value) => `coalesce(${value}, '') <> ''`);
    case "has": {
      const alias = `value_${place.depth}`;
      const inner: Place = { json: `${alias}.json`, columns: {}, depth: place.depth + 1 };
      const values = `${valuesAt(condition.path, place, bind)} as ${alias} (json)`;
      return `exists (select 1 from ${values} where ${sqlOf(condition.condition, inner, bind)})`;
    }
    case "ne": {
      const { path } = condition;
      const value = bind(String(condition.value));
      const other = anyValue(path, place, bind, (each) => `${each} <> ${value}::text`);
      return `(${other} or not ${anyValue(path, place, bind, (each) => `${each} is not null`)})`;
    }
    default: {
      const value = `${bind(String(condition.value))}::text`;
      return anyValue(condition.path, place, bind, COMPARISON[condition.op](value));
    }
  }
}

type Comparison = (wanted: string) => (value: string) => string;

/** Order is by bytes, whatever the collation of the database. */
const ordered =
  (operator: string): Comparison =>
  (wanted) =>
  (value) =>
    `${value} collate "C" ${operator} ${wanted} collate "C"`;

const COMPARISON: Readonly<
  Record<"eq" | "co" | "sw" | "ew" | "gt" | "ge" | "lt" | "le", Comparison>
> = {
  eq: (wanted) => (value) => `${value} = ${wanted}`,
  co: (wanted) => (value) => `strpos(${value}, ${wanted}) > 0`,
  sw: (wanted) => (value) => `starts_with(${value}, ${wanted})`,
  ew: (wanted) => (value) => `right(${value}, length(${wanted})) = ${wanted}`,
  gt: ordered(">"),
  ge: ordered(">="),
  lt: ordered("<"),
  le: ordered("<="),
};

/** Whether any value at a path passes a test, which takes and gives SQL. */
function anyValue(
  path: readonly string[],
  place: Place,
  bind: Bind,
  test: (value: string) => string,
): string {
  const column = path.length === 1 && place.columns[path[0] as string];
  // Never null, so that `not` means what it says; an index on the column still serves.
  if (column) return `(${column} is not null and ${test(column)})`;
  const alias = `value_${place.depth}`;
  const values = `${valuesAt(path, place, bind)} as ${alias} (json)`;
  return `exists (select 1 from ${values} where ${test(`(${alias}.json #>> '{}')`)})`;
}

/** The values at a path as rows; a list gives one for each of its values. */
function valuesAt(path: readonly string[], place: Place, bind: Bind): string {
  const steps = path.map((name) => `.${JSON.stringify(name)}`).join("");
  return `jsonb_path_query(${place.json}, ${bind(`$${steps}[*]`)}::text::jsonpath)`;
}
