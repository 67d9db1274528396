import { isDeepStrictEqual } from "node:util";
import type { Static } from "typebox";
import type { WorkspaceSettings } from "../access/workspace.ts";
import type { Origin } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import type { Transaction } from "../database/database.ts";
import { type AdministerServices, changeDeclared } from "./administer.ts";
import { findCompany, findWorkspace } from "./find-workspace.ts";
import { DEFAULT_SETTINGS, type Settings } from "./manifest.ts";
import type { Change } from "./section.ts";
import {
  insertCompany,
  insertWorkspace,
  renameCompany,
  selectCompany,
  selectWorkspaces,
  updateWorkspace,
  type WorkspaceRow,
} from "./store.ts";

/* The company and its workspaces themselves, as a manifest or an administrator wants them. */

type Clocked = { readonly clock: Clock };

/** Makes the company, or gives it its name. */
export async function saveCompany(
  tx: Transaction,
  { clock }: Clocked,
  name: string,
): Promise<{ readonly id: string; readonly changes: Change[] }> {
  const known = await selectCompany(tx);
  const id = known?.id ?? clock.newId();
  const change = (action: Change["action"]): Change[] => [
    { action, kind: "company", workspace: "", name },
  ];
  if (!known) {
    await insertCompany(tx, { id, name }, clock.now());
    return { id, changes: change("created") };
  }
  if (known.name === name) return { id, changes: [] };
  await renameCompany(tx, { id, name });
  return { id, changes: change("updated") };
}

/** What a workspace is to be; what is left out is as it is where nothing is said. */
export interface WantedWorkspace {
  readonly allow_reset?: boolean | undefined;
  readonly settings?: Static<typeof Settings> | undefined;
}

/** Makes a workspace, or changes it. No manifest and no administrator removes one. */
export async function saveWorkspace(
  tx: Transaction,
  { clock }: Clocked,
  companyId: string,
  name: string,
  { allow_reset = false, settings: said }: WantedWorkspace,
): Promise<{ readonly id: number; readonly changes: Change[] }> {
  const present = await selectWorkspaces(tx);
  const known = present.find((each) => each.name === name);
  const id = known?.id ?? Math.max(0, ...present.map((each) => each.id)) + 1;
  const settings = settingsOf(said);
  const wanted: WorkspaceRow = { id, name, allowReset: allow_reset, settings };
  const details = { allow_reset, settings };
  const change = (action: Change["action"]): Change[] => [
    { action, kind: "workspace", workspace: name, name, details },
  ];
  if (!known) {
    await insertWorkspace(tx, companyId, wanted, clock.now());
    return { id, changes: change("created") };
  }
  if (isDeepStrictEqual(known, wanted)) return { id, changes: [] };
  await updateWorkspace(tx, wanted);
  return { id, changes: change("updated") };
}

const settingsOf = (said: WantedWorkspace["settings"]): WorkspaceSettings =>
  ({ ...DEFAULT_SETTINGS, ...said }) as WorkspaceSettings;

type Reading = Pick<AdministerServices, "database">;

/** @throws Problem NOT_FOUND before any manifest was applied. */
export const readCompany = async ({ database }: Reading): Promise<string> =>
  (await findCompany(database)).name;

/** Gives the company another name. */
export function putCompany(
  services: AdministerServices,
  origin: Origin,
  name: string,
): Promise<void> {
  return changeDeclared(services, origin, async (tx) => {
    const { changes } = await saveCompany(tx, services, name);
    return { changes, result: undefined };
  });
}

/** All workspaces, in the order in which they were made. */
export const listWorkspaces = ({ database }: Reading): Promise<WorkspaceRow[]> =>
  selectWorkspaces(database);

/** @throws Problem NOT_FOUND. */
export const readWorkspace = ({ database }: Reading, name: string): Promise<WorkspaceRow> =>
  findWorkspace(database, name);

/** Makes a workspace, or changes it. @throws Problem NOT_FOUND where there is no company yet. */
export function putWorkspace(
  services: AdministerServices,
  origin: Origin,
  name: string,
  wanted: WantedWorkspace,
): Promise<WorkspaceRow> {
  return changeDeclared(services, origin, async (tx) => {
    const company = await findCompany(tx);
    const { changes } = await saveWorkspace(tx, services, company.id, name, wanted);
    return { changes, result: await findWorkspace(tx, name) };
  });
}

/** Sets the settings of a workspace; those left out are as by default. @throws Problem NOT_FOUND. */
export function putSettings(
  services: AdministerServices,
  origin: Origin,
  name: string,
  settings: Static<typeof Settings>,
): Promise<WorkspaceRow> {
  return changeDeclared(services, origin, async (tx) => {
    const company = await findCompany(tx);
    const { allowReset: allow_reset } = await findWorkspace(tx, name);
    const wanted = { allow_reset, settings };
    const { changes } = await saveWorkspace(tx, services, company.id, name, wanted);
    return { changes, result: await findWorkspace(tx, name) };
  });
}
