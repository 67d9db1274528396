import { Problem } from "../../core/base/problem.ts";
import type { Queryable } from "../../core/database/database.ts";
import { findDeletion } from "../../core/people/identity/read-audit.ts";
import { selectMerged } from "../../core/people/profiles/merged-store.ts";
import { type ProfileRow, selectProfiles } from "../../core/people/profiles/store.ts";

/** A profile, or the id of the profile that it was merged into. */
export type FoundRecord = { readonly profile: ProfileRow } | { readonly mergedInto: string };

/** @throws Problem NOT_FOUND as `findRecord` does, or CONFLICT for the id of a merged user. */
export async function requireProfile(
  database: Queryable,
  workspaceId: number,
  platformId: string,
): Promise<ProfileRow> {
  const found = await findRecord(database, workspaceId, platformId);
  if ("profile" in found) return found.profile;
  throw mergedInto(platformId, found.mergedInto);
}

/** The refusal of a change to a user who was merged into another one. */
export const mergedInto = (platformId: string, keptId: string): Problem =>
  new Problem("CONFLICT", `The user '${platformId}' was merged into '${keptId}'.`, {
    body: { merged_into: keptId },
  });

/**
 * Finds the record under a platform_id.
 *
 * @throws Problem NOT_FOUND, with the time when the user was deleted.
 */
export async function findRecord(
  database: Queryable,
  workspaceId: number,
  platformId: string,
): Promise<FoundRecord> {
  const [profile] = await selectProfiles(database, workspaceId, [platformId]);
  if (profile) return { profile };
  const [merged] = await selectMerged(database, workspaceId, [platformId]);
  if (merged && !merged.isRename) return { mergedInto: merged.keptProfileId };
  const deletion = await findDeletion(database, workspaceId, platformId);
  const why = deletion ? `: the user was deleted at ${deletion.at.toISOString()}` : "";
  throw new Problem("NOT_FOUND", `There is no user '${platformId}'${why}.`);
}
