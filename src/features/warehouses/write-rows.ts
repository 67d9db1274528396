import type { Job } from "../../core/admin/jobs/job.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { storableText } from "../../core/base/values/plain-json.ts";
import { commitTogether } from "../../core/database/commit-together.ts";
import { settleAll, type Transaction } from "../../core/database/database.ts";
import type { WriteServices } from "../../core/track/write-batch.ts";
import { deleteRows, type Note, trackRows } from "./apply-rows.ts";
import { hashesAt, sift } from "./boundary.ts";
import type { IntegrationType } from "./integration.ts";
import {
  insertLogEntries,
  type LogEntry,
  type ReadingKey,
  selectBoundary,
  upsertBoundary,
} from "./progress-store.ts";
import type { SourceRow } from "./sources/source.ts";
import { addToRun, type RowCounts, type RunKey, updateProgress } from "./store.ts";

/** A run that reads its source: its workspace, its target, and which reading this is. */
export interface Reading {
  readonly context: WorkspaceContext;
  readonly key: RunKey & ReadingKey;
  readonly job: Job;
  readonly type: IntegrationType;
}

/**
 * Applies rows and records the progress in one transaction.
 *
 * @param rows in the order of UPDATED_AT, none before `through`, at least one.
 * @param through the boundary so far.
 * @returns the boundary after them, and whether any of them was new.
 * @throws LeaseLost if another process has taken over the run.
 */
export async function writeRows(
  services: WriteServices,
  reading: Reading,
  rows: readonly SourceRow[],
  through: string,
): Promise<{ readonly through: string; readonly hasAdvanced: boolean }> {
  const { key, context, job, type } = reading;
  const known = await selectBoundary(services.database, key, hashesAt(rows, through));
  const { fresh, boundary } = sift(rows, through, known);
  const now = services.clock.now();
  const hasAdvanced = fresh.length > 0;

  async function commit(tx: Transaction, notes: readonly Note[]): Promise<void> {
    const counts = countRows(rows.length, fresh.length, notes);
    const entries = [...notes]
      .sort((one, other) => one.index - other.index)
      .map((note) => entryOf(fresh, note, services.clock.newId()));
    await settleAll([
      commitTogether(tx),
      hasAdvanced ? job.advance(tx) : job.hold(tx),
      updateProgress(tx, key, boundary.through),
      upsertBoundary(tx, key, boundary),
      addToRun(tx, key, counts, boundary.through),
      insertLogEntries(tx, key, entries, now),
    ]);
  }

  if (type === "delete") await deleteRows(services, context, fresh, commit);
  else await trackRows(services, context, type, fresh, commit);
  return { through: boundary.through, hasAdvanced };
}

function countRows(read: number, fresh: number, notes: readonly Note[]): RowCounts {
  const failed = notes.filter(({ outcome }) => outcome === "failed").length;
  return { read, synced: fresh - failed, skipped: notes.length - failed, failed };
}

function entryOf(
  rows: readonly SourceRow[],
  { index, outcome, fault }: Note,
  id: string,
): LogEntry {
  const { identifiers, updatedAt } = rows[index] as SourceRow;
  return { id, outcome, identity: storable(identifiers), updatedAt, ...fault };
}

/**
 * The identifiers of a row may contain characters that no text can: that may be why the row failed.
 */
export const storable = (identity: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(identity).map(([name, text]) => [name, notedText(text)]));

const LONGEST_NOTE = 1_000;

/** A text in a form that the engines can store, cut off after 1,000 characters. */
export const notedText = (text: string): string => storableText(text.slice(0, LONGEST_NOTE));
