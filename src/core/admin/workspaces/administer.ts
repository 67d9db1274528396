import { actsForCompany, type Context, type WorkspaceContext } from "../../base/context/context.ts";
import { Problem } from "../../base/problem.ts";
import type { Database, Transaction } from "../../database/database.ts";
import type { Authenticator } from "../../http/callers.ts";
import { recordChanges } from "../audit/audit.ts";
import { recordingRefusals } from "../audit/refusals.ts";
import type { Change, Editable, Entry, ResourceServices, SlowChecks } from "./resource.ts";
import { hasWorkspace, lockForApply } from "./store.ts";

/* Changes to resources through the admin API, one entry at a time. Every change is audited. */

export interface AdministerServices extends ResourceServices, SlowChecks {
  readonly database: Database;
  readonly authenticator: Authenticator;
}

/**
 * Creates or changes an entry.
 *
 * @returns all entries after the change.
 * @throws Problem if the resource refuses it.
 */
export async function putEntry(
  services: AdministerServices,
  resource: Editable<Context>,
  context: Context,
  entry: Entry,
): Promise<readonly Entry[]> {
  return recordingRefusals(services, context, async () => {
    const slow = { ...services, mustResolve: !actsForCompany(context) };
    await resource.check?.(slow, "", [entry] as never);
    return changeDeclared(services, context, async (tx) => {
      const changes = await resource.put(tx, services, context, entry);
      return { changes, result: await resource.read(tx, context) };
    });
  });
}

/** Removes the entry that `find` picks. @throws Problem NOT_FOUND. */
export function removeEntry(
  services: AdministerServices,
  resource: Editable<Context>,
  context: Context,
  find: (entries: readonly Entry[]) => Entry,
): Promise<void> {
  return changeDeclared(services, context, async (tx) => {
    const entry = find(await resource.read(tx, context));
    const changes = (await resource.remove?.(tx, services, context, entry)) ?? [];
    return { changes, result: undefined };
  });
}

/**
 * Runs a change to a resource and audits it. Such changes are serialized, also with manifests, and take
 * effect before the response.
 */
export async function changeDeclared<Result>(
  {
    database,
    clock,
    authenticator,
  }: Pick<AdministerServices, "database" | "clock" | "authenticator">,
  context: Context,
  work: (tx: Transaction) => Promise<{ changes: readonly Change[]; result: Result }>,
): Promise<Result> {
  const result = await database.transaction(async (tx) => {
    await lockForApply(tx);
    await requireWorkspace(tx, context);
    const done = await work(tx);
    await recordChanges(tx, clock, context, done.changes);
    return done.result;
  });
  authenticator.forget();
  return result;
}

/** @throws Problem NOT_FOUND if the workspace was deleted while the request waited. */
async function requireWorkspace(tx: Transaction, context: Context): Promise<void> {
  const { workspace } = context as Partial<WorkspaceContext>;
  if (!workspace || (await hasWorkspace(tx, workspace.id))) return;
  throw new Problem("NOT_FOUND", `There is no workspace '${workspace.name}'.`);
}

/** The entry with this identity. @throws Problem NOT_FOUND. */
export function entryNamed(
  entries: readonly Entry[],
  identity: string,
  id: string,
  noun: string,
): Entry {
  const found = entries.find((entry) => entry[identity] === id);
  if (found) return found;
  throw new Problem("NOT_FOUND", `There is no ${noun} '${id}'.`);
}
