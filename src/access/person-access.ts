import type { Person } from "../context/person.ts";
import type { AdministratorAccess } from "../http/endpoint.ts";
import { Problem } from "../problem.ts";

/** @throws Problem FORBIDDEN where a person who is signed in may not do this. */
export function refuseUnpermitted(
  person: Person,
  _access: AdministratorAccess,
  _workspaceName: string | undefined,
): void {
  if (person.isAdministrator) return;
  throw new Problem("FORBIDDEN", "You lack the permission for this.");
}
