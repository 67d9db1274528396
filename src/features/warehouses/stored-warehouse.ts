import { Unopenable } from "../../core/admin/secrets/seal.ts";
import type { Sealing } from "../../core/admin/secrets/sealing.ts";
import type { Transaction } from "../../core/database/database.ts";
import type { Integration } from "./integration.ts";
import { placeIn } from "./sources/kinds.ts";
import type { Warehouse } from "./sources/source.ts";

/**
 * The stored form of a warehouse: its kind and location are readable, its credentials are sealed.
 */
export interface SealedWarehouse {
  readonly type: string;
  readonly place: string;
  /** The whole warehouse as JSON, sealed. */
  readonly sealed: string;
}

/**
 * A place of a connection is stored as declared, with the type of the connection: nothing in it is
 * secret. A warehouse stored before sealing existed is readable too.
 */
export type StoredWarehouse = SealedWarehouse | Warehouse;

export type StoredIntegration = Omit<Integration, "warehouse"> & {
  readonly warehouse: StoredWarehouse;
};

/** An integration's reading through a connection of the company. */
interface ConnectedWarehouse extends Warehouse {
  readonly connection: string;
}

/** No kind has a setting of this name. */
export const isConnected = (stored: StoredWarehouse): stored is ConnectedWarehouse =>
  "connection" in stored && typeof stored.connection === "string";

/** As declared: the connection determines the type. */
export const connectedPlace = ({ type: _type, ...place }: ConnectedWarehouse) => place;

/** No declared warehouse has this member. */
const isSealed = (stored: StoredWarehouse): stored is SealedWarehouse =>
  typeof stored.sealed === "string";

const rowOf = (workspaceId: number, integrationId: string): string =>
  `integrations.warehouse ${workspaceId} ${integrationId}`;

/** An integration as stored. @throws Problem CONFLICT if there is no key. */
export async function sealIntegration(
  tx: Transaction,
  sealing: Sealing,
  workspaceId: number,
  integration: Integration,
): Promise<StoredIntegration> {
  const { warehouse, id } = integration;
  if (isConnected(warehouse)) return integration;
  const text = JSON.stringify(warehouse);
  const sealed = await sealing.seal(tx, text, rowOf(workspaceId, id));
  return { ...integration, warehouse: sealedWarehouse(warehouse, sealed) };
}

const sealedWarehouse = (warehouse: Warehouse, sealed: string): SealedWarehouse => ({
  type: warehouse.type,
  place: placeIn(warehouse),
  sealed,
});

/** @throws Unopenable */
export function openWarehouse(
  sealing: Sealing,
  workspaceId: number,
  { id, warehouse }: Pick<StoredIntegration, "id" | "warehouse">,
): Warehouse {
  // What a connection holds is not stored here.
  if (!isSealed(warehouse) && isConnected(warehouse)) return warehouse;
  const stored = isSealed(warehouse) ? warehouse.sealed : JSON.stringify(warehouse);
  return JSON.parse(sealing.open(stored, rowOf(workspaceId, id)));
}

/**
 * An integration as declared; if its warehouse cannot be opened, one that equals no declaration.
 */
export function openIntegration(
  sealing: Sealing,
  workspaceId: number,
  stored: StoredIntegration,
): Integration {
  try {
    return { ...stored, warehouse: openWarehouse(sealing, workspaceId, stored) };
  } catch (error) {
    if (error instanceof Unopenable) return { ...stored, warehouse: { ...stored.warehouse } };
    throw error;
  }
}

/** Where the rows are in the warehouse; no secrets, readable without a key. */
export const storedPlaceIn = (stored: StoredWarehouse): string =>
  isSealed(stored) ? stored.place : placeIn(stored);

/** Identifies the rows: progress stays valid while this stays the same. */
export const storedPlaceOf = (stored: StoredWarehouse): string =>
  `${stored.type} ${storedPlaceIn(stored)}`;

/** The sealed text of a stored warehouse, or JSON if it is not sealed, and the place of its row. */
export const sealedTextOf = (
  workspaceId: number,
  { id, warehouse }: Pick<StoredIntegration, "id" | "warehouse">,
): { readonly stored: string; readonly place: string } => ({
  stored: isSealed(warehouse) ? warehouse.sealed : JSON.stringify(warehouse),
  place: rowOf(workspaceId, id),
});

/** A stored warehouse with another sealed text. */
export const withSealedText = (stored: StoredWarehouse, sealed: string): StoredWarehouse =>
  isSealed(stored) ? { ...stored, sealed } : sealedWarehouse(stored, sealed);
