import type { Authenticator } from "../access/authenticate.ts";
import { type Origin, recordChanges } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import type { Database, Queryable, Transaction } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { findCompany, findWorkspace } from "./find-workspace.ts";
import type { Change, CompanyTarget, Entry, Resource, SectionTarget, Target } from "./section.ts";
import { lockForApply } from "./store.ts";

/* The admin API's way to what manifests declare, one entry at a time. Every change is audited. */

export interface AdministerServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly authenticator: Authenticator;
}

/** Finds what the administrator names, as sections are applied to it. @throws Problem NOT_FOUND. */
export type FindTarget<Where extends Target> = (
  database: Queryable,
  clock: Clock,
) => Promise<Where>;

export const workspaceTarget =
  (workspaceName: string): FindTarget<SectionTarget> =>
  async (database, { now, newId }) => {
    const { id } = await findWorkspace(database, workspaceName);
    return { now: now(), newId, workspaceId: id, workspaceName };
  };

export const companyTarget: FindTarget<CompanyTarget> = async (database, { now, newId }) => {
  const { id } = await findCompany(database);
  return { now: now(), newId, companyId: id };
};

/** Which entry of which section. */
export interface Place<Where extends Target> {
  readonly resource: Resource<Where>;
  readonly findTarget: FindTarget<Where>;
}

/** All entries of a section. @throws Problem NOT_FOUND for the workspace. */
export async function readEntries<Where extends Target>(
  { database, clock }: Pick<AdministerServices, "database" | "clock">,
  { resource, findTarget }: Place<Where>,
): Promise<readonly Entry[]> {
  return resource.read(database, await findTarget(database, clock));
}

/**
 * Makes or changes an entry.
 *
 * @returns all entries as they are then.
 * @throws Problem NOT_FOUND for the workspace, or what the section refuses.
 */
export function putEntry<Where extends Target>(
  services: AdministerServices,
  { resource, findTarget }: Place<Where>,
  origin: Origin,
  entry: Entry,
): Promise<readonly Entry[]> {
  return changeDeclared(services, origin, async (tx) => {
    const target = await findTarget(tx, services.clock);
    const changes = await resource.put(tx, target, entry);
    return { changes, result: await resource.read(tx, target) };
  });
}

/** Removes an entry. @throws Problem NOT_FOUND. */
export function removeEntry<Where extends Target>(
  services: AdministerServices,
  { resource, findTarget }: Place<Where>,
  origin: Origin,
  find: (entries: readonly Entry[]) => Entry,
): Promise<void> {
  return changeDeclared(services, origin, async (tx) => {
    const target = await findTarget(tx, services.clock);
    const entry = find(await resource.read(tx, target));
    return { changes: (await resource.remove?.(tx, target, entry)) ?? [], result: undefined };
  });
}

/**
 * Runs a change to what manifests declare, and writes it into the audit. Such changes and manifests
 * come one after the other; from then on requests see it.
 */
export async function changeDeclared<Result>(
  { database, clock, authenticator }: AdministerServices,
  origin: Origin,
  work: (tx: Transaction) => Promise<{ changes: readonly Change[]; result: Result }>,
): Promise<Result> {
  const result = await database.transaction(async (tx) => {
    await lockForApply(tx);
    const done = await work(tx);
    await recordChanges(tx, clock, origin, done.changes);
    return done.result;
  });
  authenticator.forget();
  return result;
}

/** The entry of this name. @throws Problem NOT_FOUND. */
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
