import type { Queryable } from "../database/database.ts";
import { identifierKey, isProfileId, type Who } from "../profiles/identifiers.ts";
import { type MergedProfile, selectMerged, selectMergedInto } from "../profiles/merged-store.ts";
import { Outdated } from "../profiles/outdated.ts";
import {
  type FoundIdentifier,
  latestFirst,
  type ProfileRow,
  selectIdentifiers,
} from "../profiles/store.ts";
import { type Cast, type CastOptions, createCast } from "./cast.ts";

export interface LoadCastOptions extends CastOptions {
  /** Reads profiles, with or without locking them; those that are gone are left out. */
  read(ids: readonly string[]): Promise<ProfileRow[]>;
}

/**
 * Reads everybody whom a request names, in a few statements whatever its size.
 *
 * Between finding who has an identifier and reading that profile, the world can move. A profile that
 * is gone by then, or no longer has the identifier, means that somebody was faster; what changes
 * after the reading is noticed when the cast is saved.
 *
 * @throws Outdated
 */
export async function loadCast(
  database: Queryable,
  workspaceId: number,
  names: readonly Who[],
  { read, ...options }: LoadCastOptions,
): Promise<Cast> {
  const found = await findIdentifiers(database, workspaceId, names);
  const platformIds = platformIdsOf(names);
  const ids = [...new Set([...found.map((each) => each.profileId), ...platformIds])];
  const present = await read(ids);
  const followed = await follow(database, workspaceId, platformIds, present);
  const kept = await read(missingIn(present, followed));
  const rows = [...present, ...kept].sort(latestFirst);
  const merged = await selectMergedInto(
    database,
    workspaceId,
    rows.map((row) => row.id),
  );
  const cast = createCast(rows, merged, options);
  refuseMoved(cast, names, found, rows, followed);
  return cast;
}

async function findIdentifiers(
  database: Queryable,
  workspaceId: number,
  names: readonly Who[],
): Promise<FoundIdentifier[]> {
  const wanted = new Set(names.map(identifierKey));
  const values = names.flatMap(({ kind, value }) => (kind === "platform_id" ? [] : [value]));
  const rows = await selectIdentifiers(database, workspaceId, [...new Set(values)]);
  return rows.filter((row) => wanted.has(identifierKey(row)));
}

const platformIdsOf = (names: readonly Who[]): string[] => {
  const ids = names.filter((who) => who.kind === "platform_id").map((who) => who.value);
  return [...new Set(ids)].filter(isProfileId);
};

/** Where those platform_ids lead that no profile has any more. */
async function follow(
  database: Queryable,
  workspaceId: number,
  platformIds: readonly string[],
  present: readonly ProfileRow[],
): Promise<MergedProfile[]> {
  const known = new Set(present.map((row) => row.id));
  return selectMerged(
    database,
    workspaceId,
    platformIds.filter((id) => !known.has(id)),
  );
}

function missingIn(present: readonly ProfileRow[], followed: readonly MergedProfile[]): string[] {
  const known = new Set(present.map((row) => row.id));
  return [...new Set(followed.map((each) => each.keptProfileId))].filter((id) => !known.has(id));
}

function refuseMoved(
  cast: Cast,
  names: readonly Who[],
  found: readonly FoundIdentifier[],
  rows: readonly ProfileRow[],
  followed: readonly MergedProfile[],
): void {
  const known = new Set(rows.map((row) => row.id));
  if (followed.some((each) => !known.has(each.keptProfileId))) {
    throw new Outdated("a profile was merged or removed");
  }
  const whoOf = new Map(names.map((who) => [identifierKey(who), who]));
  for (const each of found) {
    const who = whoOf.get(identifierKey(each));
    if (who && cast.find(who).some((member) => member.id === each.profileId)) continue;
    throw new Outdated("an identifier has moved");
  }
}
