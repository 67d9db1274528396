import type { Queryable } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { type CompanyRow, selectCompany, selectWorkspace, type WorkspaceRow } from "./store.ts";

/** The workspace that the administrator names. @throws Problem NOT_FOUND. */
export async function findWorkspace(database: Queryable, name: string): Promise<WorkspaceRow> {
  const workspace = await selectWorkspace(database, name);
  if (!workspace) throw new Problem("NOT_FOUND", `There is no workspace '${name}'.`);
  return workspace;
}

/** The company that the workspaces belong to. @throws Problem NOT_FOUND before any manifest. */
export async function findCompany(database: Queryable): Promise<CompanyRow> {
  const company = await selectCompany(database);
  if (!company) throw new Problem("NOT_FOUND", "There is no company yet: apply a manifest.");
  return company;
}
