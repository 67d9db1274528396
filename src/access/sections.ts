import Type, { type Static } from "typebox";
import type { CompanyContext } from "../context/context.ts";
import type { Queryable, Transaction } from "../database/database.ts";
import {
  describe,
  difference,
  type Resource,
  type ResourceServices,
} from "../workspaces/resource.ts";
import {
  CredentialName,
  declaredSecrets,
  IpAllowlist,
  KeyPermissions,
  keyDetails,
  PreviousSecret,
  PreviousUntil,
  RequireOrigin,
  Secret,
  ServiceOrigin,
  tokenDetails,
} from "./credential-form.ts";
import {
  type CredentialKind,
  type DeclaredCredential,
  listCredentials,
  readDeclared,
  replaceDeclared,
  storedSecrets,
} from "./credentials.ts";
import { API_KEYS, type KeyGrant } from "./keys.ts";
import { SCIM_TOKENS, type TokenGrant } from "./scim-tokens.ts";

/* API keys and SCIM tokens in the manifest. */

const ApiKey = Type.Object(
  {
    name: CredentialName,
    key: Secret,
    permissions: KeyPermissions,
    ip_allowlist: Type.Optional(IpAllowlist),
    previous_key: Type.Optional(PreviousSecret),
    previous_key_until: Type.Optional(PreviousUntil),
  },
  { additionalProperties: false },
);

export const apiKeys: Resource = {
  key: "api_keys",
  about: "The API keys of the workspace. Read their secrets from the environment.",
  schema: ApiKey,
  identity: "name",
  async apply(tx, services, { workspace }, entries: readonly Static<typeof ApiKey>[]) {
    const wanted = entries.map((entry) => keyOf(entry, services.shortestSecret));
    const todo = await applyCredentials(tx, API_KEYS, services, workspace.id, wanted);
    return describe("api_key", workspace.name, todo, ({ name }) => name, keyDetails);
  },
  async declaration(database, { secret }, { workspace }) {
    const keys = await listLive(database, API_KEYS, workspace.id);
    return keys.map(({ name, permissions, ipAllowlist }) => ({
      name,
      key: secret("api_key", workspace.name, name),
      permissions,
      ip_allowlist: ipAllowlist,
    }));
  },
};

function keyOf(entry: Static<typeof ApiKey>, shortest: number): DeclaredCredential<KeyGrant> {
  const { name, key, permissions, ip_allowlist, previous_key, previous_key_until } = entry;
  const what = { name, noun: API_KEYS.noun, member: "key" } as const;
  const secrets = declaredSecrets(what, key, previous_key, previous_key_until, shortest);
  const ipAllowlist = ip_allowlist ?? [];
  return { name, permissions, ipAllowlist, secrets: storedSecrets(secrets) };
}

/** Replaces the declared keys or tokens of an owner. @returns the changes. */
async function applyCredentials<Grant>(
  tx: Transaction,
  kind: CredentialKind<Grant>,
  { clock }: Pick<ResourceServices, "clock">,
  ownerId: number | string,
  wanted: readonly DeclaredCredential<Grant>[],
) {
  const present = await readDeclared(tx, kind, ownerId);
  const todo = difference(present, wanted, (each) => each.name);
  await replaceDeclared(tx, kind, { ownerId, now: clock.now(), newId: clock.newId }, todo);
  return todo;
}

/** Those that have not been revoked. */
async function listLive<Grant>(
  database: Queryable,
  kind: CredentialKind<Grant>,
  ownerId: number | string,
) {
  const all = await listCredentials(database, kind, ownerId, new Date(0));
  return all.filter(({ revokedAt }) => !revokedAt);
}

const ScimToken = Type.Object(
  {
    name: CredentialName,
    token: Secret,
    service_origin: ServiceOrigin,
    require_origin: Type.Optional(RequireOrigin),
    previous_token: Type.Optional(PreviousSecret),
    previous_token_until: Type.Optional(PreviousUntil),
  },
  { additionalProperties: false },
);

export const scimTokens: Resource<CompanyContext> = {
  key: "scim_tokens",
  about: "The tokens with which identity providers manage dashboard users over SCIM.",
  schema: ScimToken,
  identity: "name",
  async apply(tx, services, { company }, entries: readonly Static<typeof ScimToken>[]) {
    const wanted = entries.map((entry) => tokenOf(entry, services.shortestSecret));
    const todo = await applyCredentials(tx, SCIM_TOKENS, services, company.id, wanted);
    return describe("scim_token", "", todo, ({ name }) => name, tokenDetails);
  },
  async declaration(database, { secret }, { company }) {
    const tokens = await listLive(database, SCIM_TOKENS, company.id);
    return tokens.map(({ name, serviceOrigin, requireOrigin }) => ({
      name,
      token: secret("scim_token", name),
      service_origin: serviceOrigin,
      require_origin: requireOrigin,
    }));
  },
};

function tokenOf(
  entry: Static<typeof ScimToken>,
  shortest: number,
): DeclaredCredential<TokenGrant> {
  const { name, token, service_origin, require_origin, previous_token, previous_token_until } =
    entry;
  const what = { name, noun: SCIM_TOKENS.noun, member: "token" } as const;
  const secrets = declaredSecrets(what, token, previous_token, previous_token_until, shortest);
  return {
    name,
    serviceOrigin: service_origin,
    requireOrigin: require_origin ?? true,
    secrets: storedSecrets(secrets),
  };
}
