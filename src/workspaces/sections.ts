import Type, { type Static } from "typebox";
import { type NewKey, readDeclaredKeys, replaceKeys, storedForm } from "../access/keys.ts";
import { readDeclaredTokens, replaceTokens, storedToken } from "../access/scim-tokens.ts";
import { Problem } from "../problem.ts";
import { grantDetails, IpAllowlist, isTimestamp, KeyPermissions } from "./api-key-form.ts";
import { DeclaredId } from "./manifest.ts";
import { type CompanySection, describe, difference, type Section } from "./section.ts";
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

const Name = Type.String({ minLength: 1, maxLength: 255 });

/** What can stand in a header after `Bearer`. */
const Secret = Type.String({ minLength: 1, maxLength: 255, pattern: "^\\S+$" });

const ApiKey = Type.Object(
  {
    name: Name,
    key: Secret,
    permissions: KeyPermissions,
    ip_allowlist: Type.Optional(IpAllowlist),
    // The secret that `key` takes over from, which is good until then.
    previous_key: Type.Optional(Secret),
    previous_key_until: Type.Optional(
      Type.Refine(Type.String(), isTimestamp, () => "must be an ISO 8601 time with a zone"),
    ),
  },
  { additionalProperties: false },
);

export const apiKeys: Section = {
  key: "api_keys",
  schema: ApiKey,
  identity: "name",
  async apply(tx, target, entries: readonly Static<typeof ApiKey>[]) {
    const wanted = entries.map((entry) => storedForm(newKeyOf(entry)));
    const present = await readDeclaredKeys(tx, target.workspaceId);
    const todo = difference(present, wanted, (key) => key.name);
    await replaceKeys(tx, target, todo);
    return describe("api_key", target.workspaceName, todo, (key) => key.name, grantDetails);
  },
};

function newKeyOf(entry: Static<typeof ApiKey>): NewKey {
  const { name, key, permissions, ip_allowlist = [], previous_key, previous_key_until } = entry;
  if ((previous_key === undefined) !== (previous_key_until === undefined)) {
    throw new Problem(
      "INVALID_REQUEST",
      `The API key '${name}' needs both 'previous_key' and 'previous_key_until', or neither.`,
    );
  }
  const previous =
    previous_key === undefined || previous_key_until === undefined
      ? undefined
      : { key: previous_key, until: new Date(previous_key_until) };
  return { name, key, permissions, ipAllowlist: ip_allowlist, previous };
}

const App = Type.Object(
  { id: DeclaredId, name: Name, platform: Type.String({ minLength: 1, maxLength: 255 }) },
  { additionalProperties: false },
);

export const apps: Section = {
  key: "apps",
  schema: App,
  identity: "id",
  async apply(tx, target, entries: readonly DeclaredApp[]) {
    const todo = difference(await selectApps(tx, target.workspaceId), entries, (app) => app.id);
    await upsertApps(tx, target.workspaceId, [...todo.created, ...todo.updated]);
    await deleteApps(tx, target.workspaceId, todo.removed);
    return describe("app", target.workspaceName, todo, (app) => app.name);
  },
};

const SubscriptionGroup = Type.Object(
  { id: DeclaredId, name: Name, channel: Type.Enum(["email", "sms", "whatsapp"]) },
  { additionalProperties: false },
);

/** Removing a group removes its declaration; the states that people chose stay where they are. */
export const subscriptionGroups: Section = {
  key: "subscription_groups",
  schema: SubscriptionGroup,
  identity: "id",
  async apply(tx, target, entries: readonly DeclaredGroup[]) {
    const todo = difference(await selectGroups(tx, target.workspaceId), entries, (each) => each.id);
    await upsertGroups(tx, target.workspaceId, [...todo.created, ...todo.updated], true);
    await deleteGroups(tx, target.workspaceId, todo.removed);
    return describe("subscription_group", target.workspaceName, todo, (group) => group.name);
  },
};

export const CORE_SECTIONS: readonly Section[] = [apiKeys, apps, subscriptionGroups];

const ScimToken = Type.Object(
  {
    name: Name,
    token: Secret,
    service_origin: Type.String({ minLength: 1, maxLength: 255 }),
    require_origin: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

/** `require_origin: false` is for identity providers that cannot send a header of their own. */
export const scimTokens: CompanySection = {
  key: "scim_tokens",
  schema: ScimToken,
  identity: "name",
  async apply(tx, target, entries: readonly Static<typeof ScimToken>[]) {
    const wanted = entries.map(({ service_origin, require_origin, ...entry }) => ({
      ...entry,
      serviceOrigin: service_origin,
      requireOrigin: require_origin ?? true,
    }));
    const present = await readDeclaredTokens(tx, target.companyId);
    const todo = difference(present, wanted.map(storedToken), (token) => token.name);
    await replaceTokens(tx, target, todo);
    return describe("scim_token", "", todo, (token) => token.name);
  },
};

export const CORE_COMPANY_SECTIONS: readonly CompanySection[] = [scimTokens];
