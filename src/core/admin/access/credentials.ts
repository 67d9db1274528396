import { isDeepStrictEqual } from "node:util";
import Type, { type TProperties } from "typebox";
import type { Context } from "../../base/context/context.ts";
import { Problem } from "../../base/problem.ts";
import { PLAIN_NAME } from "../../base/values/schemas.ts";
import type { Queryable, Transaction } from "../../database/database.ts";
import { refusingGrowth } from "../workspaces/most-entries.ts";
import type { Entry } from "../workspaces/resource.ts";
import {
  type CredentialRow,
  type CredentialTable,
  countCredentials,
  type DeclaredCredential,
  deleteCredentials,
  insertCredentials,
  type OwnerId,
  selectCredentials,
  selectDeclared,
  updateDeclared,
  type WithId,
} from "./credential-store.ts";
import {
  deleteLiveSecrets,
  insertSecrets,
  type OwnedSecret,
  type StoredSecret,
  selectOverlaps,
} from "./secret-store.ts";

/*
 * API keys and SCIM tokens (decision: docs/decisions/keys.md). A credential is a name with its
 * grants, and one secret, or two while one replaces the other.
 */

/**
 * API keys, or SCIM tokens. Their part of the manifest, their endpoints and their audit rows follow from
 * this description.
 */
export interface CredentialKind<Grant, Where extends Context = never> {
  readonly table: CredentialTable<Grant>;
  /** How sentences name a credential, and who owns it. */
  readonly noun: string;
  readonly belongs: string;
  readonly prefix: string;
  /** The member with the secret, in a manifest and in replies. */
  readonly secretName: "key" | "token";
  readonly auditKind: string;
  /** The owner; the workspace is empty for credentials of the company. */
  ownerOf(context: Where): { readonly id: OwnerId; readonly workspace: string };
  /** A grant as a manifest and the admin API write it, and the members that they may omit. */
  readonly members: TProperties;
  readonly defaults: Entry;
  grantOf(members: Entry): Grant;
  membersOf(grant: Grant): Entry;
}

export const CredentialName = Type.String(PLAIN_NAME);

/** The members of a grant; those with a default may be omitted. */
export const grantMembers = <Grant>({ members, defaults }: CredentialKind<Grant>): TProperties =>
  Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [
      name,
      name in defaults ? Type.Optional(schema) : schema,
    ]),
  );

/** The owner of a credential, and its time and ids at creation. */
export interface CredentialTarget {
  readonly ownerId: OwnerId;
  readonly now: Date;
  newId(): string;
}

/**
 * Creates, changes and removes declared credentials. If its declared secrets did not change, a credential
 * keeps its present secrets: a rotation or revocation since then remains in effect.
 *
 * @throws Problem CONFLICT if a name or a secret is in use, or the secret was revoked; INVALID_REQUEST if there would be
 * too many.
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
  const made = await withinBound(tx, kind, ownerId, async () => {
    await deleteCredentials(tx, table, ownerId, removed);
    await updateDeclared(tx, table, ownerId, updated);
    await deleteLiveSecrets(tx, [...removed, ...reopened.map((each) => each.id)], now);
    return insertCredentials(tx, table, ownerId, created, now);
  });
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

/** The secrets of declared credentials, with the names that a refusal reports. */
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

/**
 * Runs a change of the credentials of an owner. Revoked ones count: they are listed for good. A new one may take the
 * name, and the place, of a revoked one.
 *
 * @throws Problem INVALID_REQUEST if there would be too many.
 */
export const withinBound = <Grant, Result>(
  tx: Transaction,
  { table, noun }: CredentialKind<Grant>,
  ownerId: OwnerId,
  change: () => Promise<Result>,
): Promise<Result> => {
  const owner = table.owner === "workspace_id" ? "workspace" : "company";
  const list = { owner, noun: `${noun}s, including revoked ones` } as const;
  return refusingGrowth(list, () => countCredentials(tx, table, ownerId), change);
};

/** The refusal of a new credential whose name is in use. */
export const nameTaken = <Grant>(kind: CredentialKind<Grant>, name: string) =>
  new Problem("CONFLICT", `There is ${withArticle(kind.noun)} '${name}' ${kind.belongs} already.`);

/** The noun with "a" or "an", by its first letter. */
export const withArticle = (noun: string): string =>
  `${/^[AEIOU]/.test(noun) ? "an" : "a"} ${noun}`;

/** A credential as its administrator sees it. Never contains a secret. */
export type CredentialView<Grant> = CredentialRow<Grant> & {
  /** While two secrets are valid: when the previous one expires. */
  readonly overlapUntil: Date | undefined;
};

/** The credentials of an owner by name, including revoked ones. */
export async function listCredentials<Grant>(
  database: Queryable,
  { table }: CredentialKind<Grant>,
  ownerId: OwnerId,
  now: Date,
): Promise<CredentialView<Grant>[]> {
  const rows = await selectCredentials(database, table, ownerId);
  const ids = rows.map((row) => row.id);
  const overlaps = await selectOverlaps(database, ids, now);
  return rows.map((row) => ({ ...row, overlapUntil: overlaps.get(row.id) }));
}
