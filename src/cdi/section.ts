import { describe, difference, type Resource } from "../workspaces/resource.ts";
import { changeIntegrations, detailsOf } from "./change-integrations.ts";
import { type Entry, IntegrationEntry, integrationOf } from "./declaration.ts";
import { selectDeclaredIntegrations } from "./store.ts";

/** What a workspace syncs from warehouses. Removing an integration removes its history too. */
export const integrations: Resource = {
  key: "integrations",
  about: "What the workspace syncs from warehouses, and when.",
  schema: IntegrationEntry,
  identity: "id",
  async apply(tx, { clock }, { workspace }, entries: readonly Entry[]) {
    const present = await selectDeclaredIntegrations(tx, workspace.id);
    const todo = difference(present, entries.map(integrationOf), ({ id }) => id);
    const saved = [...todo.created, ...todo.updated];
    const removed = todo.removed.map(({ id }) => id);
    const where = { workspaceId: workspace.id, now: clock.now() };
    await changeIntegrations(tx, where, { saved, removed }, true);
    return describe("integration", workspace.name, todo, ({ name }) => name, detailsOf);
  },
};
