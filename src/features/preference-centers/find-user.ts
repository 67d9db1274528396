import { Problem } from "../../core/base/problem.ts";
import type { Queryable } from "../../core/database/database.ts";
import { findHolders } from "../../core/people/profiles/find-holders.ts";
import { checkExternalId, identifierKey } from "../../core/people/profiles/identifiers.ts";

/**
 * The profile of a user.
 *
 * @param externalId as it came in a request.
 * @throws Problem NOT_FOUND, or INVALID_REQUEST for an id that no user can have.
 */
export async function findUser(
  database: Queryable,
  workspaceId: number,
  externalId: string,
): Promise<string> {
  const checked = checkExternalId(externalId);
  if ("fault" in checked) throw new Problem("INVALID_REQUEST", checked.fault.message);
  const holders = await findHolders(database, workspaceId, [checked.value]);
  const [profileId] = holders.get(identifierKey(checked.value)) ?? [];
  if (profileId === undefined) throw new Problem("NOT_FOUND", `There is no user '${externalId}'.`);
  return profileId;
}
