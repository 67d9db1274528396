import { describe, difference, type Resource } from "../../admin/workspaces/resource.ts";
import { changeIntegrations, detailsOf } from "./change-integrations.ts";
import { type Entry, IntegrationEntry, integrationOf } from "./declaration.ts";
import { declarationOf } from "./declaration-of.ts";
import { resolveWarehouses } from "./resolve-warehouse.ts";
import { selectDeclaredIntegrations, selectIntegrations } from "./store.ts";
import { openIntegration } from "./stored-warehouse.ts";

/** What a workspace syncs from warehouses. Removing an integration removes its history too. */
export const integrations: Resource = {
  key: "integrations",
  about: "Warehouse syncs of the workspace and their schedules.",
  schema: IntegrationEntry,
  identity: "id",
  async apply(tx, { clock, sealing }, context, entries: readonly Entry[]) {
    const { workspace } = context;
    const stored = await selectDeclaredIntegrations(tx, workspace.id);
    const present = stored.map((each) => openIntegration(sealing, workspace.id, each));
    const wanted = await resolveWarehouses(tx, context, entries.map(integrationOf));
    const todo = difference(present, wanted, ({ id }) => id);
    const saved = [...todo.created, ...todo.updated];
    const removed = todo.removed.map(({ id }) => id);
    const where = { workspaceId: workspace.id, now: clock.now(), sealing };
    await changeIntegrations(tx, where, { saved, removed }, true);
    return describe("integration", workspace.name, todo, ({ name }) => name, detailsOf);
  },
  async declaration(database, from, { workspace }) {
    const stored = await selectIntegrations(database, workspace.id);
    return stored.map((each) => declarationOf(from, workspace, each));
  },
};
