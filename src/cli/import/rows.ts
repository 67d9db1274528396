import type { Fault } from "../../base/problem.ts";
import type { ImportKind } from "../../intake/import/import-kind.ts";
import type { KnownApp } from "./braze.ts";
import { rowsOfBraze } from "./braze.ts";
import { type Column, type ColumnOptions, inferColumns, objectOf } from "./columns.ts";
import { openCsv } from "./csv.ts";
import { rowsOfCall } from "./event-spec.ts";
import { readNdjson } from "./ndjson.ts";
import type { FileRecord } from "./record.ts";
import type { Source } from "./source.ts";

export const PRESETS = ["segment", "rudderstack", "braze"] as const;

export type Preset = (typeof PRESETS)[number];

export const FORMATS = ["ndjson", "csv"] as const;

/** A row to import, or why it cannot be one. */
export interface Row {
  readonly line: number;
  readonly endsAt: number;
  /** What is sent; `null` for a row with a fault, so that the server counts it. */
  readonly json: string;
  readonly fault?: Fault;
  /** The row as it is in the file, for the file of rejected rows. */
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
  /** Of a CSV file. */
  readonly columns?: readonly Column[];
  readonly rows: AsyncIterable<Row>;
  /** What a preset left out, each once. */
  readonly leftOut: ReadonlySet<string>;
  /** How many records are of another kind than the one that is imported. */
  passedOver(): number;
}

/** As many rows decide what the columns of a CSV file hold. */
const SAMPLE_ROWS = 1_000;

/** Reads a file as rows. @throws in words if it cannot be read as such. */
export async function readRows(source: Source, options: ReadOptions): Promise<Rows> {
  const leftOut = new Set<string>();
  let others = 0;
  const format = options.format ?? formatOf(source);
  const read = format === "csv" ? await readCsv(source, options) : undefined;
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
  return { line, endsAt, json: json ?? JSON.stringify(record.value), value: record.value };
}

function formatOf({ name, head }: Source): "ndjson" | "csv" {
  if (/\.(csv|tsv)(\.gz)?$/i.test(name)) return "csv";
  if (/\.(ndjson|jsonl|json)(\.gz)?$/i.test(name)) return "ndjson";
  return /^\uFEFF?\s*[[{]/.test(head.toString("utf8")) ? "ndjson" : "csv";
}

interface Csv {
  readonly columns: readonly Column[];
  readonly records: AsyncIterable<FileRecord>;
}

async function readCsv(source: Source, options: ReadOptions): Promise<Csv> {
  const file = await openCsv(source.name, source.head, source.chunks, options.delimiter);
  const iterator = file.records[Symbol.asyncIterator]();
  const sample: FileRecord[] = [];
  while (sample.length < SAMPLE_ROWS) {
    const next = await iterator.next();
    if (next.done) break;
    sample.push(next.value);
  }
  const good = sample.filter(({ fault }) => !fault).map(({ value }) => value as string[]);
  const columns = inferColumns(options.kind, file.columns, good, options);
  async function* records(): AsyncGenerator<FileRecord> {
    for (const record of sample.splice(0)) yield asObject(columns, record);
    for (;;) {
      const next = await iterator.next();
      if (next.done) return;
      yield asObject(columns, next.value);
    }
  }
  return { columns, records: records() };
}

function asObject(columns: readonly Column[], record: FileRecord): FileRecord {
  if (record.fault) return record;
  const texts = record.value as string[];
  const object = objectOf(columns, texts);
  if ("value" in object) return { ...record, value: object.value };
  const shown = Object.fromEntries(columns.map(({ name }, index) => [name, texts[index]]));
  return { ...record, fault: object.fault, value: shown };
}
