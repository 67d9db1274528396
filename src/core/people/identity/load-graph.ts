import type { Queryable } from "../../database/database.ts";
import { identifierKey, isProfileId, type PersonIdentifier } from "../profiles/identifiers.ts";
import { type MergedProfile, selectMerged, selectMergedInto } from "../profiles/merged-store.ts";
import { StaleRead } from "../profiles/stale-read.ts";
import { type FoundIdentifier, latestFirst, type ProfileRow } from "../profiles/store.ts";
import { createGraph, type GraphOptions, type IdentityGraph } from "./identity-graph.ts";
import { findLikely, type Naming } from "./likely-holders.ts";

export interface LoadGraphOptions extends Omit<GraphOptions, "shared"> {
  /** Reads profiles, with or without locking them; missing ones are omitted. */
  read(ids: readonly string[]): Promise<ProfileRow[]>;
}

/**
 * Reads the users that a request can mean, in a few statements for a request of any size.
 *
 * @throws StaleRead if another transaction removed a profile, or its identifier, between the look-up of the
 *   identifier and the read of the profile. Later changes are noticed when the graph is saved.
 */
export async function loadGraph(
  database: Queryable,
  workspaceId: number,
  steps: readonly Naming[],
  { read, ...options }: LoadGraphOptions,
): Promise<IdentityGraph> {
  const { found, shared } = await findLikely(database, workspaceId, steps);
  const names = steps.flatMap((step) => step.names);
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
  const graph = createGraph(rows, merged, { ...options, shared });
  refuseMoved(graph, names, found, rows, followed);
  return graph;
}

const platformIdsOf = (names: readonly PersonIdentifier[]): string[] => {
  const ids = names
    .filter((identifier) => identifier.kind === "platform_id")
    .map((identifier) => identifier.value);
  return [...new Set(ids)].filter(isProfileId);
};

/** The profiles that now have the platform_ids of merged ones. */
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
  graph: IdentityGraph,
  names: readonly PersonIdentifier[],
  found: readonly FoundIdentifier[],
  rows: readonly ProfileRow[],
  followed: readonly MergedProfile[],
): void {
  const known = new Set(rows.map((row) => row.id));
  if (followed.some((each) => !known.has(each.keptProfileId))) {
    throw new StaleRead("a profile was merged or removed");
  }
  const identifierOf = new Map(names.map((identifier) => [identifierKey(identifier), identifier]));
  for (const each of found) {
    const identifier = identifierOf.get(identifierKey(each));
    if (identifier && graph.find(identifier).some((person) => person.id === each.profileId))
      continue;
    throw new StaleRead("an identifier has moved");
  }
}
