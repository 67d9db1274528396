import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { FileKind } from "../../../cli/file-columns.ts";
import { loadDuckDb } from "../../../cli/load-duckdb.ts";
import { folderIsMissing, writeFileWhole, writeOutput } from "../../../cli/output-file.ts";
import { type ParquetType, parquetType } from "../../../cli/parquet-schema.ts";
import { LONGEST_LINE_BYTES, textLinesOf } from "../../../core/base/lines.ts";
import { type Cell, csvText } from "../../../core/base/values/spreadsheets.ts";
import { createTable } from "./flatten.ts";

/*
 * CSV and Parquet need all columns before the first row. The rows therefore go to a temporary file
 * beside the output first, and are read a second time from there.
 */

type Lines = AsyncIterable<Uint8Array>;

/** Writes the lines of an export as a CSV file, with a column for each member. */
export async function writeCsv(
  path: string,
  kind: FileKind,
  lines: Lines,
  gzip: boolean,
): Promise<void> {
  await withRows(path, lines, async (rows) => {
    const table = createTable(kind);
    for await (const row of readRows(rows)) table.see(row);
    await writeOutput(path, csvOf(rows, table), { gzip });
  });
}

const ROWS_AT_A_TIME = 200;

async function* csvOf(rows: string, table: ReturnType<typeof createTable>): AsyncGenerator<string> {
  const columns = table.columns();
  yield asText([columns.map(({ header }) => header)]);
  let portion: Cell[][] = [];
  for await (const row of readRows(rows)) {
    portion.push(table.cells(row, columns));
    if (portion.length < ROWS_AT_A_TIME) continue;
    yield asText(portion);
    portion = [];
  }
  if (portion.length > 0) yield asText(portion);
}

/** Also quoted if a reader might trim, or read a carriage return as the end of a line. */
const asText = (rows: Cell[][]): string => csvText(rows, { quoted_match: /[\r\n]|^\s|\s$/ });

async function* readRows(path: string): AsyncGenerator<Readonly<Record<string, unknown>>> {
  for await (const line of textLinesOf("the export", createReadStream(path))) {
    yield JSON.parse(line);
  }
}

/** A reader of the file needs memory for one row group, or a part of it. */
const ROWS_PER_GROUP = 20_480;

/** The names of the columns come from what exports read, which the other formats do not need. */
async function parquetSchema(kind: FileKind): Promise<string> {
  const { PARQUET_COLUMNS } = await import("./parquet-columns.ts");
  return PARQUET_COLUMNS[kind]
    .map((name) => `${name}: '${SQL_TYPES[parquetType(name)]}'`)
    .join(", ");
}

const SQL_TYPES: Readonly<Record<ParquetType, string>> = {
  text: "varchar",
  json: "varchar",
  timestamptz: "timestamptz",
  boolean: "boolean",
  bigint: "bigint",
  double: "double",
};

/** @throws in words if DuckDB is not installed. */
export async function writeParquet(path: string, kind: FileKind, lines: Lines): Promise<void> {
  const { DuckDBInstance } = await loadDuckDb();
  const columns = await parquetSchema(kind);
  await withRows(path, lines, async (rows) => {
    const instance = await DuckDBInstance.create(":memory:");
    try {
      const connection = await instance.connect();
      await writeFileWhole(path, async (_file, temporaryPath) => {
        await connection.run(
          `copy (select * from read_json(${quoted(rows)}, format = 'newline_delimited',
             columns = {${columns}}, maximum_object_size = ${LONGEST_LINE_BYTES}))
           to ${quoted(temporaryPath)} (format parquet, row_group_size ${ROWS_PER_GROUP})`,
        );
      });
      connection.closeSync();
    } finally {
      instance.closeSync();
    }
  });
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Keeps lines in a temporary file while `work` runs. */
async function withRows(
  path: string,
  lines: Lines,
  work: (rows: string) => Promise<void>,
): Promise<void> {
  // Beside the output: the rows take about as much space. Only the owner can open the folder.
  const parent = path === "-" || path.startsWith("/dev/") ? tmpdir() : dirname(path);
  const folder = await mkdtemp(join(parent, ".rapport-export-")).catch((error) => {
    throw error.code === "ENOENT" ? folderIsMissing(path) : error;
  });
  try {
    const rows = join(folder, "rows.ndjson");
    await writeOutput(rows, lines);
    await work(rows);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
