import type { Authenticator } from "../access/authenticate.ts";
import * as keys from "../access/keys.ts";
import type { Sightings } from "../access/sightings.ts";
import { type AuditedChange, type Origin, recordChanges } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import type { Database, Transaction } from "../database/database.ts";
import { grantDetails } from "./api-key-form.ts";
import { findWorkspace } from "./find-workspace.ts";

/* What an administrator does with the API keys of a workspace, one at a time. Every change is audited. */

export interface KeyServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly authenticator: Authenticator;
  readonly sightings: Sightings;
}

/** The keys of a workspace by name, revoked ones too. @throws Problem NOT_FOUND. */
export async function listKeys(
  { database, clock, sightings }: KeyServices,
  workspaceName: string,
): Promise<keys.KeyView[]> {
  const workspace = await findWorkspace(database, workspaceName);
  await sightings.write();
  return keys.listKeys(database, workspace.id, clock.now());
}

/**
 * Makes a key.
 *
 * @returns its secret, which nobody can read again.
 * @throws Problem NOT_FOUND, or CONFLICT where a key has the name.
 */
export function createKey(
  services: KeyServices,
  workspaceName: string,
  origin: Origin,
  key: keys.KeyGrant & { readonly name: string },
): Promise<string> {
  return changing(services, workspaceName, async (tx, target) => {
    const secret = await keys.createKey(tx, target, key);
    const details = grantDetails(key);
    await record(tx, services, origin, target, { action: "created", name: key.name, details });
    return secret;
  });
}

/**
 * Gives a key a new secret; the one it has opens it for so many seconds more.
 *
 * @returns the secret, which nobody can read again, and when the older one stops.
 * @throws Problem NOT_FOUND, or CONFLICT where the key is revoked.
 */
export function rotateKey(
  services: KeyServices,
  workspaceName: string,
  origin: Origin,
  name: string,
  overlapSeconds: number,
): Promise<{ secret: string; overlapUntil: Date }> {
  return changing(services, workspaceName, async (tx, target) => {
    const overlapUntil = new Date(target.now.getTime() + overlapSeconds * 1_000);
    const secret = await keys.rotateKey(tx, target, name, overlapUntil);
    const details = { previous_key_until: overlapUntil.toISOString() };
    await record(tx, services, origin, target, { action: "rotated", name, details });
    return { secret, overlapUntil };
  });
}

/**
 * Changes what a key may do, and from where.
 *
 * @throws Problem NOT_FOUND, or CONFLICT where the key is revoked.
 */
export function changeKey(
  services: KeyServices,
  workspaceName: string,
  origin: Origin,
  name: string,
  grant: keys.KeyGrant,
): Promise<void> {
  return changing(services, workspaceName, async (tx, target) => {
    await keys.changeKey(tx, target, name, grant);
    const details = grantDetails(grant);
    await record(tx, services, origin, target, { action: "updated", name, details });
  });
}

/** Closes a key for good; one that is closed already stays so. @throws Problem NOT_FOUND. */
export function revokeKey(
  services: KeyServices,
  workspaceName: string,
  origin: Origin,
  name: string,
): Promise<void> {
  return changing(services, workspaceName, async (tx, target) => {
    const wasOpen = await keys.revokeKey(tx, target, name);
    if (wasOpen) await record(tx, services, origin, target, { action: "revoked", name });
  });
}

interface Target extends keys.KeyTarget {
  readonly workspaceName: string;
}

/** Runs a change in one transaction; from then on keys are read anew. */
async function changing<Result>(
  { database, clock, authenticator }: KeyServices,
  workspaceName: string,
  work: (tx: Transaction, target: Target) => Promise<Result>,
): Promise<Result> {
  const { id } = await findWorkspace(database, workspaceName);
  const target = { workspaceId: id, workspaceName, now: clock.now(), newId: clock.newId };
  const result = await database.transaction((tx) => work(tx, target));
  authenticator.forget();
  return result;
}

const record = (
  tx: Transaction,
  { clock }: KeyServices,
  origin: Origin,
  { workspaceName }: Target,
  change: Pick<AuditedChange, "action" | "name" | "details">,
): Promise<void> =>
  recordChanges(tx, clock, origin, [{ ...change, kind: "api_key", workspace: workspaceName }]);
