import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stringify } from "csv-stringify/sync";
import { LONGEST_LINE_BYTES, textLinesOf } from "../../base/lines.ts";
import type { ImportKind } from "../../intake/import/import-kind.ts";
import { EXPORT_FIELDS } from "../../people/export/profile-view.ts";
import { folderIsMissing, writeFileWhole, writeOutput } from "../output-file.ts";
import { createTable } from "./flatten.ts";

/*
 * CSV and Parquet need all columns before the first row. So the rows go to a temporary file first, beside the
 * output, and are read from there a second time.
 */

type Lines = AsyncIterable<Uint8Array>;

/** Writes the lines of an export as a CSV file, with a column for each member. */
export async function writeCsv(
  path: string,
  kind: ImportKind,
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
  yield csvText([columns.map(({ header }) => header)]);
  let portion: string[][] = [];
  for await (const row of readRows(rows)) {
    portion.push(table.cells(row, columns));
    if (portion.length < ROWS_AT_A_TIME) continue;
    yield csvText(portion);
    portion = [];
  }
  if (portion.length > 0) yield csvText(portion);
}

/** Quoted also where a reader might trim, or take a carriage return for the end of a line. */
const csvText = (rows: string[][]): string => stringify(rows, { quoted_match: /[\r\n]|^\s|\s$/ });

async function* readRows(path: string): AsyncGenerator<Readonly<Record<string, unknown>>> {
  for await (const line of textLinesOf("the export", createReadStream(path))) {
    yield JSON.parse(line);
  }
}

/** What is no text in a Parquet file. Objects and lists are JSON texts: their members differ from row to row. */
const PARQUET_TYPES: Readonly<Record<string, string>> = {
  created_at: "timestamptz",
  date_of_first_session: "timestamptz",
  date_of_last_session: "timestamptz",
  marked_email_as_spam_at: "timestamptz",
  email_open_tracking_disabled: "boolean",
  email_click_tracking_disabled: "boolean",
  random_bucket: "bigint",
  total_revenue: "double",
  time: "timestamptz",
  changed_at: "timestamptz",
  price: "double",
  quantity: "bigint",
};

const IDENTIFIERS = ["external_id", "user_alias", "email", "phone", "platform_id"];

/** The columns of a Parquet file, the same for all rows: docs/export.md has the same list. */
export const PARQUET_COLUMNS: Readonly<Record<ImportKind, readonly string[]>> = {
  users: EXPORT_FIELDS.filter((field) => field !== "recent_activity"),
  events: [...IDENTIFIERS, "name", "time", "app_id", "properties"],
  purchases: [
    ...IDENTIFIERS,
    ...["product_id", "currency", "price", "quantity", "time", "app_id", "properties"],
  ],
  subscriptions: [...IDENTIFIERS, ...["subscription_group_id", "subscription_state", "changed_at"]],
};

const parquetSchema = (kind: ImportKind): string =>
  PARQUET_COLUMNS[kind].map((name) => `${name}: '${PARQUET_TYPES[name] ?? "varchar"}'`).join(", ");

/** @throws in words if DuckDB is not installed. */
export async function writeParquet(path: string, kind: ImportKind, lines: Lines): Promise<void> {
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
        await connection.run(
          `copy (select * from read_json(${quoted(rows)}, format = 'newline_delimited',
             columns = {${parquetSchema(kind)}}, maximum_object_size = ${LONGEST_LINE_BYTES}))
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
