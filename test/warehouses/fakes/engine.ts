/*
 * The engine of an imitated warehouse: DuckDB, with the functions and types of the warehouse as
 * macros, so that the statements of a source are executed and not only looked at.
 */
import { after } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";

export interface Table {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (string | null)[][];
}

export interface FakeEngine {
  /** Runs statements of DuckDB. */
  run(sql: string): Promise<void>;
  /** Runs a statement of the warehouse. */
  query(statement: string): Promise<Table>;
  /** The statements of the warehouse, in their order. */
  readonly statements: string[];
}

/** JSON as written: DuckDB's own function would round numbers in it. */
const EXACT_JSON =
  "create macro exact_json(v) as if(typeof(v) = 'JSON', v::varchar, to_json(v)::varchar)";

/** @param translate what macros cannot do, such as other quotes. */
export async function openFakeEngine(
  macros: readonly string[],
  translate: (statement: string) => string = (statement) => statement,
): Promise<FakeEngine> {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  after(() => {
    connection.closeSync();
    instance.closeSync();
  });
  const run = async (sql: string) => void (await connection.run(sql));
  await run("set TimeZone = 'UTC'");
  for (const macro of [EXACT_JSON, ...macros]) await run(macro);
  const statements: string[] = [];
  return {
    run,
    statements,
    async query(statement) {
      statements.push(statement);
      const sql = translate(statement).replaceAll("to_json(", "exact_json(");
      const described = await connection.runAndReadAll(
        `select column_name, column_type from (describe ${sql})`,
      );
      const columns = described.getRows().map(([name, type]) => ({
        name: `${name}`,
        type: `${type}`,
      }));
      const found = await connection.runAndReadAll(sql);
      const rows = found
        .getRows()
        .map((row) => row.map((value) => (value === null ? null : String(value))));
      return { columns, rows };
    },
  };
}

/** Backticks around names become quotes; in texts there are none. */
export const withQuotes = (statement: string): string =>
  statement.replaceAll(
    /`((?:[^`]|``)*)`/g,
    (_all, name: string) => `"${name.replaceAll("``", "`").replaceAll('"', '""')}"`,
  );

/** Cuts rows into pages. */
export function paged<Row>(rows: readonly Row[], size: number): Row[][] {
  const pages: Row[][] = [];
  for (let from = 0; from < rows.length; from += size) pages.push(rows.slice(from, from + size));
  return pages;
}
