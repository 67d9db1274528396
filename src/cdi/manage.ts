import type { Clock } from "../clock.ts";
import { type Database, withRetries } from "../database/database.ts";
import { findWorkspace } from "../workspaces/find-workspace.ts";
import { changeIntegrations } from "./change-integrations.ts";
import type { Integration } from "./integration.ts";
import { getIntegration } from "./list.ts";
import { type IntegrationRow, selectIntegrations } from "./store.ts";

/* Integrations one by one, as the administrator sees and changes them. */

export interface ManageServices {
  readonly database: Database;
  readonly clock: Clock;
}

/** The integrations of a workspace, by name. @throws Problem NOT_FOUND. */
export async function readIntegrations(
  { database }: Pick<ManageServices, "database">,
  workspaceName: string,
): Promise<IntegrationRow[]> {
  const { id } = await findWorkspace(database, workspaceName);
  return selectIntegrations(database, id);
}

/** One of them. @throws Problem NOT_FOUND, or INVALID_REQUEST for an id that is no UUID. */
export async function readIntegration(
  services: Pick<ManageServices, "database">,
  workspaceName: string,
  id: string,
): Promise<IntegrationRow> {
  const workspace = await findWorkspace(services.database, workspaceName);
  return getIntegration(services, workspace, id);
}

/**
 * Makes an integration, or changes it; one whose rows are others from now on starts from the
 * beginning. One that a manifest declared stays declared: the next manifest that is applied has the
 * last word on it.
 *
 * @throws Problem NOT_FOUND for the workspace, CONFLICT where another integration has the name.
 */
export async function putIntegration(
  services: ManageServices,
  workspaceName: string,
  integration: Integration,
): Promise<IntegrationRow> {
  const { database, clock } = services;
  const workspace = await findWorkspace(database, workspaceName);
  const change = { saved: [integration], removed: [] };
  await withRetries(database, (tx) =>
    changeIntegrations(tx, { workspaceId: workspace.id, now: clock.now() }, change, false),
  );
  return getIntegration(services, workspace, integration.id);
}

/** Removes an integration with its runs and their log. @throws Problem as `readIntegration`. */
export async function removeIntegration(
  services: ManageServices,
  workspaceName: string,
  id: string,
): Promise<void> {
  const { database, clock } = services;
  const workspace = await findWorkspace(database, workspaceName);
  await withRetries(database, async (tx) => {
    const present = await getIntegration({ database: tx }, workspace, id);
    const where = { workspaceId: workspace.id, now: clock.now() };
    await changeIntegrations(tx, where, { saved: [], removed: [present.id] }, false);
  });
}
