import { isDeepStrictEqual } from "node:util";
import type { Queryable, Transaction } from "../database/database.ts";
import { Problem } from "../problem.ts";
import {
  type DeclaredKey,
  deleteKeys,
  insertKeys,
  type KeyGrant,
  type KeyRow,
  lockKey,
  revokeKey as markRevoked,
  selectDeclaredKeys,
  selectKeys,
  updateDeclaredKeys,
  updateGrant,
} from "./key-store.ts";
import {
  deleteLiveSecrets,
  insertSecrets,
  type OwnedSecret,
  retireSecrets,
  selectOverlaps,
} from "./secret-store.ts";
import { hashSecret, newSecret } from "./secrets.ts";
import { selectKeyHolders } from "./store.ts";
import type { KeyHolder } from "./workspace.ts";

/*
 * API keys (decision: docs/decisions/keys.md). A key is a name with permissions; what opens it are
 * its secrets, of which there are two while one takes over from the other.
 */

export type { KeyGrant } from "./key-store.ts";

/** Who holds a key, by the key itself. */
export async function findKeyHolder(
  database: Queryable,
  key: string,
  now: Date,
): Promise<KeyHolder | undefined> {
  const hash = hashSecret(key);
  return (await selectKeyHolders(database, [hash], now)).get(hash);
}

/** An API key as a manifest declares it. */
export interface NewKey extends KeyGrant {
  readonly name: string;
  readonly key: string;
  /** The secret that it takes over from, and how long that one still opens it. */
  readonly previous: { readonly key: string; readonly until: Date } | undefined;
}

/** As it is kept: hashes in the place of the secrets. */
export const storedForm = ({ name, permissions, ipAllowlist, ...key }: NewKey): DeclaredKey => ({
  name,
  permissions,
  ipAllowlist,
  secrets: [
    { hash: hashSecret(key.key), until: null },
    ...(key.previous
      ? [{ hash: hashSecret(key.previous.key), until: key.previous.until.toISOString() }]
      : []),
  ],
});

/** The keys of a workspace as manifests declared them last. */
export const readDeclaredKeys = async (
  tx: Transaction,
  workspaceId: number,
): Promise<DeclaredKey[]> =>
  (await selectDeclaredKeys(tx, workspaceId)).map(({ id: _id, ...key }) => key);

/** Where a key belongs, and when and by whose ids it is made. */
export interface KeyTarget {
  readonly workspaceId: number;
  readonly now: Date;
  newId(): string;
}

/**
 * Makes, changes and removes declared keys. A key whose declared secrets are the same as before
 * keeps the secrets that it has: a rotation or a revocation since then stands.
 *
 * @throws Problem CONFLICT where another key has the name, or a secret opens something already.
 */
export async function replaceKeys(
  tx: Transaction,
  target: KeyTarget,
  todo: { readonly [step in "created" | "updated" | "removed"]: readonly DeclaredKey[] },
): Promise<void> {
  const present = new Map(
    (await selectDeclaredKeys(tx, target.workspaceId)).map((key) => [key.name, key]),
  );
  const idOf = (key: DeclaredKey) => present.get(key.name)?.id ?? "";
  const created = todo.created.map((key) => ({ ...key, id: target.newId() }));
  const updated = todo.updated.map((key) => ({
    ...key,
    id: idOf(key),
    isReopened: !isDeepStrictEqual(present.get(key.name)?.secrets, key.secrets),
  }));
  const removed = todo.removed.map(idOf);
  const reopened = updated.filter((key) => key.isReopened);

  await deleteKeys(tx, target.workspaceId, removed);
  await deleteLiveSecrets(tx, [...removed, ...reopened.map((key) => key.id)], target.now);
  await updateDeclaredKeys(tx, target.workspaceId, updated);
  await insertAll(tx, target, created);
  await keepSecrets(tx, target.now, [...created, ...reopened]);
}

async function insertAll(
  tx: Transaction,
  target: KeyTarget,
  keys: readonly (DeclaredKey & { readonly id: string })[],
): Promise<void> {
  const made = await insertKeys(tx, target.workspaceId, keys, target.now);
  const refused = keys.find((key) => !made.includes(key.id));
  if (refused) throw nameTaken(refused.name);
}

/** The secrets of declared keys, under whose names a refusal is reported. */
async function keepSecrets(
  tx: Transaction,
  now: Date,
  keys: readonly (DeclaredKey & { readonly id: string })[],
): Promise<void> {
  const secrets = keys.flatMap((key) =>
    key.secrets.map((secret): OwnedSecret => ({ ...secret, ownerId: key.id })),
  );
  const kept = await insertSecrets(tx, secrets, now);
  if (kept.length === secrets.length) return;
  const refused = secrets.find((secret) => !kept.includes(secret.hash)) ?? secrets.at(-1);
  const name = keys.find((key) => key.id === refused?.ownerId)?.name;
  throw new Problem(
    "CONFLICT",
    `The API key '${name}' has a secret that opens something already, or was revoked.`,
  );
}

const nameTaken = (name: string) =>
  new Problem("CONFLICT", `There is an API key '${name}' in this workspace already.`);

/** A key as its administrator sees it. Never holds a secret. */
export interface KeyView extends KeyRow {
  /** While two secrets open the key: when the older one stops. */
  readonly overlapUntil: Date | undefined;
}

/** The keys of a workspace by name, revoked ones too. */
export async function listKeys(
  database: Queryable,
  workspaceId: number,
  now: Date,
): Promise<KeyView[]> {
  const keys = await selectKeys(database, workspaceId);
  const overlaps = await selectOverlaps(
    database,
    keys.map((key) => key.id),
    now,
  );
  return keys.map((key) => ({ ...key, overlapUntil: overlaps.get(key.id) }));
}

/**
 * Makes a key with a new secret. A revoked key of the same name makes room for it; its secrets stay
 * refused.
 *
 * @returns the secret, which nobody can read again.
 * @throws Problem CONFLICT where a key has the name.
 */
export async function createKey(
  tx: Transaction,
  target: KeyTarget,
  key: KeyGrant & { readonly name: string },
): Promise<string> {
  const known = await lockKey(tx, target.workspaceId, key.name);
  if (known && !known.revokedAt) throw nameTaken(key.name);
  if (known) await deleteKeys(tx, target.workspaceId, [known.id]);
  const id = target.newId();
  const made = await insertKeys(
    tx,
    target.workspaceId,
    [{ ...key, id, secrets: null }],
    target.now,
  );
  if (made.length === 0) throw nameTaken(key.name);
  return addSecret(tx, id, target.now);
}

/**
 * Gives a key a new secret; the one it had opens the key until `overlapUntil`, and older ones no more.
 *
 * @returns the secret, which nobody can read again.
 * @throws Problem NOT_FOUND, or CONFLICT where the key is revoked.
 */
export async function rotateKey(
  tx: Transaction,
  target: KeyTarget,
  name: string,
  overlapUntil: Date,
): Promise<string> {
  const key = await openKey(tx, target.workspaceId, name);
  await retireSecrets(tx, key.id, target.now, overlapUntil);
  return addSecret(tx, key.id, target.now);
}

async function addSecret(tx: Transaction, keyId: string, now: Date): Promise<string> {
  const secret = newSecret("key");
  await insertSecrets(tx, [{ hash: hashSecret(secret), until: null, ownerId: keyId }], now);
  return secret;
}

/**
 * Changes what a key may do; its secrets stay as they are.
 *
 * @throws Problem NOT_FOUND, or CONFLICT where the key is revoked.
 */
export async function changeKey(
  tx: Transaction,
  target: KeyTarget,
  name: string,
  grant: KeyGrant,
): Promise<void> {
  const key = await openKey(tx, target.workspaceId, name);
  await updateGrant(tx, target.workspaceId, { ...grant, id: key.id });
}

/**
 * Closes a key for good: none of its secrets opens anything again, also where a manifest still
 * declares them. Revoking it once more changes nothing.
 *
 * @returns whether it was open.
 * @throws Problem NOT_FOUND.
 */
export async function revokeKey(
  tx: Transaction,
  target: KeyTarget,
  name: string,
): Promise<boolean> {
  const key = await lockKey(tx, target.workspaceId, name);
  if (!key) throw noSuchKey(name);
  if (key.revokedAt) return false;
  await markRevoked(tx, target.workspaceId, key.id, target.now);
  await retireSecrets(tx, key.id, target.now, target.now);
  return true;
}

async function openKey(tx: Transaction, workspaceId: number, name: string): Promise<KeyRow> {
  const key = await lockKey(tx, workspaceId, name);
  if (!key) throw noSuchKey(name);
  if (key.revokedAt) throw new Problem("CONFLICT", `The API key '${name}' is revoked.`);
  return key;
}

const noSuchKey = (name: string) =>
  new Problem("NOT_FOUND", `There is no API key '${name}' in this workspace.`);
