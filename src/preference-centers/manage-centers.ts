import { isDeepStrictEqual } from "node:util";
import { type Origin, recordChanges } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import {
  type Database,
  isDuplicate,
  type Queryable,
  type Transaction,
} from "../database/database.ts";
import { Problem } from "../problem.ts";
import { type AdministerServices, changeDeclared } from "../workspaces/administer.ts";
import type { Change } from "../workspaces/section.ts";
import type { CenterContent, DeclaredCenter, PreferenceCenter } from "./center.ts";
import {
  type CenterSummary,
  deleteCenters,
  lockCenter,
  selectCenter,
  selectCenters,
  upsertCenters,
} from "./store.ts";

/** As answers, changes and the audit call it. */
export const KIND = "preference_center";

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
    saveCenter(tx, services, workspace, origin, undefined, { id, ...content }),
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
    return saveCenter(tx, services, workspace, origin, present, content);
  });
}

/**
 * Makes a center with this id, or changes it, as an administrator does. One that a manifest declared stays
 * declared: the next manifest that is applied has the last word on it. The same again changes nothing.
 *
 * @throws Problem CONFLICT for a name that is taken.
 */
export function putCenter(
  services: AdministerServices,
  workspace: Where,
  origin: Origin,
  center: DeclaredCenter,
): Promise<PreferenceCenter> {
  return changeDeclared(services, origin, async (tx) => {
    const present = await selectCenter(tx, workspace.id, center.id);
    if (present && isSame(present, center)) return { changes: [], result: present };
    const changes = await writeCenter(tx, services, workspace, present, center);
    return { changes, result: await readCenter({ database: tx }, workspace, center.id) };
  });
}

/** Removes a center; the links to it lead nowhere then. @throws Problem NOT_FOUND. */
export function removeCenter(
  services: AdministerServices,
  workspace: Where,
  origin: Origin,
  id: string,
): Promise<void> {
  return changeDeclared(services, origin, async (tx) => {
    const { name } = await readCenter({ database: tx }, workspace, id);
    await deleteCenters(tx, workspace.id, [id]);
    const change = { action: "removed", kind: KIND, workspace: workspace.name, name } as const;
    return { changes: [change], result: undefined };
  });
}

const isSame = (present: PreferenceCenter, wanted: DeclaredCenter): boolean =>
  isDeepStrictEqual({ ...present, ...wanted }, present);

async function saveCenter(
  tx: Transaction,
  { clock }: CenterServices,
  workspace: Where,
  origin: Origin,
  present: PreferenceCenter | undefined,
  center: DeclaredCenter,
): Promise<PreferenceCenter> {
  const changes = await writeCenter(tx, { clock }, workspace, present, center);
  await recordChanges(tx, clock, origin, changes);
  return readCenter({ database: tx }, workspace, center.id);
}

async function writeCenter(
  tx: Transaction,
  { clock }: Pick<CenterServices, "clock">,
  workspace: Where,
  present: PreferenceCenter | undefined,
  center: DeclaredCenter,
): Promise<Change[]> {
  const row = { ...center, declared: false, revision: clock.newId() };
  await writeCenters(tx, workspace.id, [row], clock.now());
  const { name, title, state } = center;
  const action = present ? "updated" : "created";
  return [{ action, kind: KIND, workspace: workspace.name, name, details: { title, state } }];
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

function refuseUnknown(id: string): never {
  throw new Problem("NOT_FOUND", `There is no preference center '${id}'.`);
}
