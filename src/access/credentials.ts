import { isDeepStrictEqual } from "node:util";
import type { Queryable, Transaction } from "../database/database.ts";
import { Problem } from "../problem.ts";
import {
  type CredentialRow,
  type CredentialTable,
  type DeclaredCredential,
  deleteCredentials,
  insertCredentials,
  lockCredential,
  markRevoked,
  type OwnerId,
  selectCredentials,
  selectDeclared,
  updateDeclared,
  updateGrant,
  type WithId,
} from "./credential-store.ts";
import {
  deleteLiveSecrets,
  insertSecrets,
  type OwnedSecret,
  retireSecrets,
  type StoredSecret,
  selectOverlaps,
} from "./secret-store.ts";
import { hashSecret, newSecret } from "./secrets.ts";

/*
 * API keys and SCIM tokens (decision: docs/decisions/keys.md). A credential is a name with what it
 * grants; what opens it are its secrets, of which there are two while one takes over from the other.
 */

export type { DeclaredCredential, OwnerId } from "./credential-store.ts";

/** API keys, or SCIM tokens. */
export interface CredentialKind<Grant> {
  readonly table: CredentialTable<Grant>;
  /** As sentences call it, and whose it is. */
  readonly noun: string;
  readonly belongs: string;
  /** The prefix of secrets that are generated here. */
  readonly prefix: string;
}

/** The secrets of a credential as a manifest declares them. */
export interface DeclaredSecrets {
  readonly current: string;
  /** The secret that it takes over from, and how long that one is good. */
  readonly previous: { readonly secret: string; readonly until: Date } | undefined;
}

/** As they are kept: hashes in the place of the secrets. */
export const storedSecrets = ({ current, previous }: DeclaredSecrets): StoredSecret[] => [
  { hash: hashSecret(current), until: null },
  ...(previous ? [{ hash: hashSecret(previous.secret), until: previous.until.toISOString() }] : []),
];

/** Those of an owner as manifests declared them last. */
export const readDeclared = async <Grant>(
  tx: Transaction,
  { table }: CredentialKind<Grant>,
  ownerId: OwnerId,
): Promise<DeclaredCredential<Grant>[]> =>
  (await selectDeclared(tx, table, ownerId)).map(({ id: _id, ...rest }) => rest as never);

/** Where a credential belongs, and its time and ids at creation. */
export interface CredentialTarget {
  readonly ownerId: OwnerId;
  readonly now: Date;
  newId(): string;
}

/**
 * Makes, changes and removes declared credentials. One whose declared secrets are the same as before
 * keeps the secrets that it has: a rotation or a revocation since then stands.
 *
 * @throws Problem CONFLICT where another one has the name, or a secret opens something already.
 */
export async function replaceDeclared<Grant>(
  tx: Transaction,
  kind: CredentialKind<Grant>,
  { ownerId, now, newId }: CredentialTarget,
  todo: {
    readonly [step in "created" | "updated" | "removed"]: readonly DeclaredCredential<Grant>[];
  },
): Promise<void> {
  const { table } = kind;
  const declared = await selectDeclared(tx, table, ownerId);
  const present = new Map(declared.map((each) => [each.name, each]));
  const idOf = ({ name }: { readonly name: string }) => present.get(name)?.id ?? "";
  const created = todo.created.map((each) => ({ ...rowOf(kind, each), id: newId() }));
  const updated = todo.updated.map((each) => ({
    ...rowOf(kind, each),
    id: idOf(each),
    isReopened: !isDeepStrictEqual(present.get(each.name)?.secrets, each.secrets),
  }));
  const removed = todo.removed.map(idOf);
  const reopened = updated.filter((each) => each.isReopened);

  // Credentials before their secrets: the same lock order as changing a single one.
  await deleteCredentials(tx, table, ownerId, removed);
  await updateDeclared(tx, table, ownerId, updated);
  await deleteLiveSecrets(tx, [...removed, ...reopened.map((each) => each.id)], now);
  const made = await insertCredentials(tx, table, ownerId, created, now);
  const refused = created.find((each) => !made.includes(each.id));
  if (refused) throw nameTaken(kind, refused.name);
  await keepSecrets(tx, kind, now, [...created, ...reopened]);
}

function rowOf<Grant>({ table }: CredentialKind<Grant>, declared: DeclaredCredential<Grant>) {
  const { name, secrets } = declared;
  const members = Object.keys(table.grant) as (keyof Grant)[];
  const grant = Object.fromEntries(members.map((each) => [each, declared[each]])) as Grant;
  return { name, secrets, grant };
}

/** The secrets of declared credentials, under whose names a refusal is reported. */
async function keepSecrets<Grant>(
  tx: Transaction,
  { noun }: CredentialKind<Grant>,
  now: Date,
  owners: readonly WithId<{ readonly name: string; readonly secrets: readonly StoredSecret[] }>[],
): Promise<void> {
  const secrets = owners.flatMap((owner) =>
    owner.secrets.map((secret): OwnedSecret => ({ ...secret, ownerId: owner.id })),
  );
  const kept = await insertSecrets(tx, secrets, now);
  if (kept.length === secrets.length) return;
  const refused = secrets.find((secret) => !kept.includes(secret.hash)) ?? secrets.at(-1);
  const name = owners.find((owner) => owner.id === refused?.ownerId)?.name;
  throw new Problem(
    "CONFLICT",
    `The ${noun} '${name}' has a secret that is already in use or was revoked.`,
  );
}

const nameTaken = <Grant>({ noun, belongs }: CredentialKind<Grant>, name: string) =>
  new Problem("CONFLICT", `There is ${articleOf(noun)} ${noun} '${name}' ${belongs} already.`);

const articleOf = (noun: string): string => (/^[AEIOU]/.test(noun) ? "an" : "a");

/** A credential as its administrator sees it. Never holds a secret. */
export type CredentialView<Grant> = CredentialRow<Grant> & {
  /** While two secrets are valid: when the previous one expires. */
  readonly overlapUntil: Date | undefined;
};

/** Those of an owner by name, revoked ones too. */
export async function listCredentials<Grant>(
  database: Queryable,
  { table }: CredentialKind<Grant>,
  ownerId: OwnerId,
  now: Date,
): Promise<CredentialView<Grant>[]> {
  const rows = await selectCredentials(database, table, ownerId);
  const overlaps = await selectOverlaps(
    database,
    rows.map((row) => row.id),
    now,
  );
  return rows.map((row) => ({ ...row, overlapUntil: overlaps.get(row.id) }));
}

/**
 * Makes a credential with a new secret. A revoked one of the same name makes room for it; its
 * secrets stay refused.
 *
 * @returns the secret, which cannot be read again.
 * @throws Problem CONFLICT if the name is in use.
 */
export async function createCredential<Grant>(
  tx: Transaction,
  kind: CredentialKind<Grant>,
  { ownerId, now, newId }: CredentialTarget,
  name: string,
  grant: Grant,
): Promise<string> {
  const { table } = kind;
  const known = await lockCredential(tx, table, ownerId, name);
  if (known && !known.revokedAt) throw nameTaken(kind, name);
  if (known) await deleteCredentials(tx, table, ownerId, [known.id]);
  const id = newId();
  const made = await insertCredentials(
    tx,
    table,
    ownerId,
    [{ id, name, grant, secrets: null }],
    now,
  );
  if (made.length === 0) throw nameTaken(kind, name);
  return addSecret(tx, kind, id, now);
}

/**
 * Gives a credential a new secret; the one it had is good until `overlapUntil`, and older ones no more.
 *
 * @returns the secret, which cannot be read again.
 * @throws Problem NOT_FOUND, or CONFLICT where it is revoked.
 */
export async function rotateCredential<Grant>(
  tx: Transaction,
  kind: CredentialKind<Grant>,
  { ownerId, now }: CredentialTarget,
  name: string,
  overlapUntil: Date,
): Promise<string> {
  const { id } = await openCredential(tx, kind, ownerId, name);
  await retireSecrets(tx, id, now, overlapUntil);
  return addSecret(tx, kind, id, now);
}

async function addSecret<Grant>(
  tx: Transaction,
  { prefix }: CredentialKind<Grant>,
  ownerId: string,
  now: Date,
): Promise<string> {
  const secret = newSecret(prefix);
  await insertSecrets(tx, [{ hash: hashSecret(secret), until: null, ownerId }], now);
  return secret;
}

/**
 * Changes what a credential grants; its secrets stay as they are.
 *
 * @returns whether it granted something else before.
 * @throws Problem NOT_FOUND, or CONFLICT where it is revoked.
 */
export async function changeCredential<Grant>(
  tx: Transaction,
  kind: CredentialKind<Grant>,
  { ownerId }: CredentialTarget,
  name: string,
  grant: Grant,
): Promise<boolean> {
  const known = await openCredential(tx, kind, ownerId, name);
  const members = Object.keys(kind.table.grant) as (keyof Grant)[];
  if (members.every((each) => isDeepStrictEqual(known[each], grant[each]))) return false;
  await updateGrant(tx, kind.table, ownerId, known.id, grant);
  return true;
}

/**
 * Closes a credential for good: none of its secrets opens anything again, also where a manifest still
 * declares them. Revoking it once more changes nothing.
 *
 * @returns whether it was open.
 * @throws Problem NOT_FOUND.
 */
export async function revokeCredential<Grant>(
  tx: Transaction,
  kind: CredentialKind<Grant>,
  { ownerId, now }: CredentialTarget,
  name: string,
): Promise<boolean> {
  const { table } = kind;
  const known = await lockCredential(tx, table, ownerId, name);
  if (!known) throw nobody(kind, name);
  if (known.revokedAt) return false;
  await markRevoked(tx, table, ownerId, known.id, now);
  await retireSecrets(tx, known.id, now, now);
  return true;
}

async function openCredential<Grant>(
  tx: Transaction,
  kind: CredentialKind<Grant>,
  ownerId: OwnerId,
  name: string,
): Promise<CredentialRow<Grant>> {
  const known = await lockCredential(tx, kind.table, ownerId, name);
  if (!known) throw nobody(kind, name);
  if (known.revokedAt) throw new Problem("CONFLICT", `The ${kind.noun} '${name}' is revoked.`);
  return known;
}

const nobody = <Grant>({ noun, belongs }: CredentialKind<Grant>, name: string) =>
  new Problem("NOT_FOUND", `There is no ${noun} '${name}' ${belongs}.`);
