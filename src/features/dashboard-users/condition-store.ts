import { conditionSql, TEXT_COMPARISONS } from "../../core/base/conditions.ts";
import type { UserCondition, UserTest } from "./dashboard-user.ts";

/**
 * A condition as SQL over `dashboard_users`, with its values as parameters.
 *
 * Values are compared by bytes, in their searchable form. A path into JSON finds every value of a
 * list on its way. Attributes with their own column are compared there, so that an index serves the
 * queries that identity providers send for every user.
 *
 * @param parameters is added to; `$n` counts from its present end.
 */
export function userConditionSql(condition: UserCondition, parameters: unknown[]): string {
  return sqlOf(condition, TOP, (value) => `$${parameters.push(value)}`);
}

type Bind = (value: unknown) => string;

/** The subject of a condition: the row, or one value of a list in it. */
interface Searched {
  readonly json: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly depth: number;
}

const TOP: Searched = {
  json: "searchable",
  columns: { id: "user_id::text", userName: "user_name_key", externalId: "external_id" },
  depth: 0,
};

const sqlOf = (condition: UserCondition, within: Searched, bind: Bind): string =>
  conditionSql(condition, (test) => testSql(test, within, bind));

function testSql(test: UserTest, within: Searched, bind: Bind): string {
  const { path } = test;
  switch (test.op) {
    case "pr":
      return anyValue(path, within, bind, (value) => `coalesce(${value}, '') <> ''`);
    case "has": {
      const alias = `value_${within.depth}`;
      const inner: Searched = { json: `${alias}.json`, columns: {}, depth: within.depth + 1 };
      const values = `${valuesAt(path, within, bind)} as ${alias} (json)`;
      return `exists (select 1 from ${values} where ${sqlOf(test.condition, inner, bind)})`;
    }
    case "ne": {
      const value = bind(String(test.value));
      const other = anyValue(path, within, bind, (each) => `${each} <> ${value}::text`);
      return `(${other} or not ${anyValue(path, within, bind, (each) => `${each} is not null`)})`;
    }
    default: {
      const wanted = `${bind(String(test.value))}::text`;
      const { sql } = TEXT_COMPARISONS[test.op];
      return anyValue(path, within, bind, (value) => sql(value, wanted));
    }
  }
}

/** Whether any value at a path passes a test, which takes and gives SQL. */
function anyValue(
  path: readonly string[],
  within: Searched,
  bind: Bind,
  test: (value: string) => string,
): string {
  const column = path.length === 1 && within.columns[path[0] as string];
  // Never null, so that `not` works; an index on the column still serves.
  if (column) return `(${column} is not null and ${test(column)})`;
  const alias = `value_${within.depth}`;
  const values = `${valuesAt(path, within, bind)} as ${alias} (json)`;
  return `exists (select 1 from ${values} where ${test(`(${alias}.json #>> '{}')`)})`;
}

/** The values at a path as rows; a list gives one for each of its values. */
function valuesAt(path: readonly string[], within: Searched, bind: Bind): string {
  const steps = path.map((name) => `.${JSON.stringify(name)}`).join("");
  return `jsonb_path_query(${within.json}, ${bind(`$${steps}[*]`)}::text::jsonpath)`;
}
