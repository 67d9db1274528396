import type { Clock } from "../clock.ts";
import type { Context } from "../context/context.ts";
import type { Queryable, Transaction } from "../database/database.ts";
import { forwardPage } from "../http/pages.ts";
import type { AuditedChange } from "./change.ts";
import { type AuditEntry, type AuditFilter, insertEntries, selectEntries } from "./store.ts";

export type { AuditedChange } from "./change.ts";
export type { AuditEntry } from "./store.ts";

/*
 * The audit log has a row for every change to what is declared or administered: who, what, when and from
 * where (docs/decisions/audit.md). The row commits or rolls back with the change. It never holds a
 * secret, nor data of the users of a workspace.
 */

/** Records changes in the transaction that makes them, in their order. */
export async function recordChanges(
  tx: Transaction,
  clock: Clock,
  context: Context,
  changes: readonly AuditedChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const entries = changes.map((change) => ({ ...change, id: clock.newId() }));
  await insertEntries(tx, context, entries, clock.now());
}

/**
 * Reads a page of the audit log, newest first.
 *
 * @returns at most `limit` entries, and the cursor of the next page if there is one.
 */
export async function readAuditLog(
  { database }: { readonly database: Queryable },
  filter: AuditFilter,
  limit: number,
) {
  const found: readonly AuditEntry[] = await selectEntries(database, filter, limit + 1);
  return forwardPage(found, limit, ({ id }) => id);
}
