import { setTimeout as sleep } from "node:timers/promises";
import { callAdmin, type Reply } from "../../../cli/admin-client.ts";
import { AdminError, type AdminTarget } from "../../../cli/target.ts";
import { workspacePath } from "../../../cli/workspace-option.ts";
import { JsonText } from "../../../core/base/values/plain-json.ts";
import type { ImportKind } from "../import-kind.ts";
import type { Row } from "./rows.ts";

/** An import as the server knows it. */
export interface Import {
  readonly target: AdminTarget;
  readonly workspace: string;
  readonly importId: string;
  readonly kind: ImportKind;
  readonly isDryRun: boolean;
}

export type Progress = Reply<"getImport">;

export type BatchReply = Pick<Reply<"createImport">, "imported" | "notes">;

const pathOf = ({ workspace, importId }: Import): string =>
  `${workspacePath(workspace)}/imports/${importId}`;

/** How far an earlier run came; undefined if there was none. */
export const readProgress = (run: Import): Promise<Progress | undefined> =>
  callAdmin<"getImport">(run.target, "GET", pathOf(run)).catch((error) => {
    // Without the workspace it is not found either; the first batch reports that.
    if (error instanceof AdminError && error.status === 404) return undefined;
    throw error;
  });

/** Removes the progress of an import, so that its file can be imported again. */
export const forgetProgress = (run: Import): Promise<unknown> =>
  callAdmin(run.target, "DELETE", pathOf(run));

/** How long a server that is down or busy is asked again. */
const PATIENCE_MS = 60_000;

const LONGEST_PAUSE_MS = 5_000;

/**
 * Sends rows, in halves if the server finds too much in them.
 *
 * @param say gets the reason for a wait.
 * @throws AdminError in words.
 */
export async function sendRows(
  run: Import,
  firstRow: number,
  rows: readonly Row[],
  say: (sentence: string) => void,
): Promise<BatchReply> {
  try {
    return await sendBatch(run, firstRow, rows, say);
  } catch (error) {
    if (rows.length === 1 || !isTooLarge(error)) throw error;
    const half = Math.ceil(rows.length / 2);
    const first = await sendRows(run, firstRow, rows.slice(0, half), say);
    const second = await sendRows(run, firstRow + half, rows.slice(half), say);
    const notes = second.notes.map((note) => ({ ...note, index: note.index + half }));
    return { imported: first.imported + second.imported, notes: [...first.notes, ...notes] };
  }
}

const isTooLarge = (error: unknown): boolean =>
  error instanceof AdminError && (error.status === 413 || error.code === "TOO_MANY_VALUES");

/**
 * Sends rows, again while the server is busy or away: it recognizes a batch that it has committed.
 *
 * @param say told why it waits.
 * @throws AdminError in words.
 */
async function sendBatch(
  run: Import,
  firstRow: number,
  rows: readonly Row[],
  say: (sentence: string) => void,
): Promise<BatchReply> {
  const head = JSON.stringify({ kind: run.kind, first_row: firstRow, dry_run: run.isDryRun });
  const list = rows.map(({ json }) => json).join(",");
  const body = new JsonText(`${head.slice(0, -1)},"rows":[${list}]}`);
  const startedAt = performance.now();
  for (let attempt = 0; ; attempt++) {
    try {
      return await callAdmin<"createImport">(run.target, "POST", pathOf(run), body);
    } catch (error) {
      const pause = pauseAfter(error, attempt);
      if (pause === undefined || performance.now() - startedAt > PATIENCE_MS) {
        const done = await doneMeanwhile(error, run, firstRow, rows.length);
        if (done) return done;
        throw error;
      }
      if (attempt === 0) say(`${(error as Error).message} Trying again for a minute.`);
      await sleep(pause);
    }
  }
}

/** Milliseconds; undefined if trying again does not help. */
function pauseAfter(error: unknown, attempt: number): number | undefined {
  if (!(error instanceof AdminError)) return undefined;
  const { status, retryAfterSeconds } = error;
  if (status !== undefined && status !== 429 && status < 500) return undefined;
  const pause = retryAfterSeconds ? retryAfterSeconds * 1_000 : 100 * 2 ** attempt;
  return Math.min(pause, LONGEST_PAUSE_MS);
}

/** An attempt that seemed lost may have been committed while the next one ran. */
async function doneMeanwhile(
  error: unknown,
  run: Import,
  firstRow: number,
  rows: number,
): Promise<BatchReply | undefined> {
  if (!(error instanceof AdminError) || error.status !== 409) return undefined;
  const progress = await readProgress(run);
  const { first_row, notes } = progress?.last_batch ?? { first_row: 0, notes: [] };
  if (first_row !== firstRow || progress?.rows_done !== firstRow + rows - 1) return undefined;
  const unwritten = notes.filter(({ outcome }) => outcome !== "partial").length;
  return { imported: rows - unwritten, notes };
}
