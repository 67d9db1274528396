import type { Queryable } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { selectWorkspace, type WorkspaceRow } from "./store.ts";

/** The workspace that the administrator names. @throws Problem NOT_FOUND. */
export async function findWorkspace(database: Queryable, name: string): Promise<WorkspaceRow> {
  const workspace = await selectWorkspace(database, name);
  if (!workspace) throw new Problem("NOT_FOUND", `There is no workspace '${name}'.`);
  return workspace;
}
