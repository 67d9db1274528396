import type { Clock } from "../clock.ts";
import type { Transaction } from "../database/database.ts";
import type { Call } from "../http/endpoint.ts";
import type { AuditedChange, Origin } from "./change.ts";
import { insertEntries } from "./store.ts";

export type { AuditedChange, Origin } from "./change.ts";

/*
 * Every change to what is declared or administered leaves a row: who, what, when, from where
 * (decision: docs/decisions/audit.md). The row is written in the transaction of the change, so the
 * two are there or gone together. It never holds a secret, nor anything of the people in a workspace.
 */

/** The server itself, as when it applies a manifest before it serves. */
export const BY_THE_SERVER: Origin = {
  actor: "server",
  actorName: null,
  call: null,
  requestId: null,
  address: null,
};

/** The caller of an endpoint. */
export const originOf = (call: Call): Origin => ({
  actor: call.by,
  actorName: call.keyName,
  call: call.name,
  requestId: call.requestId,
  address: call.address,
});

/** Records changes in the transaction that makes them, in their order. */
export async function recordChanges(
  tx: Transaction,
  clock: Clock,
  origin: Origin,
  changes: readonly AuditedChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const entries = changes.map((change) => ({ ...change, id: clock.newId() }));
  await insertEntries(tx, origin, entries, clock.now());
}
