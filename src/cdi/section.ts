import { describe, difference, type Section } from "../workspaces/section.ts";
import { changeIntegrations, detailsOf } from "./change-integrations.ts";
import { type Entry, IntegrationEntry, integrationOf } from "./declaration.ts";
import { selectDeclaredIntegrations } from "./store.ts";

/** What a workspace syncs from warehouses. Removing an integration removes its history too. */
export const integrations: Section = {
  key: "integrations",
  about: "What the workspace syncs from warehouses, and when.",
  schema: IntegrationEntry,
  identity: "id",
  async apply(tx, target, entries: readonly Entry[]) {
    const present = await selectDeclaredIntegrations(tx, target.workspaceId);
    const todo = difference(present, entries.map(integrationOf), ({ id }) => id);
    const saved = [...todo.created, ...todo.updated];
    const removed = todo.removed.map(({ id }) => id);
    await changeIntegrations(tx, target, { saved, removed }, true);
    return describe("integration", target.workspaceName, todo, ({ name }) => name, detailsOf);
  },
};
