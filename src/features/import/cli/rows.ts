import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Line, linesOf } from "../../../core/base/lines.ts";
import type { Fault } from "../../../core/base/problem.ts";
import { rearm } from "../../../core/base/values/spreadsheets.ts";
import type { ImportKind } from "../import-kind.ts";
import { type KnownApp, rowsOfBraze } from "./braze.ts";
import {
  addToFacts,
  areProfiles,
  type Column,
  type ColumnOptions,
  inferColumns,
  noFacts,
  readersWith,
  readHeadings,
} from "./columns.ts";
import { openCsv } from "./csv.ts";
import { rowsOfCall } from "./event-spec.ts";
import { readParquet } from "./parquet.ts";
import { type FileRecord, LONGEST_RECORD_BYTES, readRow, type Table } from "./record.ts";
import { isParquetHead, openSource, type Source } from "./source.ts";

/**
 * The records of NDJSON: one JSON value a line, empty lines are passed over. An unreadable line is
 * a record with a fault; a line that is too long is never held in memory.
 *
 * @throws an explanation if the file is one JSON array.
 */
async function* readNdjson(
  name: string,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<FileRecord> {
  for await (const line of linesOf(chunks, LONGEST_RECORD_BYTES)) {
    const record = recordOf(name, line);
    if (record) yield record;
  }
}

function recordOf(name: string, { number, endsAt, bytes }: Line): FileRecord | undefined {
  const faulty = (fault: Fault, value: unknown = null) => ({ line: number, endsAt, value, fault });
  if (!bytes) {
    const message = `the line is longer than ${LONGEST_RECORD_BYTES} bytes`;
    return faulty({ code: "LINE_TOO_LONG", message });
  }
  if (!isUtf8(bytes)) {
    const message = "the line is not UTF-8: convert the file, for example with iconv";
    return faulty({ code: "INVALID_UTF8", message }, bytes.toString("latin1"));
  }
  const text = withoutMark(bytes.toString("utf8"), number).trim();
  if (text === "") return undefined;
  try {
    return { line: number, endsAt, value: JSON.parse(text), json: text };
  } catch {
    if (number === 1 && text.startsWith("[")) {
      throw new Error(`${name} is one JSON array. Write one object a line: jq -c '.[]' ${name}`);
    }
    return faulty({ code: "INVALID_JSON", message: "the line is not one JSON value" }, text);
  }
}

const withoutMark = (text: string, number: number): string =>
  number === 1 && text.startsWith("\uFEFF") ? text.slice(1) : text;

export const PRESETS = ["segment", "rudderstack", "braze"] as const;

export type Preset = (typeof PRESETS)[number];

export const FORMATS = ["ndjson", "csv", "parquet"] as const;

/** A row to import, or why it cannot be one. */
export interface Row {
  readonly line: number;
  readonly endsAt: number;
  /** The object to send; `null` for a row with a fault, so that the server counts it. */
  readonly json: string;
  readonly fault?: Fault;
  /** Cells that the reader left out of the row. */
  readonly leftOut?: readonly Fault[];
  /** The row as in the file, for the file of rejected rows. */
  readonly value: unknown;
}

export interface ReadOptions extends ColumnOptions {
  readonly kind: ImportKind;
  readonly format: (typeof FORMATS)[number] | undefined;
  readonly delimiter: string | undefined;
  readonly preset: Preset | undefined;
  readonly apps: readonly KnownApp[];
}

export interface Rows {
  /** For a CSV or Parquet file. */
  readonly columns?: readonly Column[];
  readonly rows: AsyncIterable<Row>;
  /** Members that a preset left out, each once. */
  readonly leftOut: ReadonlySet<string>;
  /** How many records are of another kind than the imported one. */
  passedOver(): number;
}

/** Reads a file as rows. @throws in words if it cannot be read as such. */
export async function readRows(source: Source, options: ReadOptions): Promise<Rows> {
  const leftOut = new Set<string>();
  let others = 0;
  const read = await readTable(source, options);
  const records = read?.records ?? readNdjson(source.name, source.chunks);
  async function* rows(): AsyncGenerator<Row> {
    for await (const record of records) {
      const values = valuesOf(record, options, (what) => leftOut.add(what));
      if (!values) yield rowOf(record);
      else if (values.length === 0) others += 1;
      else for (const value of values) yield rowOf(record, value);
    }
  }
  return {
    ...(read && { columns: read.columns }),
    rows: rows(),
    leftOut,
    passedOver: () => others,
  };
}

/** Undefined: the record is the row. */
function valuesOf(
  { value, fault }: FileRecord,
  { kind, preset, apps }: ReadOptions,
  warn: (what: string) => void,
): unknown[] | undefined {
  if (fault || preset === undefined) return undefined;
  return preset === "braze" ? rowsOfBraze(kind, value, apps, warn) : rowsOfCall(kind, value);
}

function rowOf({ line, endsAt, fault, json, ...record }: FileRecord, value?: unknown): Row {
  if (fault) return { line, endsAt, json: "null", fault, value: record.value };
  if (value !== undefined) return { line, endsAt, json: JSON.stringify(value), value };
  const { leftOut = [] } = record;
  const text = json ?? JSON.stringify(record.value);
  return { line, endsAt, json: text, value: record.value, ...(leftOut.length > 0 && { leftOut }) };
}

/** A file with columns; undefined if it is NDJSON. */
async function readTable(source: Source, options: ReadOptions): Promise<Table | undefined> {
  const format = options.format ?? formatOf(source);
  const isParquet = isParquetHead(source.head);
  if (isParquet !== (format === "parquet"))
    throw new Error(
      isParquet
        ? `${source.name} is a Parquet file: leave out --format ${format}.`
        : `${source.name} is no Parquet file: it does not begin with PAR1.`,
    );
  if (isParquet) return readParquet(source, options);
  return format === "csv" ? readCsv(source, options) : undefined;
}

function formatOf({ name, head }: Source): (typeof FORMATS)[number] {
  if (isParquetHead(head) || /\.parquet$/i.test(name)) return "parquet";
  if (/\.(csv|tsv)(\.gz)?$/i.test(name)) return "csv";
  if (/\.(ndjson|jsonl|json)(\.gz)?$/i.test(name)) return "ndjson";
  return /^\uFEFF?\s*[[{]/.test(head.toString("utf8")) ? "ndjson" : "csv";
}

async function readCsv(source: Source, options: ReadOptions): Promise<Table> {
  const { kind, delimiter, decimal, trim } = options;
  const clean = (text: string) => (trim ? text.trim() : text);
  const openFile = (chunks: AsyncIterable<Buffer>) =>
    openCsv(source.name, source.head, chunks, delimiter);
  const { read, again } = await twice(source);
  const scanned = await openFile(read);
  const headings = readHeadings(scanned.columns, options);
  const facts = headings.map(noFacts);
  // A column whose first text is in its last row is a column of texts.
  for await (const { value, fault } of scanned.records) {
    if (fault) continue;
    for (const [index, text] of (value as string[]).entries()) {
      const ofColumn = facts[index];
      if (ofColumn) addToFacts(ofColumn, clean(text), decimal);
    }
  }
  const columns = inferColumns(kind, headings, facts, options);
  const isProfile = areProfiles(kind, columns);
  const readers = { ...readersWith(decimal), text: rearm };
  async function* records(): AsyncGenerator<FileRecord> {
    const file = await openFile(await again());
    for await (const record of file.records) {
      if (record.fault) yield record;
      else {
        const texts = (record.value as string[]).map(clean);
        yield { ...record, ...readRow(columns, isProfile, readers, texts, texts.map(cellOf)) };
      }
    }
  }
  return { columns, records: records() };
}

/**
 * The content of a source, which can be read twice; a source that can be read only once goes to a
 * temporary file.
 */
async function twice({ path, chunks }: Source) {
  if (path !== undefined) {
    return { read: chunks, again: async () => (await openSource(path)).chunks };
  }
  const name = join(tmpdir(), `rapport-import-${randomUUID()}`);
  const file = await open(name, "wx+", 0o600);
  // The file belongs only to this process, and is deleted when the process ends.
  await rm(name);
  async function* read(): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      await file.writeFile(chunk);
      yield chunk;
    }
  }
  return {
    read: read(),
    again: async (): Promise<AsyncIterable<Buffer>> => file.createReadStream({ start: 0 }),
  };
}

/** An empty cell is absent. */
const cellOf = (text: string): string | null => (text === "" ? null : text);
