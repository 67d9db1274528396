import { Readable } from "node:stream";
import { type CsvError, type Info, parse } from "csv-parse";
import { csvLineEnds } from "../../../core/base/lines.ts";
import type { Fault } from "../../../core/base/problem.ts";
import { type FileRecord, LONGEST_RECORD_BYTES } from "./record.ts";

/** A CSV file whose header was read. */
export interface CsvFile {
  readonly columns: readonly string[];
  /** Each value is a list of texts, one for each column. */
  readonly records: AsyncIterable<FileRecord>;
}

interface Parsed {
  readonly record: string[];
  readonly info: Info;
}

/**
 * Reads the header of a CSV file. A row with another number of columns is a record with a fault.
 *
 * @param delimiter by default the one of comma, semicolon and tab that the first line has most often.
 * @throws in words if the header is missing or names a column twice.
 */
export async function openCsv(
  name: string,
  head: Buffer,
  chunks: AsyncIterable<Buffer>,
  delimiter = likelyDelimiter(head),
): Promise<CsvFile> {
  const parser = parse({
    bom: true,
    delimiter,
    record_delimiter: csvLineEnds(beginningOf(head)),
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: LONGEST_RECORD_BYTES,
  });
  const source = Readable.from(chunks);
  source.once("error", (error) => parser.destroy(error));
  const rows = source.pipe(parser)[Symbol.asyncIterator]() as AsyncIterator<Parsed>;
  const first = await rows.next().catch((error) => {
    throw explainCsv(name, error);
  });
  if (first.done) throw new Error(`${name} has no header.`);
  const columns = first.value.record.map((column) => column.replace(/^[ \t]+|[ \t]+$/g, ""));
  refuseHeader(name, columns);
  return { columns, records: recordsOf(name, rows, columns, first.value.info) };
}

async function* recordsOf(
  name: string,
  rows: AsyncIterator<Parsed>,
  columns: readonly string[],
  header: Info,
): AsyncGenerator<FileRecord> {
  let line = header.lines + 1;
  for (;;) {
    const next = await rows.next().catch((error) => {
      throw explainCsv(name, error);
    });
    if (next.done) return;
    const { record, info } = next.value;
    const fault = faultOf(record, columns);
    yield { line, endsAt: info.bytes, value: record, ...(fault && { fault }) };
    line = info.lines + 1;
  }
}

function faultOf(record: readonly string[], columns: readonly string[]): Fault | undefined {
  if (record.length !== columns.length) {
    const message = `the row has ${record.length} columns, but the header has ${columns.length}`;
    return { code: "COLUMN_COUNT", message };
  }
  if (!record.some((text) => text.includes("\uFFFD"))) return undefined;
  const message = "the row is not UTF-8: convert the file, for example with iconv";
  return { code: "INVALID_UTF8", message };
}

function refuseHeader(name: string, columns: readonly string[]): void {
  for (const [index, column] of columns.entries()) {
    if (column === "") throw new Error(`Column ${index + 1} of ${name} has no name.`);
    const first = columns.indexOf(column);
    if (first === index) continue;
    throw new Error(
      `The header of ${name} has '${column}' twice, in columns ${first + 1} and ${index + 1}. ` +
        "Rename or remove one of them.",
    );
  }
  if (columns.some((column) => column.includes("\uFFFD"))) {
    throw new Error(
      `The header of ${name} is not UTF-8: convert the file, for example with iconv.`,
    );
  }
}

const beginningOf = (head: Buffer): string => head.toString("utf8", 0, 65_536);

function likelyDelimiter(head: Buffer): string {
  const [line = ""] = beginningOf(head).split(/\r?\n/, 1);
  const count = (delimiter: string) => line.split(delimiter).length;
  return [",", ";", "\t"].reduce((best, each) => (count(each) > count(best) ? each : best));
}

const CSV_FAULTS: Readonly<Record<string, string>> = {
  CSV_MAX_RECORD_SIZE: `is longer than ${LONGEST_RECORD_BYTES} bytes: perhaps a quote is not closed`,
  CSV_QUOTE_NOT_CLOSED: "ends inside a quote that is never closed",
  CSV_INVALID_CLOSING_QUOTE: "has text after a closing quote",
  INVALID_OPENING_QUOTE: "has a quote inside a value that is not quoted",
};

function explainCsv(name: string, error: unknown): unknown {
  const { code, lines } = error as CsvError & { readonly lines?: number };
  const what = CSV_FAULTS[code];
  return what ? new Error(`${name}:${lines}: the row ${what}.`) : error;
}
