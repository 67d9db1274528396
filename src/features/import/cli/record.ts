import type { Fault } from "../../../core/base/problem.ts";
import { type Column, objectOf } from "./columns.ts";

/** One record of a file as read. */
export interface FileRecord {
  /** The line where it begins, from 1. */
  readonly line: number;
  /** How many bytes of the file it ends after. */
  readonly endsAt: number;
  /** The parsed value, or why there is none. */
  readonly value: unknown;
  readonly fault?: Fault;
  /** Members that were left out of the value. */
  readonly leftOut?: readonly Fault[];
  /** Its JSON, if the line itself is JSON. */
  readonly json?: string;
}

/** A file whose records are rows of columns. */
export interface Table {
  readonly columns: readonly Column[];
  readonly records: AsyncIterable<FileRecord>;
}

/** The longest record, in bytes: below the limit of a request. */
export const LONGEST_RECORD_BYTES = 2_000_000;

/** What a row of a file says: an object, or its cells as `shown` with the reason why they are none. */
export function readRow(
  columns: readonly Column[],
  isProfile: boolean,
  readers: Parameters<typeof objectOf>[2],
  shown: readonly (string | null)[],
  cells = shown,
): Pick<FileRecord, "value" | "fault" | "leftOut"> {
  const row = objectOf(columns, cells, readers);
  if ("fault" in row) {
    const value = Object.fromEntries(columns.map(({ name }, index) => [name, shown[index]]));
    return { value, fault: row.fault };
  }
  const value = isProfile ? { custom_attributes: {}, ...row.value } : row.value;
  return { value, leftOut: row.leftOut };
}
