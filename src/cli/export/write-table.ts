import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stringify } from "csv-stringify/sync";
import { LONGEST_LINE_BYTES, textLinesOf } from "../../base/lines.ts";
import { writeFileWhole, writeOutput } from "../output-file.ts";
import { flatten } from "./flatten.ts";

/*
 * CSV and Parquet need all columns before the first row. So the rows go to a temporary file first, beside the
 * output, and are read from there a second time.
 */

type Lines = AsyncIterable<Uint8Array>;

/** Writes the lines of an export as a CSV file, with a column for each member. */
export async function writeCsv(path: string, lines: Lines, gzip: boolean): Promise<void> {
  await withRows(path, lines, async (rows) => {
    const columns = new Set<string>();
    for await (const row of readRows(rows)) for (const column of row.keys()) columns.add(column);
    await writeOutput(path, csvOf(rows, [...columns]), { gzip });
  });
}

const ROWS_AT_A_TIME = 200;

async function* csvOf(rows: string, columns: readonly string[]): AsyncGenerator<string> {
  yield stringify([[...columns]]);
  let portion: string[][] = [];
  for await (const row of readRows(rows)) {
    portion.push(columns.map((column) => row.get(column) ?? ""));
    if (portion.length < ROWS_AT_A_TIME) continue;
    yield stringify(portion);
    portion = [];
  }
  if (portion.length > 0) yield stringify(portion);
}

async function* readRows(path: string): AsyncGenerator<Map<string, string>> {
  for await (const line of textLinesOf("the export", createReadStream(path))) {
    yield flatten(JSON.parse(line));
  }
}

/** @throws in words if DuckDB is not installed. */
export async function writeParquet(path: string, lines: Lines): Promise<void> {
  const { DuckDBInstance } = await import("@duckdb/node-api").catch(() => {
    throw new Error(
      "Parquet needs DuckDB, which is not installed here: npm install @duckdb/node-api. CSV and NDJSON need nothing.",
    );
  });
  await withRows(path, lines, async (rows) => {
    const instance = await DuckDBInstance.create(":memory:");
    try {
      const connection = await instance.connect();
      await writeFileWhole(path, async (_file, temporaryPath) => {
        // Every line counts for the types of the columns: a later one may hold another.
        await connection.run(
          `copy (select * from read_json(${quoted(rows)}, format = 'newline_delimited', sample_size = -1,
             maximum_object_size = ${LONGEST_LINE_BYTES}))
           to ${quoted(temporaryPath)} (format parquet)`,
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
  // Beside the output: the rows take about as much room. Only the owner can open the folder.
  const parent = path === "-" || path.startsWith("/dev/") ? tmpdir() : dirname(path);
  const folder = await mkdtemp(join(parent, ".rapport-export-"));
  try {
    const rows = join(folder, "rows.ndjson");
    await writeOutput(rows, lines);
    await work(rows);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
