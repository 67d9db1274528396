import { type AuditedChange, type Origin, recordChanges } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import {
  type Database,
  isDuplicate,
  type Queryable,
  type Transaction,
} from "../database/database.ts";
import { Problem } from "../problem.ts";
import type { CenterContent, DeclaredCenter, PreferenceCenter } from "./center.ts";
import {
  type CenterSummary,
  deleteCenters,
  lockCenter,
  selectCenter,
  selectCenters,
  upsertCenters,
} from "./store.ts";

export interface CenterServices {
  readonly database: Database;
  readonly clock: Clock;
}

/** The workspace that centers are read or changed in. */
export interface Where {
  readonly id: number;
  readonly name: string;
}

/** The preference centers of a workspace, by name. */
export const listCenters = (
  { database }: Pick<CenterServices, "database">,
  workspace: Where,
): Promise<CenterSummary[]> => selectCenters(database, workspace.id);

/** One of them. @throws Problem NOT_FOUND. */
export async function readCenter(
  { database }: { readonly database: Queryable },
  workspace: Where,
  id: string,
): Promise<PreferenceCenter> {
  return (await selectCenter(database, workspace.id, id)) ?? refuseUnknown(id);
}

/** Makes a center of a checked content, with a new id. @throws Problem CONFLICT for a name that is taken. */
export function createCenter(
  services: CenterServices,
  workspace: Where,
  origin: Origin,
  content: CenterContent,
): Promise<PreferenceCenter> {
  const id = services.clock.newId();
  return services.database.transaction((tx) =>
    saveCenter(tx, services, workspace, origin, "created", { id, ...content }),
  );
}

/**
 * Changes a center.
 *
 * @param change makes the new content of the present one, and checks it.
 * @throws Problem NOT_FOUND, CONFLICT for a name that is taken, and what `change` throws.
 */
export function changeCenter(
  services: CenterServices,
  workspace: Where,
  origin: Origin,
  id: string,
  change: (present: PreferenceCenter) => CenterContent,
): Promise<PreferenceCenter> {
  return services.database.transaction(async (tx) => {
    const present = await lockCenter(tx, workspace.id, id, services.clock.newId());
    if (!present) return refuseUnknown(id);
    const content = { id, ...change(present) };
    return saveCenter(tx, services, workspace, origin, "updated", content);
  });
}

/**
 * Makes a center with this id, or changes it. One that a manifest declared stays declared: the next
 * manifest that is applied has the last word on it.
 *
 * @throws Problem CONFLICT for a name that is taken.
 */
export function putCenter(
  services: CenterServices,
  workspace: Where,
  origin: Origin,
  center: DeclaredCenter,
): Promise<PreferenceCenter> {
  return services.database.transaction(async (tx) => {
    const present = await lockCenter(tx, workspace.id, center.id, services.clock.newId());
    const action = present ? "updated" : "created";
    return saveCenter(tx, services, workspace, origin, action, center);
  });
}

/** Removes a center; the links to it lead nowhere then. @throws Problem NOT_FOUND. */
export async function removeCenter(
  services: CenterServices,
  workspace: Where,
  origin: Origin,
  id: string,
): Promise<void> {
  await services.database.transaction(async (tx) => {
    const { name } = await readCenter({ database: tx }, workspace, id);
    await deleteCenters(tx, workspace.id, [id]);
    await record(tx, services, workspace, origin, { action: "removed", name });
  });
}

async function saveCenter(
  tx: Transaction,
  { clock }: CenterServices,
  workspace: Where,
  origin: Origin,
  action: "created" | "updated",
  center: DeclaredCenter,
): Promise<PreferenceCenter> {
  const row = { ...center, declared: false, revision: clock.newId() };
  await writeCenters(tx, workspace.id, [row], clock.now());
  const { name, title, state } = center;
  await record(tx, { clock }, workspace, origin, { action, name, details: { title, state } });
  return readCenter({ database: tx }, workspace, center.id);
}

/** @throws Problem CONFLICT where a name is taken. */
export async function writeCenters(
  tx: Transaction,
  workspaceId: number,
  rows: Parameters<typeof upsertCenters>[2],
  now: Date,
): Promise<void> {
  await upsertCenters(tx, workspaceId, rows, now).catch((error) => {
    if (!isDuplicate(error)) throw error;
    const names = rows.map((row) => `'${row.name}'`).join(", ");
    throw new Problem("CONFLICT", `Another preference center has the name already, of ${names}.`);
  });
}

const record = (
  tx: Transaction,
  { clock }: Pick<CenterServices, "clock">,
  workspace: Where,
  origin: Origin,
  change: Pick<AuditedChange, "action" | "name" | "details">,
): Promise<void> =>
  recordChanges(tx, clock, origin, [
    { kind: "preference_center", workspace: workspace.name, ...change },
  ]);

function refuseUnknown(id: string): never {
  throw new Problem("NOT_FOUND", `There is no preference center '${id}'.`);
}
