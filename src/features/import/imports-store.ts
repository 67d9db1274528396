import type { Mentions } from "../../core/base/mentions.ts";
import type { Database, Queryable, Transaction } from "../../core/database/database.ts";
import type { ImportKind, ImportProgress, RowNote } from "./import-kind.ts";

const COLUMNS = `kind, rows_done as "rowsDone", rows_imported as "rowsImported",
  started_at as "startedAt", updated_at as "updatedAt", last_first_row as "lastFirstRow",
  last_notes as "lastNotes"`;

export async function selectImport(database: Queryable, workspaceId: number, importId: string) {
  const [row] = await database.query<ImportProgress>(
    `select ${COLUMNS} from imports where workspace_id = $1 and import_id = $2`,
    [workspaceId, importId],
  );
  return row;
}

export interface BatchDone {
  readonly importId: string;
  readonly kind: ImportKind;
  /** Counted from 1. */
  readonly firstRow: number;
  readonly rows: number;
  readonly imported: number;
  readonly notes: readonly RowNote[];
  readonly at: Date;
}

/** Begins an import with its first batch. @returns whether there was none yet. */
export async function insertImport(
  tx: Transaction,
  workspaceId: number,
  { importId, kind, rows, imported, notes, at }: BatchDone,
): Promise<boolean> {
  const written = await tx.execute(
    `insert into imports (workspace_id, import_id, kind, rows_done, rows_imported, started_at, updated_at,
       last_first_row, last_notes)
     values ($1, $2, $3, $4, $5, $6, $6, 1, $7::text::jsonb)
     on conflict (workspace_id, import_id) do nothing
     returning import_id`,
    [workspaceId, importId, kind, rows, imported, at, JSON.stringify(notes)],
  );
  return written === 1;
}

/** Adds a batch to an import that ends right before it. @returns whether it does. */
export async function advanceImport(
  tx: Transaction,
  workspaceId: number,
  { importId, kind, firstRow, rows, imported, notes, at }: BatchDone,
): Promise<boolean> {
  const written = await tx.execute(
    `update imports set rows_done = rows_done + $4, rows_imported = rows_imported + $5,
       updated_at = $6, last_first_row = $7, last_notes = $8::text::jsonb
     where workspace_id = $1 and import_id = $2 and kind = $3 and rows_done = $7::bigint - 1`,
    [workspaceId, importId, kind, rows, imported, at, firstRow, JSON.stringify(notes)],
  );
  return written === 1;
}

/** @returns whether there was such an import. */
export async function deleteImport(
  tx: Transaction,
  workspaceId: number,
  importId: string,
): Promise<boolean> {
  const written = await tx.execute(
    "delete from imports where workspace_id = $1 and import_id = $2",
    [workspaceId, importId],
  );
  return written === 1;
}

export const deleteAllImports = (tx: Transaction, workspaceId: number) =>
  tx.execute("delete from imports where workspace_id = $1", [workspaceId]);

export const deleteOldImports = (database: Database, before: Date) =>
  database.execute("delete from imports where updated_at < $1", [before]);

/** Removes the parts of the last batches' verdicts that are about an erased person. */
export async function eraseNotes(
  tx: Transaction,
  workspaceId: number,
  { mentions }: { readonly mentions: Mentions },
): Promise<undefined> {
  const naming = await tx.query<{ id: string; notes: readonly RowNote[] }>(
    `select import_id as id, last_notes as notes from imports
     where workspace_id = $1 and last_notes::text ~* any($2::text[])`,
    [workspaceId, mentions.patterns],
  );
  for (const { id, notes } of naming) {
    const kept = notes.map((note) =>
      mentions.in(note.message) ? { ...note, message: "The user of this row was erased." } : note,
    );
    await tx.query(
      "update imports set last_notes = $3::text::jsonb where workspace_id = $1 and import_id = $2",
      [workspaceId, id, JSON.stringify(kept)],
    );
  }
}
