import { type AuditingServices, recordChanges, recordRead } from "../../core/admin/audit/audit.ts";
import type { Retained } from "../../core/admin/retention/retention.ts";
import type { Eraser } from "../../core/admin/workspaces/reset.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { withRetries } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { deleteAllCalls, deleteOldCalls, selectCalls } from "./captured-store.ts";

/* Administrators' calls about the captured calls of a workspace. */

/** A page ends before it is larger than this, even below its limit; a single call always fits. */
const PAGE_BYTES = 8 * 1_048_576;

export interface CapturedCallServices extends StoringServices, AuditingServices {}

export interface CapturedQuery {
  readonly path: string | undefined;
  readonly cursor: number | undefined;
  readonly limit: number;
}

/** Reads a page, newest first. The read is audited: calls name the people they are about. */
export async function readCapturedCalls(
  services: CapturedCallServices,
  context: WorkspaceContext,
  { path, cursor, limit }: CapturedQuery,
) {
  const filter = { path: path?.replace(/(?<=.)\/+$/, ""), before: cursor };
  const { id } = context.workspace;
  const found = await selectCalls(services.database, id, filter, limit + 1, PAGE_BYTES);
  const calls = found.slice(0, limit);
  const last = calls.at(-1);
  const hasMore = last !== undefined && last.found > calls.length;
  await recordRead(services, context, "captured_calls", calls.length);
  return { calls, next: hasMore ? { next_cursor: String(last.position) } : {} };
}

/** Deletes all captured calls of the workspace. @returns how many there were. */
export async function clearCapturedCalls(
  { database, clock }: CapturedCallServices,
  context: WorkspaceContext,
): Promise<number> {
  const { id, name } = context.workspace;
  return withRetries(database, async (tx) => {
    const deleted = await deleteAllCalls(tx, id);
    const details = { calls: deleted };
    const change = { action: "removed", kind: "captured_calls", workspace: name, name, details };
    await recordChanges(tx, clock, context, [change]);
    return deleted;
  });
}

export const eraseCapturedCalls: Eraser = async (tx, workspaceId) => {
  await deleteAllCalls(tx, workspaceId);
};

const CALLS_AT_ONCE = 1_000;

/** A call holds personal data, and is of use only to the test that caused it. */
export const RETAINED_CAPTURED_CALLS: Retained = {
  kind: "captured_calls",
  days: (settings) => settings.keep_captured_days,
  async removeStep(tx, workspaceId, before) {
    const removed = await deleteOldCalls(tx, workspaceId, before, CALLS_AT_ONCE);
    return { removed, after: removed === CALLS_AT_ONCE ? "more" : undefined };
  },
};
