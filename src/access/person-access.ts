import type { Person } from "../context/person.ts";
import type { AdministratorAccess } from "../http/endpoint.ts";
import { Problem } from "../problem.ts";

/**
 * What a person who is signed in may call. docs/dashboard.md has the table.
 *
 * @param workspaceName the workspace of the path; whether it exists is not known yet.
 * @throws Problem FORBIDDEN that names the first permission that is missing.
 */
export function refuseUnpermitted(
  person: Person,
  { of, permissions }: AdministratorAccess,
  workspaceName: string | undefined,
): void {
  if (person.isAdministrator) return;
  const held: ReadonlySet<string> | undefined =
    of === "workspace"
      ? person.workspacePermissions.get(workspaceName ?? "")
      : person.companyPermissions;
  const missing = permissions.find((permission) => !held?.has(permission));
  if (missing === undefined) return;
  const where = of === "workspace" ? `in the workspace '${workspaceName}'` : "of the company";
  throw new Problem("FORBIDDEN", `You lack the permission ${missing} ${where}.`);
}
