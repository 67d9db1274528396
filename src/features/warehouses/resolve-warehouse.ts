import { Unopenable } from "../../core/admin/secrets/seal.ts";
import type { Sealing } from "../../core/admin/secrets/sealing.ts";
import { actsForCompany, type WorkspaceContext } from "../../core/base/context/context.ts";
import type { Workspace } from "../../core/base/context/workspace.ts";
import { Problem } from "../../core/base/problem.ts";
import type { Queryable } from "../../core/database/database.ts";
import { type Outbound, UNGUARDED } from "../../core/outbound/outbound.ts";
import { type Reaching, ReachRefused } from "../../core/outbound/reach-refused.ts";
import { SourceUnfit } from "../../core/outbound/unfit.ts";
import { type StoredConnection, selectConnectionsOf } from "./connection-store.ts";
import { openConnection } from "./connections.ts";
import type { Integration } from "./integration.ts";
import { faultOfPlace, isBelowRoot, kindOf } from "./sources/kinds.ts";
import type { Warehouse } from "./sources/source.ts";
import {
  connectedPlace,
  isConnected,
  openWarehouse,
  type StoredIntegration,
} from "./stored-warehouse.ts";

/* The places that an integration may read, checked when it is declared and when it runs. decision: docs/decisions/connections.md */

/** The sentence is the same for a connection that does not exist: names of the company are not the caller's. */
const noConnection = (name: string): string =>
  `There is no connection '${name}' for this workspace.`;

/**
 * Fills in the type of connections, and checks that the workspace may use them and that the caller may declare the rest.
 *
 * @throws Problem INVALID_REQUEST, FORBIDDEN; a `ReachRefused` for a place that the caller may not
 * read.
 */
export async function resolveWarehouses(
  database: Queryable,
  context: WorkspaceContext,
  integrations: readonly Integration[],
): Promise<Integration[]> {
  const usesConnections = integrations.some(({ warehouse }) => isConnected(warehouse));
  const usable = usesConnections ? await selectConnectionsOf(database, context.workspace.id) : [];
  return integrations.map((integration, index) => {
    const { warehouse } = integration;
    const details = { body: { path: ["integrations", index, "warehouse"] } };
    const reaching = { kind: "integration", name: integration.name };
    if (isConnected(warehouse)) {
      const type = checkPlace(usable, connectedPlace({ ...warehouse }), reaching, details);
      return { ...integration, warehouse: { ...warehouse, type } };
    }
    checkInline(context, reaching, details);
    return integration;
  });
}

/** @throws ReachRefused unless the caller may declare how a warehouse is reached. */
function checkInline(context: WorkspaceContext, reaching: Reaching, details: Problem["details"]) {
  if (actsForCompany(context)) return;
  const message =
    "Only the company declares how a warehouse is reached: name one of its connections.";
  throw new ReachRefused(reaching, "FORBIDDEN", message, details);
}

/** A warehouse of which the place may be absent, with the type of its connection. @throws as `resolveWarehouses`. */
export async function resolveOpenWarehouse(
  database: Queryable,
  context: WorkspaceContext,
  reaching: Reaching,
  warehouse: Warehouse,
): Promise<Warehouse> {
  const details = { body: { path: ["warehouse"] } };
  if (!isConnected(warehouse)) {
    checkInline(context, reaching, details);
    return warehouse;
  }
  const usable = await selectConnectionsOf(database, context.workspace.id);
  const { type } = connectionIn(usable, warehouse.connection, reaching, details);
  return { ...warehouse, type };
}

/** @returns the type of the connection. */
function checkPlace(
  usable: readonly StoredConnection[],
  { connection: name, ...place }: { readonly connection: string },
  reaching: Reaching,
  details: Problem["details"],
): string {
  const { type, settings } = connectionIn(usable, name, reaching, details);
  const fault = faultOfPlace(kindOf({ type }), place);
  if (fault) throw new Problem("INVALID_REQUEST", fault, details);
  if (isBelowRoot({ ...place, ...settings, type })) return type;
  const message = `The warehouse 'url' must be below the root of the connection '${name}'.`;
  throw new ReachRefused(reaching, "INVALID_REQUEST", message, details);
}

function connectionIn(
  usable: readonly StoredConnection[],
  name: string,
  reaching: Reaching,
  details: Problem["details"],
): StoredConnection {
  const found = usable.find((each) => each.name === name);
  if (found) return found;
  throw new ReachRefused(reaching, "INVALID_REQUEST", noConnection(name), details);
}

export interface ResolvedWarehouse {
  readonly warehouse: Warehouse;
  readonly outbound: Outbound;
  /** Undefined: the administrator declared it inline. */
  readonly connection: string | undefined;
}

/**
 * The settings of an integration's source as they are now.
 *
 * @throws SourceUnfit if the workspace may not use the connection, or if credentials cannot be
 * opened: trying again would not help.
 */
export async function warehouseOf(
  { database, sealing, outbound }: { database: Queryable; sealing: Sealing; outbound: Outbound },
  workspace: Pick<Workspace, "id">,
  integration: Pick<StoredIntegration, "id" | "warehouse">,
): Promise<ResolvedWarehouse> {
  try {
    const warehouse = openWarehouse(sealing, workspace.id, integration);
    if (!isConnected(warehouse)) return { warehouse, outbound: UNGUARDED, connection: undefined };
    const { connection, ...place } = connectedPlace(warehouse);
    const usable = await selectConnectionsOf(database, workspace.id);
    const found = usable.find(({ name, type }) => name === connection && type === warehouse.type);
    if (!found) throw new SourceUnfit(noConnection(connection));
    // The connection's settings come last: a place never replaces them.
    const settings = openConnection(sealing, found.companyId, found);
    return { warehouse: { ...place, ...settings }, outbound, connection };
  } catch (error) {
    if (!(error instanceof Unopenable)) throw error;
    const what = isConnected(integration.warehouse) ? "connection" : "integration";
    throw new SourceUnfit(`${error.message} Declare the ${what} again with its credentials.`);
  }
}
