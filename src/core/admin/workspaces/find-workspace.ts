import type { Workspace } from "../../base/context/workspace.ts";
import { Problem } from "../../base/problem.ts";
import type { Queryable } from "../../database/database.ts";
import {
  type CompanyRow,
  selectCompany,
  selectWorkspace,
  selectWorkspaces,
  selectWorkspacesById,
} from "./store.ts";

/** The workspace with this name. @throws Problem NOT_FOUND. */
export async function findWorkspace(database: Queryable, name: string): Promise<Workspace> {
  const workspace = await selectWorkspace(database, name);
  if (!workspace) throw new Problem("NOT_FOUND", `There is no workspace '${name}'.`);
  return workspace;
}

/** Workspaces by id; unknown ids are omitted. */
export async function loadWorkspaces(
  database: Queryable,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Workspace>> {
  if (ids.length === 0) return new Map();
  const workspaces = await selectWorkspacesById(database, ids);
  return new Map(workspaces.map((workspace) => [workspace.id, workspace]));
}

export const loadWorkspace = async (
  database: Queryable,
  id: number,
): Promise<Workspace | undefined> => (await loadWorkspaces(database, [id])).get(id);

/**
 * The settings that preference pages need, whether the change feed is on (`Workspace.feed`), and
 * the webhooks that turn it on.
 */
export {
  selectFeed as readFeed,
  selectPageSettings as readPageSettings,
  updateHasWebhooks as saveHasWebhooks,
} from "./store.ts";

export async function readWorkspaceNames(
  database: Queryable,
): Promise<ReadonlyMap<number, string>> {
  const workspaces = await selectWorkspaces(database);
  return new Map(workspaces.map(({ id, name }) => [id, name]));
}

/** The company that the workspaces belong to. @throws Problem NOT_FOUND before the first manifest. */
export async function findCompany(database: Queryable): Promise<CompanyRow> {
  const company = await selectCompany(database);
  if (!company) throw new Problem("NOT_FOUND", "There is no company yet: apply a manifest.");
  return company;
}
