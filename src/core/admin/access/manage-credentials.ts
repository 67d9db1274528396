import { isDeepStrictEqual } from "node:util";
import { later } from "../../base/clock.ts";
import type { Context } from "../../base/context/context.ts";
import { Problem } from "../../base/problem.ts";
import type { Transaction } from "../../database/database.ts";
import type { StoringServices } from "../../database/storing-services.ts";
import type { Authenticator } from "../../http/callers.ts";
import { type AuditedChange, recordChanges } from "../audit/audit.ts";
import { hashSecret, newSecret } from "../secrets/secrets.ts";
import { changedMembers } from "../workspaces/field-changes.ts";
import type { Entry } from "../workspaces/resource.ts";
import {
  type CredentialRow,
  deleteCredentials,
  insertCredentials,
  lockCredential,
  markRevoked,
  updateGrant,
} from "./credential-store.ts";
import * as credentials from "./credentials.ts";
import {
  type CredentialKind,
  type CredentialTarget,
  nameTaken,
  withinBound,
} from "./credentials.ts";
import type { LastUsed } from "./last-used.ts";
import { insertSecrets, retireSecrets } from "./secret-store.ts";

export { hasSecret } from "./secret-store.ts";

/* Changes to single API keys and SCIM tokens by an administrator. Every change is audited. */

export interface CredentialServices extends StoringServices {
  readonly authenticator: Authenticator;
  readonly lastUsed: LastUsed;
}

/** By name, including revoked ones. */
export async function listCredentials<Grant, Where extends Context>(
  { database, clock, lastUsed }: CredentialServices,
  kind: CredentialKind<Grant, Where>,
  context: Where,
): Promise<credentials.CredentialView<Grant>[]> {
  await lastUsed.write();
  return credentials.listCredentials(database, kind, kind.ownerOf(context).id, clock.now());
}

/**
 * Creates a credential with a new secret. The new credential replaces a revoked one of the same
 * name, whose secrets remain refused.
 *
 * @returns the secret, which cannot be read again.
 * @throws Problem CONFLICT if the name is in use; INVALID_REQUEST if there are too many.
 */
export function createCredential<Grant, Where extends Context>(
  services: CredentialServices,
  kind: CredentialKind<Grant, Where>,
  context: Where,
  name: string,
  grant: Grant,
): Promise<string> {
  return changing(services, kind, context, async (tx, { ownerId, now, newId }, record) => {
    const { table } = kind;
    const known = await lockCredential(tx, table, ownerId, name);
    if (known && !known.revokedAt) throw nameTaken(kind, name);
    const row = { id: newId(), name, grant, secrets: null };
    const made = await withinBound(tx, kind, ownerId, async () => {
      if (known) await deleteCredentials(tx, table, ownerId, [known.id]);
      return insertCredentials(tx, table, ownerId, [row], now);
    });
    if (made.length === 0) throw nameTaken(kind, name);
    const secret = await addSecret(tx, kind.prefix, row.id, now);
    await record({ action: "created", name, details: kind.membersOf(grant) });
    return secret;
  });
}

/**
 * Gives a credential a new secret; the present one stays valid for this many seconds, older ones end now.
 *
 * @returns the secret, which cannot be read again, and when the previous one expires.
 * @throws Problem NOT_FOUND, or CONFLICT if it is revoked.
 */
export function rotateCredential<Grant, Where extends Context>(
  services: CredentialServices,
  kind: CredentialKind<Grant, Where>,
  context: Where,
  name: string,
  overlapSeconds: number,
): Promise<{ readonly secret: string; readonly overlapUntil: string }> {
  return changing(services, kind, context, async (tx, target, record) => {
    const { now } = target;
    const until = later(now, { seconds: overlapSeconds });
    const overlapUntil = until.toISOString();
    const { id } = await lockOpen(tx, kind, target, name);
    await retireSecrets(tx, id, now, until);
    const secret = await addSecret(tx, kind.prefix, id, now);
    await record({ action: "rotated", name, details: { overlap_until: overlapUntil } });
    return { secret, overlapUntil };
  });
}

async function addSecret(
  tx: Transaction,
  prefix: string,
  ownerId: string,
  now: Date,
): Promise<string> {
  const secret = newSecret(prefix);
  await insertSecrets(tx, [{ hash: hashSecret(secret), until: null, ownerId }], now);
  return secret;
}

/**
 * Changes the grants of a credential. It is locked from before it is read, so concurrent changes of
 * different members all hold.
 *
 * @param wanted works out the members of the new grant from the present ones.
 * @param isPatch whether the audit row has what changed, before and after, in place of the new state.
 * @throws Problem NOT_FOUND, or CONFLICT if it is revoked.
 */
export function changeCredential<Grant, Where extends Context>(
  services: CredentialServices,
  kind: CredentialKind<Grant, Where>,
  context: Where,
  name: string,
  wanted: (present: Entry) => Entry,
  isPatch: boolean,
): Promise<void> {
  return changing(services, kind, context, async (tx, target, record) => {
    const known = await lockOpen(tx, kind, target, name);
    const before = kind.membersOf(known);
    const grant = kind.grantOf({ ...kind.defaults, ...wanted(before) });
    const after = kind.membersOf(grant);
    if (isDeepStrictEqual(before, after)) return;
    await updateGrant(tx, kind.table, target.ownerId, known.id, grant);
    const details = isPatch ? changedMembers(before, after) : after;
    await record({ action: "updated", name, details });
  });
}

/**
 * Revokes a credential for good: none of its secrets works again, even if a manifest still declares
 * them. Revoking it again changes nothing.
 *
 * @throws Problem NOT_FOUND.
 */
export function revokeCredential<Grant, Where extends Context>(
  services: CredentialServices,
  kind: CredentialKind<Grant, Where>,
  context: Where,
  name: string,
): Promise<void> {
  return changing(services, kind, context, async (tx, target, record) => {
    const { ownerId, now } = target;
    const { id, revokedAt } = await lockKnown(tx, kind, target, name);
    if (revokedAt) return;
    await markRevoked(tx, kind.table, ownerId, id, now);
    await retireSecrets(tx, id, now, now);
    await record({ action: "revoked", name });
  });
}

async function lockKnown<Grant>(
  tx: Transaction,
  { table, noun, belongs }: CredentialKind<Grant>,
  { ownerId }: CredentialTarget,
  name: string,
): Promise<CredentialRow<Grant>> {
  const known = await lockCredential(tx, table, ownerId, name);
  if (known) return known;
  throw new Problem("NOT_FOUND", `There is no ${noun} '${name}' ${belongs}.`);
}

async function lockOpen<Grant>(
  tx: Transaction,
  kind: CredentialKind<Grant>,
  target: CredentialTarget,
  name: string,
): Promise<CredentialRow<Grant>> {
  const known = await lockKnown(tx, kind, target, name);
  if (known.revokedAt) throw new Problem("CONFLICT", `The ${kind.noun} '${name}' is revoked.`);
  return known;
}

type Record = (change: Pick<AuditedChange, "action" | "name" | "details">) => Promise<void>;

/** Runs a change in one transaction; then empties the caches of keys and tokens. */
async function changing<Grant, Where extends Context, Result>(
  { database, clock, authenticator }: CredentialServices,
  { ownerOf, auditKind: kind }: CredentialKind<Grant, Where>,
  context: Where,
  work: (tx: Transaction, target: CredentialTarget, record: Record) => Promise<Result>,
): Promise<Result> {
  const { id: ownerId, workspace } = ownerOf(context);
  const target = { ownerId, now: clock.now(), newId: clock.newId };
  const result = await database.transaction((tx) =>
    work(tx, target, (change) =>
      recordChanges(tx, clock, context, [{ ...change, kind, workspace }]),
    ),
  );
  authenticator.forget();
  return result;
}
