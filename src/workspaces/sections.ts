import Type, { type Static } from "typebox";
import { PERMISSIONS } from "../access/permissions.ts";
import { hashSecret } from "../access/secrets.ts";
import { deleteKeys, insertKey, selectDeclaredKeys } from "../access/store.ts";
import { isDuplicate } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { DeclaredId } from "./manifest.ts";
import { describe, difference, type Section, type SectionTarget } from "./section.ts";
import { deleteApps, deleteGroups, selectApps, selectGroups, upsertApps, upsertGroups } from "./store.ts";

/* The sections that every workspace has, whatever facilities are built in. */

const Name = Type.String({ minLength: 1, maxLength: 255 });

const ApiKey = Type.Object(
  {
    name: Name,
    key: Type.String({ minLength: 1, maxLength: 255, pattern: "^\\S+$" }),
    permissions: Type.Array(Type.Enum(["all", ...PERMISSIONS])),
    ip_allowlist: Type.Optional(Type.Array(Type.String())),
  },
  { additionalProperties: false },
);

export const apiKeys: Section = {
  key: "api_keys",
  schema: ApiKey,
  identity: "name",
  async apply(tx, target, entries: readonly Static<typeof ApiKey>[]) {
    const wanted = entries.map((entry) => ({
      name: entry.name,
      keyHash: hashSecret(entry.key),
      permissions: entry.permissions,
      ipAllowlist: entry.ip_allowlist ?? [],
    }));
    const present = await selectDeclaredKeys(tx, target.workspaceId);
    const todo = difference(present, wanted, (key) => key.name);
    const gone = [...todo.removed, ...todo.updated].map((key) => key.name);
    await deleteKeys(tx, target.workspaceId, gone);
    for (const key of [...todo.created, ...todo.updated]) {
      const row = { ...key, id: target.newId(), declared: true };
      await insertKey(tx, target.workspaceId, row, target.now).catch((error) => {
        throw isDuplicate(error) ? keyTaken(key.name, target) : error;
      });
    }
    return describe("api_key", target.workspaceName, todo, (key) => key.name);
  },
};

function keyTaken(name: string, target: SectionTarget): Problem {
  return new Problem(
    "CONFLICT",
    `The API key '${name}' of workspace '${target.workspaceName}' has a name or a value ` +
      "that another key has already.",
  );
}

const App = Type.Object(
  { id: DeclaredId, name: Name, platform: Type.String({ minLength: 1, maxLength: 255 }) },
  { additionalProperties: false },
);

export type DeclaredApp = Static<typeof App>;

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

export type DeclaredGroup = Static<typeof SubscriptionGroup>;

/** Removing a group removes its declaration; the states that people chose stay where they are. */
export const subscriptionGroups: Section = {
  key: "subscription_groups",
  schema: SubscriptionGroup,
  identity: "id",
  async apply(tx, target, entries: readonly DeclaredGroup[]) {
    const todo = difference(await selectGroups(tx, target.workspaceId), entries, (each) => each.id);
    await upsertGroups(tx, target.workspaceId, [...todo.created, ...todo.updated]);
    await deleteGroups(tx, target.workspaceId, todo.removed);
    return describe("subscription_group", target.workspaceName, todo, (group) => group.name);
  },
};

export const CORE_SECTIONS: readonly Section[] = [apiKeys, apps, subscriptionGroups];
