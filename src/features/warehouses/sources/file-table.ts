import { basename } from "node:path";
import { fileAt, literal } from "../../../core/base/values/duckdb-text.ts";
import { SourceUnfit } from "../../../core/outbound/unfit.ts";
import type { StrayRow } from "./source.ts";

/*
 * Reads files of each format as one table. Types are fixed, not guessed from a sample: a guess may
 * turn "007" into 7, skip lines before the assumed header, or add null for a missing member of a
 * JSON object.
 */

export const FILE_FORMATS = ["parquet", "csv", "ndjson"] as const;

export type FileFormat = (typeof FILE_FORMATS)[number];

/** Runs a statement; every value comes back as text. */
export type Ask = (statement: string) => Promise<(string | null)[][]>;

/** The part after `from` that reads the files, or undefined if they are empty. */
export async function findTable(
  ask: Ask,
  paths: readonly string[],
  format: FileFormat,
): Promise<string | undefined> {
  if (paths.length === 0) return undefined;
  if (format === "parquet") {
    return `read_parquet(${listOf(paths)}, union_by_name = true, binary_as_string = true,
      hive_partitioning = false)`;
  }
  return format === "csv" ? findCsv(ask, paths) : findJson(ask, paths);
}

const listOf = (paths: readonly string[]): string => `[${paths.map(fileAt).join(", ")}]`;

const allText = (names: readonly string[]): string =>
  `{${names.map((name) => `${literal(name)}: 'VARCHAR'`).join(", ")}}`;

/** In UTF-8. A line longer than this is no row, like one with another number of columns. */
const CSV = `auto_detect = false, hive_partitioning = false,
  max_line_size = 8388608, buffer_size = 16777216`;

const MOST_COLUMNS = 500;

/** The first line of each is read by itself, before the rows. */
const MOST_CSV_FILES = 1_000;

/** Each is a separate reader with separate buffers. */
const MOST_HEADERS = 8;

/** Files may have their columns in any order: the first line says it. Those with the same line are read together. */
async function findCsv(ask: Ask, paths: readonly string[]): Promise<string | undefined> {
  if (paths.length > MOST_CSV_FILES) {
    throw new SourceUnfit(
      `The folder holds more than ${MOST_CSV_FILES} CSV files. Name a smaller folder, or use fewer, larger files.`,
    );
  }
  const groups = new Map<string, string[]>();
  for (const path of paths) {
    const columns = await readFirstLine(ask, path);
    if (!columns) continue;
    refuseRepeated(columns, `The first line of ${basename(path)}`);
    const group = allText(columns);
    const files = groups.get(group) ?? [];
    groups.set(group, files);
    files.push(path);
  }
  if (groups.size > MOST_HEADERS) {
    throw new SourceUnfit(
      `The files have more than ${MOST_HEADERS} different header lines. Name a smaller folder.`,
    );
  }
  const tables = [...groups].map(
    ([columns, files]) =>
      `from read_csv(${listOf(files)}, header = true, store_rejects = true, quote = '"',
         escape = '"', columns = ${columns}, ${CSV})`,
  );
  return tables.length === 0 ? undefined : `(${tables.join(" union all by name ")})`;
}

/** The names of a file's columns, or undefined if it is empty. */
async function readFirstLine(ask: Ask, path: string): Promise<string[] | undefined> {
  const numbers = Array.from({ length: MOST_COLUMNS }, (_, index) => `column${index}`);
  const first = `from read_csv(${fileAt(path)}, header = false, ignore_errors = true, ${CSV}`;
  const [names] = await ask(
    `${first}, null_padding = true, parallel = false, quote = '"', escape = '"', columns = ${allText(numbers)})
     limit 1`,
  );
  if (names?.some((name) => name?.includes("\0"))) {
    throw new SourceUnfit(`${basename(path)} is not in UTF-8: it has zero bytes, as UTF-16 has.`);
  }
  if (names) {
    const count = names.findLastIndex((name) => name !== null) + 1;
    return numbers.slice(0, count).map((number, index) => names[index] ?? number);
  }
  const [line] = await ask(
    `${first}, delim = '\x01', quote = '', escape = '', columns = {'line': 'VARCHAR'}) limit 1`,
  );
  if (line)
    throw new SourceUnfit(
      `The first line of ${basename(path)} cannot be read, or has more than ${MOST_COLUMNS} columns.`,
    );
  return undefined;
}

/** Names that differ in case alone are one column, and a row has one value for it. */
function refuseRepeated(names: readonly string[], place: string): void {
  const seen = new Map<string, string>();
  for (const name of names) {
    const other = seen.get(name.toLowerCase());
    if (other === undefined) seen.set(name.toLowerCase(), name);
    else throw new SourceUnfit(`${place} has both '${other}' and '${name}', which are one column.`);
  }
}

/** A line that is no JSON object becomes a row without anything: it is reported, not left out. */
async function findJson(ask: Ask, paths: readonly string[]): Promise<string | undefined> {
  const lines = `read_ndjson_objects(${listOf(paths)}, ignore_errors = true)`;
  const names = await ask(
    `select distinct unnest(json_keys(json)) as name from ${lines} where json_type(json) = 'OBJECT'
     order by name`,
  );
  if (names.length === 0) {
    const [line] = await ask(`select 1 from ${lines} limit 1`);
    if (line) throw noRows(paths);
    return undefined;
  }
  const spellings = new Map<string, string[]>();
  for (const [name] of names) {
    const key = (name ?? "").toLowerCase();
    spellings.set(key, [...(spellings.get(key) ?? []), name ?? ""]);
  }
  if (spellings.size < names.length) return inOneCase(ask, lines, [...spellings.values()]);
  return `read_json(${listOf(paths)}, format = 'newline_delimited', ignore_errors = true,
    columns = ${allText(names.map(([name]) => name ?? ""))}, hive_partitioning = false)`;
}

const noRows = (paths: readonly string[]): SourceUnfit => {
  const [path = ""] = paths;
  const where = paths.length === 1 ? basename(path) : `the ${paths.length} files`;
  return new SourceUnfit(
    `No line of ${where} is a row: NDJSON has one JSON object on each line, in UTF-8, without brackets or commas around the objects.`,
  );
};

/** Objects that spell the same name in different cases, as one table. */
async function inOneCase(
  ask: Ask,
  lines: string,
  columns: readonly (readonly string[])[],
): Promise<string> {
  const textAt = (name: string) => `(json ->> ${literal(pointerTo(name))})`;
  for (const names of columns.filter(({ length }) => length > 1)) {
    const isGiven = names.map((name) => `(${textAt(name)} is not null)::integer`).join(" + ");
    const [line] = await ask(`select 1 from ${lines} where ${isGiven} > 1 limit 1`);
    if (line) refuseRepeated(names, "A line");
  }
  const selected = columns.map((names) => {
    const name = (names[0] ?? "").replaceAll('"', '""');
    return `coalesce(${names.map(textAt).join(", ")}) as "${name}"`;
  });
  return `(select ${selected.join(", ")} from ${lines})`;
}

/** RFC 6901. */
const pointerTo = (name: string): string => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** The lines of CSV files that are no rows, once the files were read. */
export async function findBrokenLines(
  ask: Ask,
  atMost: number,
): Promise<{ readonly count: number; readonly examples: readonly StrayRow[] }> {
  const [hasRejects] = await ask(
    "select 1 from duckdb_tables() where table_name = 'reject_errors' limit 1",
  );
  if (!hasRejects) return { count: 0, examples: [] };
  // Each reading of a file notes them again.
  const lines = `select distinct parse_filename(file_path) as file, line
    from reject_errors join reject_scans using (scan_id, file_id)`;
  const [counted] = await ask(`select count(*) from (${lines})`);
  const examples = await ask(`${lines} order by file, line limit ${atMost}`);
  return {
    count: Number(counted?.[0]),
    examples: examples.map(([file, line]) => ({
      why: "broken",
      identity: { file: file ?? "", line: line ?? "" },
      updatedAt: null,
    })),
  };
}
