import { resolve } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { fileAt } from "../../intake/warehouses/sources/file-table.ts";
import { loadDuckDb } from "../load-duckdb.ts";
import { parquetType } from "../parquet-schema.ts";
import {
  areProfiles,
  type Column,
  type ColumnFacts,
  inferColumns,
  noFacts,
  objectOf,
  READERS,
  refuseUnknown,
} from "./columns.ts";
import { type FileRecord, LONGEST_RECORD_BYTES, type Table } from "./record.ts";
import type { ReadOptions } from "./rows.ts";
import type { Source } from "./source.ts";

/*
 * The rows of a Parquet file, in the order of the file. DuckDB reads it page by page and gives every value as text,
 * which the type of the column turns into a value, as in a CSV file. Unlike there an empty text is a text.
 */

/** DuckDB's own bound on what it holds of a file at a time. */
const SETTINGS = {
  memory_limit: "512MB",
  // One thread holds the pages of one row group.
  threads: "1",
  temp_directory: "",
  autoinstall_known_extensions: "false",
  autoload_known_extensions: "false",
};

const MOST_COLUMNS = 2_000;

/** Uncompressed. Writers end a row group far below it. */
const LARGEST_ROW_GROUP_BYTES = 1_073_741_824;

/** A column of the file, and an expression that gives its values as text. */
interface FileColumn {
  readonly name: string;
  readonly sqlType: string;
}

/** @throws in words if it cannot be read, or a column has no values that a row can hold. */
export async function readParquet(source: Source, options: ReadOptions): Promise<Table> {
  const { name, path } = source;
  if (path === undefined) {
    throw new Error(
      `Parquet is not read from a pipe: pass the name of the file instead of ${name}.`,
    );
  }
  const connection = await openDuckDb();
  const explain = (error: unknown): never => {
    throw explainParquet(name, path, error);
  };
  const from = `read_parquet(${fileAt(resolve(path))}, hive_partitioning = false)`;
  const ask = async (statement: string) =>
    (await connection.runAndReadAll(statement).catch(explain)).getRowsJson() as string[][];
  const described = await ask(
    `select column_name, column_type from (describe select * from ${from})`,
  );
  const file = described.map(([column = "", sqlType = ""]) => ({ name: column, sqlType }));
  await refuseShape(name, file, options, () =>
    ask(`select coalesce(max(row_group_bytes), 0) from parquet_metadata(${fileAt(resolve(path))})`),
  );
  const [[total] = []] = await ask(`select count(*) from ${from}`);
  const [first = []] = await ask(`${selectTexts(file, from, options)} limit 1`);
  const columns = columnsOf(file, first, options);
  const bytesPerRow = (source.totalBytes ?? 0) / Math.max(1, Number(total));
  async function* records(): AsyncGenerator<FileRecord> {
    const isProfile = areProfiles(options.kind, columns);
    const isNested = file.map(({ sqlType }) => IS_NESTED.test(sqlType));
    let line = 0;
    for await (const { texts, isTooLong } of textsOf(
      connection,
      selectTexts(file, from, options),
      explain,
    )) {
      line += 1;
      const place = { line, endsAt: Math.round(line * bytesPerRow) };
      if (isTooLong) yield { ...place, value: null, fault: TOO_LONG };
      else {
        const cells = texts.map((text, at) => (text && isNested[at] ? withoutNulls(text) : text));
        yield { ...place, ...readRow(columns, isProfile, cells) };
      }
    }
  }
  return { columns, records: records() };
}

const TOO_LONG = {
  code: "LINE_TOO_LONG",
  message: `the row is longer than ${LONGEST_RECORD_BYTES} bytes`,
};

async function openDuckDb(): Promise<DuckDBConnection> {
  const { DuckDBInstance } = await loadDuckDb();
  const instance = await DuckDBInstance.create(":memory:", SETTINGS);
  const connection = await instance.connect();
  await connection.run("set TimeZone = 'UTC'");
  return connection;
}

async function refuseShape(
  name: string,
  file: readonly FileColumn[],
  options: ReadOptions,
  largestGroup: () => Promise<string[][]>,
): Promise<void> {
  if (file.length > MOST_COLUMNS) {
    throw new Error(`${name} has ${file.length} columns. At most ${MOST_COLUMNS} are read.`);
  }
  refuseUnknown(
    file.map((column) => column.name),
    options,
  );
  for (const { name: column, sqlType } of file) {
    if (!UNREADABLE.test(sqlType) || options.map.get(column) === "") continue;
    const isBytes = sqlType === "BLOB";
    if (isBytes && options.types.has(column)) continue;
    const orText = isBytes ? `, or read it as UTF-8: --type "${column}=text"` : "";
    throw new Error(
      `The column '${column}' of ${name} has the type ${sqlType}, which no value of a row has. ` +
        `Leave it out: --map "${column}="${orText}`,
    );
  }
  const [[largest] = []] = await largestGroup();
  if (Number(largest) <= LARGEST_ROW_GROUP_BYTES) return;
  throw new Error(
    `${name} has a row group of ${Math.ceil(Number(largest) / 1_048_576)} MiB. At most ` +
      `${LARGEST_ROW_GROUP_BYTES / 1_048_576} MiB are read: write the file again with smaller row groups.`,
  );
}

/** BLOB is also what some programs write for text, without saying so. */
const UNREADABLE = /^(?:BLOB|BIT|GEOMETRY|INTERVAL)\b/;

const IS_NESTED = /\]$|^(?:STRUCT|MAP|UNION|VARIANT)\b/;

const IS_NUMBER = /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DECIMAL.*|DOUBLE|FLOAT)$/;

const IS_TIME = /^TIMESTAMP/;

/** All values of a row as texts, then whether it is too long; its texts are not read then. */
function selectTexts(file: readonly FileColumn[], from: string, { types }: ReadOptions): string {
  const texts = file.map(({ name, sqlType }, index) => {
    const column = `"${name.replaceAll('"', '""')}"`;
    if (sqlType === "BLOB")
      return `${types.has(name) ? `decode(${column})` : "null"}::varchar as t${index}`;
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

interface RowTexts {
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

function columnsOf(
  file: readonly FileColumn[],
  first: readonly (string | null)[],
  options: ReadOptions,
): Column[] {
  const headings = file.map(({ name, sqlType }) => ({
    name,
    type: options.types.get(name) ?? (IS_TIME.test(sqlType) ? ("time" as const) : undefined),
  }));
  const facts = file.map((column, index) => factsOf(column, first[index] ?? "", options));
  return inferColumns(options.kind, headings, facts, options);
}

/** What the type of the file says of a column, or its name, if an export has a column of this name. */
function factsOf(
  { name, sqlType }: FileColumn,
  example: string,
  { map }: ReadOptions,
): ColumnFacts {
  const isText = sqlType === "VARCHAR";
  const isJsonText = isText && parquetType(map.get(name) ?? name) === "json";
  return {
    ...noFacts(),
    // Unlike in a CSV file, a column whose first value is missing has a type.
    example: example === "" ? " " : example,
    isNumber: IS_NUMBER.test(sqlType),
    isBoolean: sqlType === "BOOLEAN",
    isJson: isJsonText || sqlType === "JSON" || IS_NESTED.test(sqlType),
  };
}

/** Every row of a column has the members of its STRUCT; those without a value are absent. */
function withoutNulls(json: string): string {
  try {
    return JSON.stringify(
      JSON.parse(json, function (this: unknown, _name, value) {
        return value === null && !Array.isArray(this) ? undefined : value;
      }),
    );
  } catch {
    return json;
  }
}

function readRow(
  columns: readonly Column[],
  isProfile: boolean,
  texts: readonly (string | null)[],
): Pick<FileRecord, "value" | "fault" | "leftOut"> {
  const row = objectOf(columns, texts, PARQUET_READERS);
  if ("fault" in row) {
    const shown = Object.fromEntries(columns.map(({ name }, index) => [name, texts[index]]));
    return { value: shown, fault: row.fault };
  }
  const value = isProfile ? { custom_attributes: {}, ...row.value } : row.value;
  return { value, leftOut: row.leftOut };
}

const PARQUET_READERS = {
  ...READERS,
  number: (text: string) => (isExactNumber(text) ? READERS.number(text) : undefined),
};

/** Whether a decimal has no more digits than a number holds. A DOUBLE is written with as few digits as it needs. */
function isExactNumber(text: string): boolean {
  const [, whole = "", fraction = ""] = /^-?(\d+)(?:\.(\d*?)0*)?$/.exec(text) ?? [];
  if (whole.length + fraction.length <= 15) return true;
  return (
    Number(text).toFixed(fraction.length) ===
    (fraction === "" ? text.split(".", 1)[0] : text.replace(/0+$/, ""))
  );
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
