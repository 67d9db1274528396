import { sha256 } from "../../core/base/values/hashes.ts";
import { uuidOf } from "../../core/base/values/uuid.ts";
import type { SourceRow } from "./sources/source.ts";

/*
 * The boundary is the watermark of a sync: the last processed UPDATED_AT. Rows that arrive late
 * with exactly that time must be applied, rows already applied must not be repeated, and two rows
 * with the same content are two rows (identical events are separate events).
 *
 * A run therefore reads from the boundary, inclusive, and counts the rows at the boundary by
 * content: how many of each were ever processed, and how many this read has seen. The n-th row with
 * the same content in a read is new if fewer than n were processed. Rows after the boundary are
 * always new. Counts are stored only for the boundary, and change in the transaction that applies
 * the rows. (decision: docs/decisions/warehouse-progress.md)
 */

/** How many rows of one content there are at the boundary. */
export interface BoundaryCount {
  readonly processed: number;
  readonly seen: number;
}

export interface Sifted {
  /** The rows that were not processed before, in their order. */
  readonly fresh: readonly SourceRow[];
  readonly boundary: Boundary;
}

export interface Boundary {
  readonly through: string;
  /** Whether it is later than before, so that the counts of the old one can go. */
  readonly hasMoved: boolean;
  /** By row hash: the changes to the counts of these rows. */
  readonly counts: ReadonlyMap<string, BoundaryCount>;
}

/** Distinguishes a row from others of its time: its content, as a UUID. */
export function rowHash(row: SourceRow): string {
  const content = JSON.stringify([row.identifiers, row.payloadBytes, row.payload]);
  return uuidOf(sha256(content));
}

/** The hashes of the rows whose counts `sift` needs. */
export const hashesAt = (rows: readonly SourceRow[], through: string): string[] => [
  ...new Set(rows.filter((row) => row.updatedAt === through).map(rowHash)),
];

/**
 * Separates new rows from rows that were processed before.
 *
 * @param rows in the order of UPDATED_AT, none before `through`, at least one.
 * @param through the boundary so far.
 * @param known the counts of `hashesAt(rows, through)`; a missing hash was never seen.
 */
export function sift(
  rows: readonly SourceRow[],
  through: string,
  known: ReadonlyMap<string, BoundaryCount>,
): Sifted {
  const last = rows.at(-1)?.updatedAt ?? through;
  const atOld = new Map(known);
  const atLast = last === through ? atOld : new Map<string, BoundaryCount>();
  const fresh = rows.filter((row) => {
    if (row.updatedAt !== through && row.updatedAt !== last) return true;
    return isNew(row.updatedAt === through ? atOld : atLast, rowHash(row));
  });
  return { fresh, boundary: { through: last, hasMoved: last !== through, counts: atLast } };
}

/** Counts a row, and says whether it is one more than were processed. */
function isNew(counts: Map<string, BoundaryCount>, hash: string): boolean {
  const { processed, seen } = counts.get(hash) ?? { processed: 0, seen: 0 };
  counts.set(hash, { processed: Math.max(processed, seen + 1), seen: seen + 1 });
  return seen >= processed;
}
