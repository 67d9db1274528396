import { isDeepStrictEqual } from "node:util";
import { recordChanges } from "../../core/admin/audit/audit.ts";
import { recordingRefusals } from "../../core/admin/audit/refusals.ts";
import type { Sealing } from "../../core/admin/secrets/sealing.ts";
import { changeDeclared } from "../../core/admin/workspaces/administer.ts";
import { checkContacts } from "../../core/admin/workspaces/contacts.ts";
import { changedMembers } from "../../core/admin/workspaces/field-changes.ts";
import type { Colleagues, ConfigChange } from "../../core/admin/workspaces/resource.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { type Queryable, type Transaction, withRetries } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import type { Authenticator } from "../../core/http/callers.ts";
import { changeIntegrations, detailsOf } from "./change-integrations.ts";
import type { Integration } from "./integration.ts";
import { getIntegration } from "./list.ts";
import { resolveWarehouses } from "./resolve-warehouse.ts";
import { type IntegrationRow, selectIntegrations, selectIntegrationsById } from "./store.ts";
import { openIntegration } from "./stored-warehouse.ts";

/* The integrations of a workspace as administrators see and change them. */

export interface ManageServices extends StoringServices, Colleagues {
  readonly authenticator: Authenticator;
  readonly sealing: Sealing;
}

export const readIntegrations = (
  { database }: Pick<ManageServices, "database">,
  { workspace }: WorkspaceContext,
): Promise<IntegrationRow[]> => selectIntegrations(database, workspace.id);

/** An integration as a caller declares it; without a warehouse the present one stays. */
export type WantedIntegration = Omit<Integration, "warehouse"> &
  Partial<Pick<Integration, "warehouse">>;

/** Which integration is saved, and how its declaration follows from the present one. */
export interface Saving {
  readonly id: string;
  wanted(present: Integration | undefined): WantedIntegration;
  /** Whether the audit row has what changed, before and after, in place of the new state. */
  readonly isPatch?: boolean;
}

/**
 * Creates or changes an integration; changing the source restarts the sync. A declared integration
 * stays declared: the next apply overrides changes made through the API. Refusals of a connection
 * or file that the caller may not read are in the audit log.
 *
 * @throws Problem CONFLICT if another integration has the name; as `resolveWarehouses`, and as `wanted`.
 */
export async function saveIntegration(
  services: ManageServices,
  context: WorkspaceContext,
  { id, wanted, isPatch = false }: Saving,
): Promise<IntegrationRow> {
  const { clock, sealing } = services;
  const { workspace } = context;
  const save = async (tx: Transaction): Promise<ConfigChange[]> => {
    const where = { workspaceId: workspace.id, now: clock.now(), sealing };
    const [present] = await selectIntegrationsById(tx, workspace.id, [id]);
    const before = present && openIntegration(sealing, workspace.id, present);
    const integration = await withWarehouse(tx, context, wanted(before), before);
    const { contactEmails } = integration;
    await checkContacts(tx, services, context, contactEmails, before?.contactEmails ?? [], []);
    if (isDeepStrictEqual(before, integration)) return [];
    await changeIntegrations(tx, where, { saved: [integration], removed: [] }, false);
    const after = detailsOf(integration);
    return [
      {
        action: present ? "updated" : "created",
        kind: "integration",
        workspace: context.workspace.name,
        name: integration.name,
        details: isPatch && before ? changedMembers(detailsOf(before), after) : after,
      },
    ];
  };
  await recordingRefusals(services, context, () =>
    changeDeclared(services, context, async (tx) => ({
      changes: await save(tx),
      result: undefined,
    })),
  );
  return getIntegration(services, workspace, id);
}

/** @throws Problem as `resolveWarehouses`; INVALID_REQUEST for a new integration without a warehouse. */
export async function withWarehouse(
  tx: Queryable,
  context: WorkspaceContext,
  { warehouse, ...wanted }: WantedIntegration,
  before: Integration | undefined,
): Promise<Integration> {
  if (warehouse) {
    const [resolved] = await resolveWarehouses(tx, context, [{ ...wanted, warehouse }]);
    return resolved as Integration;
  }
  if (before) return { ...wanted, warehouse: before.warehouse };
  throw new Problem("INVALID_REQUEST", "'warehouse' is required for a new integration");
}

/** Removes an integration with its runs and their log. @throws Problem as `getIntegration`. */
export async function removeIntegration(
  services: ManageServices,
  context: WorkspaceContext,
  id: string,
): Promise<void> {
  const { database, clock, sealing } = services;
  const { workspace } = context;
  await withRetries(database, async (tx) => {
    const present = await getIntegration({ database: tx }, workspace, id);
    const where = { workspaceId: workspace.id, now: clock.now(), sealing };
    await changeIntegrations(tx, where, { saved: [], removed: [present.id] }, false);
    await recordChanges(tx, clock, context, [
      {
        action: "removed",
        kind: "integration",
        workspace: context.workspace.name,
        name: present.name,
      },
    ]);
  });
}
