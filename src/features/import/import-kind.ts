import type { Fault } from "../../core/base/problem.ts";
import type { Transaction } from "../../core/database/database.ts";

export const IMPORT_KINDS = ["users", "events", "purchases", "subscriptions"] as const;

export type ImportKind = (typeof IMPORT_KINDS)[number];

/** The verdict on a row of a batch that was not simply written. */
export interface RowNote extends Fault {
  /** The place in the batch, from 0. */
  readonly index: number;
  /**
   * `rejected`: the row is invalid. `skipped`: it is valid and has no effect, for example because no user has its alias.
   * `partial`: it was written without one of its values.
   */
  readonly outcome: "rejected" | "skipped" | "partial";
}

export interface ImportProgress {
  readonly kind: ImportKind;
  readonly rowsDone: number;
  readonly rowsImported: number;
  readonly startedAt: Date;
  readonly updatedAt: Date;
  readonly lastFirstRow: number;
  readonly lastNotes: readonly RowNote[];
}

/** Written together with the rows of a batch, in their transaction. */
export type Commit = (tx: Transaction, notes: readonly RowNote[]) => Promise<void>;

/**
 * The form of a note on one row.
 *
 * @param index of the row in its batch.
 */
export const noteOn = (
  index: number,
  outcome: RowNote["outcome"],
  { code, message }: Fault,
): RowNote => ({ index, outcome, code, message });
