import type { WorkspaceContext } from "../../core/base/context/context.ts";
import type { Json } from "../../core/base/values/plain-json.ts";
import { selectMerged } from "../../core/people/profiles/merged-store.ts";
import { type ProfileRow, selectProfiles } from "../../core/people/profiles/store.ts";
import type { CatalogueServices } from "./list-catalogue.ts";
import { selectLatest, selectOccurrences } from "./store.ts";

export interface FoundOccurrence {
  readonly profile: ProfileRow;
  readonly time: Date;
  readonly properties: Json;
}

/**
 * Who did an event last, the newest first. Each server process keeps the last ten that were sent since it last wrote its counts, so
 * that the newest is always among them; those of merged users are found with the user who was kept.
 */
export async function listOccurrences(
  { database, catalogue }: CatalogueServices,
  { workspace }: WorkspaceContext,
  name: string,
): Promise<FoundOccurrence[]> {
  await catalogue.write();
  const latest = await selectLatest(database, workspace.id, name);
  if (latest.length === 0) return [];
  const senders = latest.map(({ profileId }) => profileId);
  const merged = new Map(
    (await selectMerged(database, workspace.id, senders)).map((each) => [
      each.profileId,
      each.keptProfileId,
    ]),
  );
  const wanted = latest.map(({ atMs, profileId }) => ({
    atMs,
    profileId: merged.get(profileId) ?? profileId,
  }));
  const found = await selectOccurrences(database, workspace.id, name, wanted);
  const ids = [...new Set(found.map(({ profileId }) => profileId))];
  const profiles = new Map(
    (await selectProfiles(database, workspace.id, ids)).map((each) => [each.id, each]),
  );
  return found.flatMap(({ profileId, time, properties }) => {
    const profile = profiles.get(profileId);
    return profile ? [{ profile, time, properties }] : [];
  });
}
