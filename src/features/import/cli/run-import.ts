import type { ProgressDisplay } from "../../../cli/progress.ts";
import { budgetsOf } from "../../../core/base/work.ts";
import { countValues } from "../../../core/http/json-body.ts";
import type { RowNote } from "../import-kind.ts";
import type { Reject, Rejects } from "./rejects.ts";
import type { Row } from "./rows.ts";
import { type Import, type Progress, sendRows } from "./send.ts";

/** As many as one request may hold. */
const ROWS_PER_BATCH = 1_000;

/** Well below the largest body. */
const BYTES_PER_BATCH = 2_000_000;

/** Well below the limit of a request. */
const VALUES_PER_BATCH = budgetsOf({}).valuesIn / 2;

export interface RunOptions {
  readonly rows: AsyncIterable<Row>;
  /** Unpacked; undefined if it is unknown. */
  readonly totalBytes: number | undefined;
  /** How far an earlier run came. */
  readonly resumed: Progress | undefined;
  readonly rejects: Rejects;
  readonly maxRejects: number;
  readonly display: ProgressDisplay;
  /** Whether to end after the batch that runs. */
  isStopped(): boolean;
}

export interface RunResult {
  /** Includes earlier runs. */
  rows: number;
  imported: number;
  /** Only sent by this run. */
  sent: number;
  /** Written without one of their values, in this run. */
  partial: number;
  /** Why the import ended before the file did. */
  ended?: "too many rejects" | "stopped";
}

/** Sends all rows of a file, one batch after the other. @throws AdminError, with nothing of a batch half-written. */
export async function runImport(run: Import, options: RunOptions): Promise<RunResult> {
  const { resumed, rejects, maxRejects, display, totalBytes } = options;
  const result: RunResult = {
    rows: resumed?.rows_done ?? 0,
    imported: resumed?.rows_imported ?? 0,
    sent: 0,
    partial: 0,
  };
  const show = (endsAt: number) =>
    display.show({
      done: result.rows,
      total: null,
      failed: result.rows - result.imported,
      before: resumed?.rows_done ?? 0,
      ...(totalBytes && { share: Math.min(1, endsAt / totalBytes) }),
    });
  for await (const { firstRow, rows, isDone } of batchesOf(options.rows, resumed)) {
    if (isDone) {
      // The response to the last batch of an earlier run may never have arrived.
      await rejects.write(rejectsOf(firstRow, rows, resumed?.last_batch.notes ?? []));
      continue;
    }
    const { imported, notes } = await sendRows(run, firstRow, rows, display.say);
    await rejects.write(rejectsOf(firstRow, rows, notes));
    result.rows += rows.length;
    result.sent += rows.length;
    result.imported += imported;
    result.partial += countPartial(rows, notes);
    show(rows.at(-1)?.endsAt ?? 0);
    if (result.rows - result.imported > maxRejects) return { ...result, ended: "too many rejects" };
    if (options.isStopped()) return { ...result, ended: "stopped" };
  }
  return result;
}

interface Batch {
  readonly firstRow: number;
  readonly rows: readonly Row[];
  /** Whether it is the last batch of an earlier run. */
  readonly isDone: boolean;
}

/**
 * Skips the batches that an earlier run committed, except for its last one. The next batch is read
 * while one is sent.
 */
async function* batchesOf(
  all: AsyncIterable<Row>,
  resumed: Progress | undefined,
): AsyncGenerator<Batch> {
  const done = resumed?.rows_done ?? 0;
  const lastFrom = resumed?.last_batch.first_row ?? 1;
  let number = 0;
  let rows: Row[] = [];
  let bytes = 0;
  let values = 0;
  const take = (isDone: boolean): Batch => {
    const batch = { firstRow: number - rows.length + 1, rows, isDone };
    rows = [];
    bytes = 0;
    values = 0;
    return batch;
  };
  for await (const read of all) {
    if (number + 1 < lastFrom) {
      number += 1;
      continue;
    }
    const { row, ofRow } = weigh(read);
    const isFull =
      rows.length === ROWS_PER_BATCH ||
      bytes + row.json.length > BYTES_PER_BATCH ||
      values + ofRow > VALUES_PER_BATCH;
    if (rows.length > 0 && number > done && isFull) yield take(false);
    rows.push(row);
    bytes += row.json.length;
    values += ofRow;
    number += 1;
    if (number === done) yield take(true);
  }
  if (rows.length > 0) yield take(false);
}

/** How many JSON values a row holds. One with more than a request may hold cannot be sent. */
function weigh(row: Row): { readonly row: Row; readonly ofRow: number } {
  const ofRow = countValues(Buffer.from(row.json));
  if (ofRow <= VALUES_PER_BATCH) return { row, ofRow };
  const message = `the row has more than ${VALUES_PER_BATCH} JSON values`;
  return { row: { ...row, json: "null", fault: { code: "TOO_MANY_VALUES", message } }, ofRow: 1 };
}

/** Rows that were written without one of their values, which the server or the reader left out. */
function countPartial(rows: readonly Row[], notes: readonly RowNote[]): number {
  const unwritten = new Set(
    notes.filter(({ outcome }) => outcome !== "partial").map(({ index }) => index),
  );
  const partial = new Set(notes.map(({ index }) => index));
  for (const [index, { leftOut }] of rows.entries()) if (leftOut) partial.add(index);
  return [...partial].filter((index) => !unwritten.has(index)).length;
}

/** The verdict on a row that could not even be read is the reader's. */
function rejectsOf(firstRow: number, rows: readonly Row[], notes: readonly RowNote[]): Reject[] {
  const leftOut = rows.flatMap(({ line, value, leftOut: faults = [] }, index) =>
    faults.map((fault) => ({
      row: firstRow + index,
      line,
      outcome: "partial",
      ...fault,
      data: value,
    })),
  );
  const judged = notes.flatMap(({ index, outcome, code, message }) => {
    const row = rows[index];
    if (!row) return [];
    const fault = row.fault ?? { code, message };
    const { line, value } = row;
    return [{ row: firstRow + index, line, outcome, ...fault, data: value }];
  });
  return [...judged, ...leftOut].sort((one, other) => one.row - other.row);
}
