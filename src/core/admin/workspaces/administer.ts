import { isDeepStrictEqual } from "node:util";
import { actsForCompany, type Context, type WorkspaceContext } from "../../base/context/context.ts";
import { Problem } from "../../base/problem.ts";
import type { Database, Transaction } from "../../database/database.ts";
import type { Authenticator } from "../../http/callers.ts";
import { recordChanges } from "../audit/audit.ts";
import { recordingRefusals } from "../audit/refusals.ts";
import { changedMembers } from "./field-changes.ts";
import type { Patching } from "./merge-patch.ts";
import type { ConfigChange, Editable, Entry, ResourceServices, SlowChecks } from "./resource.ts";
import { hasWorkspace, lockForApply } from "./store.ts";

export { lockForApply };

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
    await resource.check?.(slowChecks(services, context), "", [entry] as never);
    return changeDeclared(services, context, async (tx) => {
      const changes = await resource.put(tx, services, context, entry);
      return { changes, result: await resource.read(tx, context) };
    });
  });
}

const slowChecks = (services: AdministerServices, context: Context): SlowChecks => ({
  ...services,
  mustResolve: !actsForCompany(context),
});

/** The entry may change while the new one is checked; then the check is repeated. */
const MOST_TRIES = 20;

/**
 * Changes members of the entry that `find` picks. It is read and written while no other change to a
 * resource runs, so concurrent patches of different members all hold.
 *
 * @returns all entries after the change.
 * @throws Problem NOT_FOUND, INVALID_REQUEST; CONFLICT if others keep changing the entry.
 */
export async function patchEntry(
  services: AdministerServices,
  resource: Editable<Context>,
  context: Context,
  find: (entries: readonly Entry[]) => Entry,
  { patching, patch }: { readonly patching: Patching; readonly patch: Entry },
): Promise<readonly Entry[]> {
  const { identity } = resource;
  const wantedIn = async (database: Database | Transaction): Promise<Entry> => {
    const shown = find(await resource.read(database, context));
    const present = resource.present
      ? await resource.present(database, services, context, shown)
      : presentOf(shown, patching);
    const wanted = patching.apply(present, patch, resource.keptSecrets?.(present));
    return identity === undefined ? wanted : { [identity]: shown[identity], ...wanted };
  };
  return recordingRefusals(services, context, async () => {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const checked = resource.check && (await wantedIn(services.database));
      await resource.check?.(slowChecks(services, context), "", [checked] as never);
      const done = await changeDeclared(services, context, async (tx) => {
        const wanted = await wantedIn(tx);
        if (checked && !isDeepStrictEqual(checked, wanted))
          return { changes: [], result: undefined };
        const changes = await resource.put(tx, services, context, wanted, patch);
        return { changes: changes.map(asPatched), result: await resource.read(tx, context) };
      });
      if (done) return done;
    }
    throw new Problem("CONFLICT", "It is being changed by other requests. Try again.");
  });
}

/** The members of an entry that PUT takes; in replies null stands for what is not set. */
function presentOf(shown: Entry, { body }: Patching): Entry {
  const { properties = {} } = body as { readonly properties?: object };
  return Object.fromEntries(
    Object.entries(shown).filter(([name, value]) => name in properties && value != null),
  );
}

/** The audit row of a PATCH has what it changed, before and after. */
export const asPatched = (change: ConfigChange): ConfigChange => ({
  ...change,
  details: changedMembers(change.before ?? {}, change.details ?? {}),
});

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
  work: (tx: Transaction) => Promise<{ changes: readonly ConfigChange[]; result: Result }>,
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
