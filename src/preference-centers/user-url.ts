import type { Database } from "../database/database.ts";
import { findUser } from "./find-user.ts";
import type { Links } from "./links.ts";
import { readCenter, type Where } from "./manage-centers.ts";
import { pageUrl } from "./show-page.ts";

export interface UrlServices {
  readonly database: Database;
  readonly links: Links;
}

/**
 * The address of a user's own page. It is the same each time, and leads to the same person when the
 * external_id has changed or the profile was merged.
 *
 * @param userId an external_id.
 * @throws Problem NOT_FOUND for the center or the user, INVALID_REQUEST for an id that nobody can have.
 */
export async function urlOfUser(
  { database, links }: UrlServices,
  workspace: Where,
  centerId: string,
  userId: string,
  baseUrl: string,
): Promise<string> {
  await readCenter({ database }, workspace, centerId);
  const profileId = await findUser(database, workspace.id, userId);
  return pageUrl(baseUrl, await links.make({ workspaceId: workspace.id, profileId, centerId }));
}
