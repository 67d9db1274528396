import Type, { type Static } from "typebox";
import {
  type CredentialKind,
  type DeclaredCredential,
  readDeclared,
  replaceDeclared,
  storedSecrets,
} from "../access/credentials.ts";
import { API_KEYS, type KeyGrant } from "../access/keys.ts";
import { SCIM_TOKENS, type TokenGrant } from "../access/scim-tokens.ts";
import type { Transaction } from "../database/database.ts";
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
import { listedSection } from "./listed-section.ts";
import { ChannelName, DeclaredId, Name } from "./manifest.ts";
import {
  type CompanySection,
  describe,
  difference,
  type Section,
  type SectionTarget,
  type Target,
} from "./section.ts";
import {
  type DeclaredApp,
  type DeclaredGroup,
  deleteApps,
  deleteGroups,
  selectApps,
  selectGroups,
  upsertApps,
  upsertGroups,
} from "./store.ts";

/* The sections that every workspace and company has, whatever facilities are built in. */

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

const apiKeys: Section = {
  key: "api_keys",
  about: "The API keys of the workspace. Take the secrets out of the environment.",
  schema: ApiKey,
  identity: "name",
  async apply(tx, target, entries: readonly Static<typeof ApiKey>[]) {
    const todo = await applyCredentials(
      tx,
      API_KEYS,
      target,
      target.workspaceId,
      entries.map(keyOf),
    );
    return describe("api_key", target.workspaceName, todo, ({ name }) => name, keyDetails);
  },
};

function keyOf(entry: Static<typeof ApiKey>): DeclaredCredential<KeyGrant> {
  const { name, key, permissions, ip_allowlist, previous_key, previous_key_until } = entry;
  const what = { name, noun: API_KEYS.noun, member: "key" } as const;
  const secrets = declaredSecrets(what, key, previous_key, previous_key_until);
  const ipAllowlist = ip_allowlist ?? [];
  return { name, permissions, ipAllowlist, secrets: storedSecrets(secrets) };
}

/** Makes the declared keys or tokens of an owner what a manifest says. @returns what had to be done. */
async function applyCredentials<Grant>(
  tx: Transaction,
  kind: CredentialKind<Grant>,
  { now, newId }: Target,
  ownerId: number | string,
  wanted: readonly DeclaredCredential<Grant>[],
) {
  const present = await readDeclared(tx, kind, ownerId);
  const todo = difference(present, wanted, (each) => each.name);
  await replaceDeclared(tx, kind, { ownerId, now, newId }, todo);
  return todo;
}

const App = Type.Object(
  {
    id: DeclaredId,
    name: Name,
    platform: Type.String({ minLength: 1, maxLength: 255, description: "Such as ios or web." }),
  },
  { additionalProperties: false },
);

const apps = listedSection<DeclaredApp, SectionTarget>({
  key: "apps",
  about: "The apps that events, purchases and push tokens may name as their app_id.",
  schema: App,
  identity: "id",
  kind: "app",
  nameOf: (app) => app.name,
  select: (database, { workspaceId }) => selectApps(database, workspaceId),
  save: (tx, { workspaceId }, entries) => upsertApps(tx, workspaceId, entries),
  remove: (tx, { workspaceId }, entries) => deleteApps(tx, workspaceId, entries),
});

const SubscriptionGroup = Type.Object(
  { id: DeclaredId, name: Name, channel: ChannelName },
  { additionalProperties: false },
);

/** Removing a group removes its declaration; the states that people chose stay where they are. */
const subscriptionGroups = listedSection<DeclaredGroup, SectionTarget>({
  key: "subscription_groups",
  about: "What people of the workspace can subscribe to. Their states outlive a group that goes.",
  schema: SubscriptionGroup,
  identity: "id",
  kind: "subscription_group",
  nameOf: (group) => group.name,
  select: (database, { workspaceId }) => selectGroups(database, workspaceId),
  save: (tx, { workspaceId }, entries) => upsertGroups(tx, workspaceId, entries),
  remove: (tx, { workspaceId }, entries) => deleteGroups(tx, workspaceId, entries),
});

export const CORE_SECTIONS: readonly Section[] = [apiKeys, apps, subscriptionGroups];

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

const scimTokens: CompanySection = {
  key: "scim_tokens",
  about: "The tokens with which identity providers keep dashboard users over SCIM.",
  schema: ScimToken,
  identity: "name",
  async apply(tx, target, entries: readonly Static<typeof ScimToken>[]) {
    const wanted = entries.map(tokenOf);
    const todo = await applyCredentials(tx, SCIM_TOKENS, target, target.companyId, wanted);
    return describe("scim_token", "", todo, ({ name }) => name, tokenDetails);
  },
};

function tokenOf(entry: Static<typeof ScimToken>): DeclaredCredential<TokenGrant> {
  const { name, token, service_origin, require_origin, previous_token, previous_token_until } =
    entry;
  const what = { name, noun: SCIM_TOKENS.noun, member: "token" } as const;
  const secrets = declaredSecrets(what, token, previous_token, previous_token_until);
  return {
    name,
    serviceOrigin: service_origin,
    requireOrigin: require_origin ?? true,
    secrets: storedSecrets(secrets),
  };
}

export const CORE_COMPANY_SECTIONS: readonly CompanySection[] = [scimTokens];
