import { resolve } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { loadDuckDb } from "../../../cli/load-duckdb.ts";
import { fileAt } from "../../../core/base/values/duckdb-text.ts";
import { LONGEST_RECORD_BYTES } from "./record.ts";

/* The questions to a Parquet file: DuckDB reads it page by page and gives every value as text. */

/** DuckDB's limit on the part of a file that it holds at a time. */
const SETTINGS = {
  memory_limit: "512MB",
  // One thread keeps the pages of one row group in memory.
  threads: "1",
  temp_directory: "",
  autoinstall_known_extensions: "false",
  autoload_known_extensions: "false",
};

/** A column of the file. */
export interface FileColumn {
  readonly name: string;
  readonly sqlType: string;
}

export interface ParquetFile {
  readonly columns: readonly FileColumn[];
  countRows(): Promise<number>;
  /** As its writer says. */
  largestGroupBytes(): Promise<number>;
  /** The texts of the first row. */
  firstRow(asText: ReadonlySet<string>): Promise<readonly (string | null)[]>;
  /** All rows, in the order of the file. */
  rows(asText: ReadonlySet<string>): AsyncIterable<RowTexts>;
}

/**
 * Opens a file. `asText` names the columns of bytes that are to be read as UTF-8.
 *
 * @throws in words if it cannot be read, as each of its functions does.
 */
export async function openParquet(name: string, path: string): Promise<ParquetFile> {
  const connection = await openDuckDb();
  const explain = (error: unknown): never => {
    throw explainParquet(name, path, error);
  };
  const file = fileAt(resolve(path));
  const from = `read_parquet(${file}, hive_partitioning = false)`;
  const ask = async (statement: string) =>
    (await connection.runAndReadAll(statement).catch(explain)).getRowsJson() as string[][];
  const askNumber = async (statement: string) => Number((await ask(statement))[0]?.[0]);
  const described = await ask(
    `select column_name, column_type from (describe select * from ${from})`,
  );
  const columns = described.map(([column = "", sqlType = ""]) => ({ name: column, sqlType }));
  return {
    columns,
    countRows: () => askNumber(`select count(*) from ${from}`),
    largestGroupBytes: () =>
      askNumber(`select coalesce(max(row_group_bytes), 0) from parquet_metadata(${file})`),
    async firstRow(asText) {
      const [first = []] = await ask(`${selectTexts(columns, from, asText)} limit 1`);
      return first;
    },
    rows: (asText) => textsOf(connection, selectTexts(columns, from, asText), explain),
  };
}

async function openDuckDb(): Promise<DuckDBConnection> {
  const { DuckDBInstance } = await loadDuckDb();
  const instance = await DuckDBInstance.create(":memory:", SETTINGS);
  const connection = await instance.connect();
  await connection.run("set TimeZone = 'UTC'");
  return connection;
}

/** BLOB is also what some programs write for text, without saying so. */
export const UNREADABLE = /^(?:BLOB|BIT|GEOMETRY|INTERVAL)\b/;

export const IS_NESTED = /\]$|^(?:STRUCT|MAP|UNION|VARIANT)\b/;

export const IS_NUMBER = /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DECIMAL.*|DOUBLE|FLOAT)$/;

export const IS_TIME = /^TIMESTAMP/;

/** All values of a row as texts, then whether it is too long; its texts are not read then. */
function selectTexts(
  file: readonly FileColumn[],
  from: string,
  asText: ReadonlySet<string>,
): string {
  const texts = file.map(({ name, sqlType }, index) => {
    const column = `"${name.replaceAll('"', '""')}"`;
    if (sqlType === "BLOB")
      return `${asText.has(name) ? `decode(${column})` : "null"}::varchar as t${index}`;
    if (UNREADABLE.test(sqlType)) return `null::varchar as t${index}`;
    if (IS_NESTED.test(sqlType)) return `to_json(${column})::varchar as t${index}`;
    if (IS_TIME.test(sqlType)) {
      const time = sqlType.endsWith("ZONE") ? column : `${column}::timestamp`;
      return `strftime(${time}, '%Y-%m-%dT%H:%M:%S.%fZ') as t${index}`;
    }
    return `${column}::varchar as t${index}`;
  });
  const length = file.map((_, index) => `coalesce(strlen(t${index}), 0)`).join(" + ");
  return `select *, ${length} > ${LONGEST_RECORD_BYTES} from (select ${texts.join(", ")} from ${from})`;
}

export interface RowTexts {
  readonly texts: readonly (string | null)[];
  readonly isTooLong: boolean;
}

/** Row by row: the texts of a piece of DuckDB's are never all in memory here. */
async function* textsOf(
  connection: DuckDBConnection,
  statement: string,
  explain: (error: unknown) => never,
): AsyncGenerator<RowTexts> {
  const result = await connection.stream(statement).catch(explain);
  for (;;) {
    const piece = await result.fetchChunk().catch(explain);
    if (!piece?.rowCount) return;
    const vectors = Array.from({ length: piece.columnCount }, (_, at) => piece.getColumnVector(at));
    const isTooLong = vectors.pop();
    for (let row = 0; row < piece.rowCount; row++) {
      if (isTooLong?.getItem(row) === true) yield { texts: [], isTooLong: true };
      else {
        const texts = vectors.map((vector) => vector.getItem(row) as string | null);
        yield { texts, isTooLong: false };
      }
    }
  }
}

/** DuckDB's own sentence, without the place in the statement. */
function explainParquet(name: string, path: string, error: unknown): Error {
  const [sentence = ""] = (error as Error).message.split("\n");
  const reason = sentence.replaceAll(resolve(path), name).replace(/^[\w ]*Error: /, "");
  if (/^Out of Memory/.test(sentence)) {
    return new Error(
      `${name} has pages or row groups that take more than ${SETTINGS.memory_limit} to read. ` +
        "Write the file again with smaller ones.",
    );
  }
  return new Error(`${name} cannot be read; it may be damaged, or end early: ${reason}`, {
    cause: error,
  });
}
