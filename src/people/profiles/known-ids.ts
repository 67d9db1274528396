import type { Database } from "../../database/database.ts";
import type { AddressCache } from "./address-cache.ts";
import type { IdCache } from "./id-cache.ts";
import { selectIdRemovals } from "./id-removals-store.ts";
import type { Cached } from "./load-people.ts";

export interface CachingServices {
  readonly database: Database;
  readonly idCache: IdCache;
  readonly addressCache: AddressCache;
}

/** The id cache of a workspace, for a batch that checks its count of removals as it is written. */
export const knownIds = async (services: CachingServices, workspaceId: number): Promise<Cached> =>
  cachedIds(services, workspaceId) ?? (await refreshIds(services, workspaceId));

/** The id cache as it is; undefined if its count of removals was never read. */
function cachedIds(
  { idCache, addressCache }: CachingServices,
  workspaceId: number,
): Cached | undefined {
  const removals = idCache.removals(workspaceId);
  return removals === undefined ? undefined : { idCache, addressCache, removals };
}

/** The id cache without entries that removals in any process have made stale. */
export async function refreshIds(
  { database, idCache, addressCache }: CachingServices,
  workspaceId: number,
): Promise<Cached> {
  const removals = await selectIdRemovals(database, workspaceId);
  idCache.expect(workspaceId, removals);
  return { idCache, addressCache, removals };
}
