import type { Database } from "../../core/database/database.ts";
import { emailValue } from "../../core/people/profiles/identifiers.ts";
import { type ProfileRow, selectProfiles } from "../../core/people/profiles/store.ts";
import { findUser } from "./find-user.ts";
import type { Links } from "./links.ts";
import { requireCenter, type Where } from "./manage-centers.ts";
import { pageUrl } from "./page-address.ts";

export type UrlServices = { readonly database: Database; readonly links: Links };

/**
 * The address of a user's own page. It works for a time (`PAGE_LINK_DAYS`), also when the external_id
 * changes; after a merge only if the kept user has the address that it was made for.
 *
 * @param userId an external_id.
 * @throws Problem NOT_FOUND for the center or the user, INVALID_REQUEST for an id that no user can have.
 */
export async function urlOfUser(
  { database, links }: UrlServices,
  workspace: Where,
  centerId: string,
  userId: string,
  baseUrl: string,
): Promise<string> {
  await requireCenter(database, workspace, centerId);
  const profileId = await findUser(database, workspace.id, userId);
  const [profile] = await selectProfiles(database, workspace.id, [profileId]);
  const target = { workspaceId: workspace.id, profileId, centerId };
  return pageUrl(baseUrl, await links.make(target, profile ? linkAddressOf(profile) : null));
}

/**
 * The address that gets the message with the link: after a merge the link opens only for this
 * address.
 */
export const linkAddressOf = ({ email, phone }: Pick<ProfileRow, "email" | "phone">) =>
  email === null ? phone : emailValue(email);
