import { afterAll } from "../../base/turns.ts";
import type { Queryable } from "../../database/database.ts";
import { selectIdentifiers, selectUpdateTimes } from "./holders-store.ts";
import { identifierKey, isProfileId } from "./identifiers.ts";
import { selectMerged } from "./merged-store.ts";
import type { FoundIdentifier, ProfileRow } from "./store.ts";

export interface LookedUp {
  readonly kind: "external_id" | "alias" | "email" | "phone" | "platform_id";
  readonly value: string;
}

/**
 * The ids of the profiles that have each identifier, by `identifierKey`, in two statements at most.
 * A platform_id gives the profile that it was merged into, or else itself; reading the profile
 * shows whether it exists.
 *
 * @param limit the most holders to read for all identifiers together.
 */
export async function findHolders(
  database: Queryable,
  workspaceId: number,
  wanted: readonly LookedUp[],
  limit?: number,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const holders = new Map<string, string[]>();
  const values: string[] = [];
  const platformIds: string[] = [];
  for (const identifier of wanted) {
    holders.set(identifierKey(identifier), []);
    if (identifier.kind !== "platform_id") values.push(identifier.value);
    else if (isProfileId(identifier.value)) platformIds.push(identifier.value);
  }
  const merged = await selectMerged(database, workspaceId, platformIds);
  const keptIds = new Map(merged.map((each) => [each.profileId, each.keptProfileId]));
  for (const value of platformIds) {
    holders.set(identifierKey({ kind: "platform_id", value }), [keptIds.get(value) ?? value]);
  }
  for (const row of await selectIdentifiers(database, workspaceId, values, limit)) {
    holders.get(identifierKey(row))?.push(row.profileId);
  }
  return holders;
}

/** When users who share an address and were not read were last updated: all are updated, and keep their order. */
export async function timesOfSharers(
  from: Queryable,
  workspaceId: number,
  holders: readonly FoundIdentifier[],
  people: readonly ProfileRow[],
): Promise<ReadonlyMap<string, number> | undefined> {
  const sharers = holders.filter(({ kind }) => kind === "email" || kind === "phone");
  if (sharers.length < 2) return undefined;
  const isRead = new Set(people.map(({ id }) => id));
  const unread = new Set(sharers.map(({ profileId }) => profileId).filter((id) => !isRead.has(id)));
  if (unread.size === 0) return undefined;
  await afterAll([...unread]);
  return selectUpdateTimes(from, workspaceId, [...unread]);
}
