import { type AuditedChange, recordChanges } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import type { CompanyContext, Context, WorkspaceContext } from "../context/context.ts";
import type { Database, Transaction } from "../database/database.ts";
import type { Authenticator } from "../http/callers.ts";
import { keyDetails, tokenDetails } from "./credential-form.ts";
import * as credentials from "./credentials.ts";
import { API_KEYS, type KeyGrant } from "./keys.ts";
import type { LastUsed } from "./last-used.ts";
import { SCIM_TOKENS, type TokenGrant } from "./scim-tokens.ts";

/*
 * What an administrator does with the API keys of a workspace and the SCIM tokens of the company, one at a
 * time. Every change is audited.
 */

export interface CredentialServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly authenticator: Authenticator;
  readonly lastUsed: LastUsed;
}

/** Credentials of one kind and one owner. */
export interface Owned<Grant> {
  readonly kind: credentials.CredentialKind<Grant>;
  readonly ownerId: credentials.OwnerId;
  /** What the audit calls one of them, and what it records of it. */
  readonly auditKind: string;
  readonly workspace: string;
  details(grant: Grant): AuditedChange["details"];
}

export const keysOf = ({ workspace }: WorkspaceContext): Owned<KeyGrant> => ({
  kind: API_KEYS,
  ownerId: workspace.id,
  auditKind: "api_key",
  workspace: workspace.name,
  details: keyDetails,
});

export const tokensOf = ({ company }: CompanyContext): Owned<TokenGrant> => ({
  kind: SCIM_TOKENS,
  ownerId: company.id,
  auditKind: "scim_token",
  workspace: "",
  details: tokenDetails,
});

/** By name, revoked ones too. */
export async function listCredentials<Grant>(
  { database, clock, lastUsed }: CredentialServices,
  owned: Owned<Grant>,
): Promise<credentials.CredentialView<Grant>[]> {
  await lastUsed.write();
  return credentials.listCredentials(database, owned.kind, owned.ownerId, clock.now());
}

/**
 * Makes one.
 *
 * @returns its secret, which cannot be read again.
 * @throws Problem CONFLICT if the name is in use.
 */
export function createCredential<Grant>(
  services: CredentialServices,
  owned: Owned<Grant>,
  context: Context,
  name: string,
  grant: Grant,
): Promise<string> {
  return changing(services, owned, context, async (tx, target, record) => {
    const secret = await credentials.createCredential(tx, owned.kind, target, name, grant);
    await record({ action: "created", name, details: owned.details(grant) });
    return secret;
  });
}

/**
 * Gives one a new secret; the present one stays good for so many seconds.
 *
 * @returns the secret, which cannot be read again, and when the older one expires.
 * @throws Problem NOT_FOUND, CONFLICT where it is revoked.
 */
export function rotateCredential<Grant>(
  services: CredentialServices,
  owned: Owned<Grant>,
  context: Context,
  name: string,
  overlapSeconds: number,
): Promise<{ readonly secret: string; readonly overlapUntil: Date }> {
  return changing(services, owned, context, async (tx, target, record) => {
    const overlapUntil = new Date(target.now.getTime() + overlapSeconds * 1_000);
    const { kind } = owned;
    const secret = await credentials.rotateCredential(tx, kind, target, name, overlapUntil);
    await record({
      action: "rotated",
      name,
      details: { overlap_until: overlapUntil.toISOString() },
    });
    return { secret, overlapUntil };
  });
}

/** Changes what one grants. @throws Problem NOT_FOUND, CONFLICT where it is revoked. */
export function changeCredential<Grant>(
  services: CredentialServices,
  owned: Owned<Grant>,
  context: Context,
  name: string,
  grant: Grant,
): Promise<void> {
  return changing(services, owned, context, async (tx, target, record) => {
    const isOther = await credentials.changeCredential(tx, owned.kind, target, name, grant);
    if (isOther) await record({ action: "updated", name, details: owned.details(grant) });
  });
}

/** Closes one for good; one that is closed already stays so. @throws Problem NOT_FOUND. */
export function revokeCredential<Grant>(
  services: CredentialServices,
  owned: Owned<Grant>,
  context: Context,
  name: string,
): Promise<void> {
  return changing(services, owned, context, async (tx, target, record) => {
    const wasOpen = await credentials.revokeCredential(tx, owned.kind, target, name);
    if (wasOpen) await record({ action: "revoked", name });
  });
}

type Record = (change: Pick<AuditedChange, "action" | "name" | "details">) => Promise<void>;

/** Runs a change in one transaction; then empties the caches of keys and tokens. */
async function changing<Grant, Result>(
  { database, clock, authenticator }: CredentialServices,
  { ownerId, auditKind: kind, workspace }: Owned<Grant>,
  context: Context,
  work: (tx: Transaction, target: credentials.CredentialTarget, record: Record) => Promise<Result>,
): Promise<Result> {
  const target = { ownerId, now: clock.now(), newId: clock.newId };
  const result = await database.transaction((tx) =>
    work(tx, target, (change) =>
      recordChanges(tx, clock, context, [{ ...change, kind, workspace }]),
    ),
  );
  authenticator.forget();
  return result;
}
