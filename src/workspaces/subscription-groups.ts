import type { Authenticator } from "../access/authenticate.ts";
import type { Database, Queryable } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { findWorkspace } from "./find-workspace.ts";
import {
  type DeclaredGroup,
  deleteGroups,
  type GroupRow,
  selectAllGroups,
  upsertGroups,
} from "./store.ts";

/** A subscription group, and whether a manifest declared it. */
export type SubscriptionGroup = GroupRow;

export interface GroupServices {
  readonly database: Database;
  readonly authenticator: Authenticator;
}

/** All groups of a workspace, by name. */
export const readGroups = (
  database: Queryable,
  workspaceId: number,
): Promise<SubscriptionGroup[]> => selectAllGroups(database, workspaceId);

/** The groups of a workspace by its name. @throws Problem NOT_FOUND. */
export async function listGroups(
  { database }: Pick<GroupServices, "database">,
  workspaceName: string,
): Promise<SubscriptionGroup[]> {
  const workspace = await findWorkspace(database, workspaceName);
  return readGroups(database, workspace.id);
}

/** One group. @throws Problem NOT_FOUND. */
export async function readGroup(
  services: Pick<GroupServices, "database">,
  workspaceName: string,
  id: string,
): Promise<SubscriptionGroup> {
  const groups = await listGroups(services, workspaceName);
  return groups.find((group) => group.id === id) ?? refuseUnknown(id);
}

/**
 * Makes a group, or gives it a name and a channel. One that a manifest declared stays declared: the
 * next manifest that is applied has the last word on it.
 *
 * @throws Problem NOT_FOUND where there is no such workspace.
 */
export async function putGroup(
  services: GroupServices,
  workspaceName: string,
  group: DeclaredGroup,
): Promise<SubscriptionGroup> {
  const { database, authenticator } = services;
  const workspace = await findWorkspace(database, workspaceName);
  await database.transaction((tx) => upsertGroups(tx, workspace.id, [group], false));
  authenticator.forget();
  return readGroup(services, workspaceName, group.id);
}

/**
 * Removes a group; the states that people chose stay where they are, and hold again if the group
 * comes back.
 *
 * @throws Problem NOT_FOUND.
 */
export async function removeGroup(
  { database, authenticator }: GroupServices,
  workspaceName: string,
  id: string,
): Promise<void> {
  const workspace = await findWorkspace(database, workspaceName);
  const removed = await database.transaction((tx) => deleteGroups(tx, workspace.id, [{ id }]));
  if (removed === 0) refuseUnknown(id);
  authenticator.forget();
}

function refuseUnknown(id: string): never {
  throw new Problem("NOT_FOUND", `There is no subscription group '${id}'.`);
}
