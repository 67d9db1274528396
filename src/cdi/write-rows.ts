import type { Workspace } from "../access/workspace.ts";
import { allDone } from "../database/database.ts";
import type { Job } from "../jobs/job.ts";
import type { Item, Verdict } from "../track/item.ts";
import { type WriteServices, writeBatch } from "../track/write-batch.ts";
import { hashesAt, sift } from "./boundary.ts";
import { checkRow, type RowFault, withField } from "./check-row.ts";
import type { IntegrationType } from "./integration.ts";
import {
  insertLogEntries,
  type LogEntry,
  selectBoundary,
  upsertBoundary,
} from "./progress-store.ts";
import type { SourceRow } from "./sources/source.ts";
import { addToRun, type RowCounts, updateProgress } from "./store.ts";

/** A run that reads its source: for whom, into what, and which reading of it this is. */
export interface Reading {
  /** A new one each time the source is opened. */
  readonly id: string;
  readonly job: Job;
  readonly workspace: Workspace;
  readonly type: IntegrationType;
}

/**
 * Applies rows, in one transaction with the progress that says so: both are there or neither is.
 *
 * @param rows in the order of UPDATED_AT, none before `through`, at least one.
 * @param through the boundary so far.
 * @returns the boundary after them, and whether any of them was new.
 * @throws LeaseLost where another process has the run by now.
 */
export async function writeRows(
  services: WriteServices,
  reading: Reading,
  rows: readonly SourceRow[],
  through: string,
): Promise<{ readonly through: string; readonly hasAdvanced: boolean }> {
  const { id: readingId, job, workspace } = reading;
  const { workspaceId, subject: integrationId } = job;
  const known = await selectBoundary(
    services.database,
    workspaceId,
    integrationId,
    hashesAt(rows, through),
    readingId,
  );
  const { fresh, boundary } = sift(rows, through, known);
  const { items, rejected } = checkRows(services, reading, fresh);
  const now = services.clock.now();
  const hasAdvanced = fresh.length > 0;
  await writeBatch(services, [
    {
      workspace,
      call: { name: job.kind, keyName: null, requestId: job.id },
      items,
      async alsoWrite(tx, verdicts) {
        const notes = [...rejected, ...judge(items, verdicts)];
        const counts = countRows(rows.length, fresh.length, notes);
        const entries = notes
          .sort((one, other) => one.index - other.index)
          .map((note) => entryOf(fresh, note, services.clock.newId()));
        await allDone([
          hasAdvanced ? job.advance(tx) : job.hold(tx),
          updateProgress(tx, workspaceId, integrationId, boundary.through),
          upsertBoundary(tx, workspaceId, integrationId, boundary, readingId),
          addToRun(tx, workspaceId, integrationId, job.id, counts, boundary.through),
          insertLogEntries(tx, workspaceId, integrationId, job.id, entries, now),
        ]);
      },
    },
  ]);
  return { through: boundary.through, hasAdvanced };
}

/** What is to be said of a row, by its index. */
interface Note {
  readonly index: number;
  readonly outcome: "failed" | "skipped";
  readonly fault: RowFault;
}

function checkRows(
  { clock }: WriteServices,
  { workspace, type }: Reading,
  rows: readonly SourceRow[],
): { items: Item[]; rejected: Note[] } {
  const now = clock.now();
  const items: Item[] = [];
  const rejected: Note[] = [];
  for (const [index, row] of rows.entries()) {
    const checked = checkRow(workspace, type, row, now);
    if ("item" in checked) items.push({ ...checked.item, array: type, index });
    else rejected.push({ index, outcome: "failed", fault: checked.fault });
  }
  return { items, rejected };
}

const judge = (items: readonly Item[], verdicts: readonly Verdict[]): Note[] =>
  verdicts.flatMap((verdict, place): Note[] => {
    const { index } = items[place] as Item;
    if (verdict.outcome === "applied") return [];
    if (verdict.outcome === "refused") {
      return [{ index, outcome: "failed", fault: withField(verdict.fault) }];
    }
    return [{ index, outcome: "skipped", fault: withField(verdict.reason) }];
  });

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

/** What identifies a row may hold what no text can: that may be why the row failed. */
export const storable = (identity: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(identity).map(([name, text]) => [name, storableText(text)]));

const LONGEST_NOTE = 1_000;

export const storableText = (text: string): string =>
  text.slice(0, LONGEST_NOTE).toWellFormed().replaceAll("\0", "\u{FFFD}");
