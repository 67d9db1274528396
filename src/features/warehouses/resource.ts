import { Unopenable } from "../../core/admin/secrets/seal.ts";
import type { Sealing } from "../../core/admin/secrets/sealing.ts";
import { checkContacts } from "../../core/admin/workspaces/contacts.ts";
import {
  type DeclarationSource,
  describe,
  difference,
  type Resource,
} from "../../core/admin/workspaces/resource.ts";
import type { Workspace } from "../../core/base/context/workspace.ts";
import { Problem } from "../../core/base/problem.ts";
import { changeIntegrations, detailsOf } from "./change-integrations.ts";
import { type Entry, IntegrationEntry, integrationOf } from "./declaration.ts";
import { resolveWarehouses } from "./resolve-warehouse.ts";
import { kindOf } from "./sources/kinds.ts";
import type { Warehouse } from "./sources/source.ts";
import { selectDeclaredIntegrations, selectIntegrations } from "./store.ts";
import {
  connectedPlace,
  isConnected,
  openIntegration,
  openWarehouse,
  type StoredIntegration,
} from "./stored-warehouse.ts";

/**
 * An integration as a manifest declares it, with variables in the place of secrets.
 *
 * @throws Problem CONFLICT if the warehouse was sealed with a key that this server does not have.
 */
function declarationOf(
  { sealing, secret }: DeclarationSource,
  workspace: Workspace,
  stored: StoredIntegration,
): object {
  const warehouse = open(sealing, workspace, stored);
  const secrets = kindOf(warehouse)
    .secrets.filter((setting) => setting in warehouse)
    .map((setting) => [setting, secret("integration", workspace.name, stored.name, setting)]);
  return {
    id: stored.id,
    name: stored.name,
    type: stored.type,
    status: stored.status,
    contact_emails: stored.contactEmails.join(", "),
    ...(stored.schedule !== null && { schedule: stored.schedule }),
    ...(stored.scheduleTimeZone !== "UTC" && { schedule_time_zone: stored.scheduleTimeZone }),
    retry: stored.retry,
    warehouse: isConnected(warehouse)
      ? connectedPlace(warehouse)
      : { ...warehouse, ...Object.fromEntries(secrets) },
  };
}

function open(sealing: Sealing, { id }: Workspace, stored: StoredIntegration): Warehouse {
  try {
    return openWarehouse(sealing, id, stored);
  } catch (error) {
    if (!(error instanceof Unopenable)) throw error;
    const message = `The warehouse of the integration '${stored.name}' cannot be opened: its key is missing.`;
    throw new Problem("CONFLICT", message, { cause: error });
  }
}

/** What a workspace syncs from warehouses. Removing an integration removes its history too. */
export const integrations: Resource = {
  key: "integrations",
  about: "Warehouse syncs of the workspace and their schedules.",
  schema: IntegrationEntry,
  identity: "id",
  async apply(tx, services, context, entries: readonly Entry[]) {
    const { clock, sealing } = services;
    const { workspace } = context;
    const stored = await selectDeclaredIntegrations(tx, workspace.id);
    const present = stored.map((each) => openIntegration(sealing, workspace.id, each));
    const wanted = await resolveWarehouses(tx, context, entries.map(integrationOf));
    for (const [index, { id, contactEmails }] of wanted.entries()) {
      const before = present.find((each) => each.id === id)?.contactEmails ?? [];
      await checkContacts(tx, services, context, contactEmails, before, ["integrations", index]);
    }
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
