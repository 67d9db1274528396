import { recordChanges } from "../../core/admin/audit/audit.ts";
import { earlier } from "../../core/base/clock.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { commitTogether } from "../../core/database/commit-together.ts";
import type { Database, Transaction } from "../../core/database/database.ts";
import type { WriteServices } from "../../core/track/write-batch.ts";
import { importItems } from "./import-items.ts";
import type { Commit, ImportKind, ImportProgress, RowNote } from "./import-kind.ts";
import { importProfiles } from "./import-profiles.ts";
import { importSubscriptions } from "./import-subscriptions.ts";
import {
  advanceImport,
  type BatchDone,
  deleteImport,
  deleteOldImports,
  insertImport,
  selectImport,
} from "./imports-store.ts";

export interface ImportBatch {
  readonly importId: string;
  readonly kind: ImportKind;
  /** The number of the first one in the file, from 1. */
  readonly firstRow: number;
  readonly rows: readonly unknown[];
  /** Checks the rows and writes nothing. */
  readonly isDryRun: boolean;
}

export interface BatchResult {
  readonly imported: number;
  readonly notes: readonly RowNote[];
  /** Whether the batch was already committed. */
  readonly isRepeated: boolean;
}

type Write = (
  services: WriteServices,
  context: WorkspaceContext,
  rows: readonly unknown[],
  commit: Commit,
) => Promise<void>;

const WRITERS: Readonly<Record<ImportKind, Write>> = {
  users: importProfiles,
  events: (...call) => importItems("events", ...call),
  purchases: (...call) => importItems("purchases", ...call),
  subscriptions: importSubscriptions,
};

/**
 * Writes consecutive rows of a file and the progress of the import, in one transaction. Every row
 * is checked by the rules of the API and gets its own verdict. A batch that is sent again is
 * recognized and not written again. The audit records the beginning of an import.
 *
 * @throws Problem CONFLICT if the batch does not follow the rows that are done.
 */
export async function importBatch(
  services: WriteServices,
  context: WorkspaceContext,
  batch: ImportBatch,
): Promise<BatchResult> {
  const { workspace } = context;
  const { importId, firstRow, rows, kind, isDryRun } = batch;
  if (!isDryRun) {
    const known = await selectImport(services.database, workspace.id, importId);
    const repeated = known && repeatedResult(batch, known);
    if (repeated) return repeated;
    const next = (known?.rowsDone ?? 0) + 1;
    if (next !== firstRow || (known && known.kind !== kind)) throw notNext(next);
  }
  let result: BatchResult | undefined;
  const commit: Commit = async (tx, notes) => {
    const unwritten = notes.filter(({ outcome }) => outcome !== "partial").length;
    const imported = rows.length - unwritten;
    const sorted = [...notes].sort((one, other) => one.index - other.index);
    result = { imported, notes: sorted, isRepeated: false };
    if (isDryRun) throw new DryRun();
    const at = services.clock.now();
    const done = { importId, kind, firstRow, rows: rows.length, imported, notes: sorted, at };
    await saveProgress(tx, services, context, done);
  };
  const own = isDryRun ? { ...services, quotas: services.quotas.dryRun() } : services;
  await WRITERS[kind](own, context, rows, commit).catch((error) => {
    if (!(error instanceof DryRun)) throw error;
  });
  return result as BatchResult;
}

/** Ends the transaction of a dry run once the verdicts are known. */
class DryRun extends Error {}

function repeatedResult(
  { firstRow, rows }: ImportBatch,
  { rowsDone, lastFirstRow, lastNotes }: ImportProgress,
): BatchResult | undefined {
  const isLast = firstRow === lastFirstRow && firstRow + rows.length - 1 === rowsDone;
  if (!isLast) return undefined;
  const unwritten = lastNotes.filter(({ outcome }) => outcome !== "partial").length;
  return { imported: rows.length - unwritten, notes: lastNotes, isRepeated: true };
}

const notNext = (next: number): Problem =>
  new Problem("CONFLICT", `The next row of this import is ${next}.`, { body: { next_row: next } });

async function saveProgress(
  tx: Transaction,
  { clock }: WriteServices,
  context: WorkspaceContext,
  done: BatchDone,
): Promise<void> {
  const { id, name } = context.workspace;
  await commitTogether(tx);
  if (done.firstRow > 1) {
    if (!(await advanceImport(tx, id, done))) throw overtaken();
    return;
  }
  if (!(await insertImport(tx, id, done))) throw overtaken();
  const details = { import_id: done.importId };
  await recordChanges(tx, clock, context, [
    { action: "imported", kind: done.kind, workspace: name, name, details },
  ]);
}

const overtaken = (): Problem =>
  new Problem("CONFLICT", "Another client is importing the same file.");

/** @throws Problem NOT_FOUND. */
export async function readImport(
  { database }: { readonly database: Database },
  { workspace }: WorkspaceContext,
  importId: string,
): Promise<ImportProgress> {
  const found = await selectImport(database, workspace.id, importId);
  if (!found) throw noImport(importId);
  return found;
}

/** Deletes the progress of an import, so that the file can be imported again. @throws Problem NOT_FOUND. */
export async function forgetImport(
  { database, clock }: Pick<WriteServices, "database" | "clock">,
  context: WorkspaceContext,
  importId: string,
): Promise<void> {
  const { id, name } = context.workspace;
  await database.transaction(async (tx) => {
    if (!(await deleteImport(tx, id, importId))) throw noImport(importId);
    const change = { action: "removed", kind: "import", workspace: name, name: importId };
    await recordChanges(tx, clock, context, [change]);
  });
}

const noImport = (importId: string): Problem =>
  new Problem("NOT_FOUND", `There is no import '${importId}'.`);

/** How long an import that stopped can be continued. */
const KEPT_DAYS = 90;

/** Deletes the progress of imports that have been idle for 90 days. */
export const sweepImports = (database: Database, now: Date) =>
  deleteOldImports(database, earlier(now, { days: KEPT_DAYS }));
