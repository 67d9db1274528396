import { createHash } from "node:crypto";
import type { SourceRow } from "./sources/source.ts";

/*
 * The boundary: the last UPDATED_AT that was processed. Rows that arrive late with that very time are
 * to be applied, those that were applied before are not to be repeated, and two rows of the same
 * content are two rows (two events that look alike are two events).
 *
 * So a run reads from the boundary on, inclusive, and the rows at the boundary are known by their
 * content: how many of each were processed, ever; and how many of each this reading has come across.
 * The n-th of its kind in a reading is new when fewer than n were processed. Of a later time than the
 * boundary all rows are new. Counts are kept for one time only, the boundary, and change in the
 * transaction that applies the rows. (decision: docs/decisions/warehouse-progress.md)
 */

/** How many rows of one content there are at the boundary. */
export interface BoundaryCount {
  readonly processed: number;
  readonly seen: number;
}

export interface Sifted {
  /** The rows that were not processed before, in their order. */
  readonly fresh: readonly SourceRow[];
  /** The boundary after these rows. */
  readonly boundary: Boundary;
}

export interface Boundary {
  readonly through: string;
  /** Whether it is later than before, so that the counts of the old one can go. */
  readonly hasMoved: boolean;
  /** By row hash, of what these rows change. */
  readonly counts: ReadonlyMap<string, BoundaryCount>;
}

/** What distinguishes a row from others of its time: its content, as a UUID. */
export function rowHash(row: SourceRow): string {
  const content = JSON.stringify([row.identifiers, row.payloadBytes, row.payload]);
  const hex = createHash("sha256").update(content).digest("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20, 32),
  ].join("-");
}

/** The hashes of the rows whose counts `sift` has to know. */
export const hashesAt = (rows: readonly SourceRow[], through: string): string[] => [
  ...new Set(rows.filter((row) => row.updatedAt === through).map(rowHash)),
];

/**
 * Separates new rows from those that were processed before.
 *
 * @param rows in the order of UPDATED_AT, none before `through`, at least one.
 * @param through the boundary so far.
 * @param known what is known of `hashesAt(rows, through)`; a hash that is not there was never seen.
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
