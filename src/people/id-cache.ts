/** How many external ids a process caches, at least, where there are so many: about 150 bytes each. */
const CACHED_IDS = 125_000;

/**
 * An id cache: which profile an external_id leads to, as this process last read it. It saves asking
 * the database for people who write often, and may be stale without harm:
 *
 * - Where the profile is gone (merged, deleted), an update of it finds no row. The batch is then worked
 *   out again without the cache.
 * - An external_id leaves a profile that still exists only by a removal, in any process. Removals are
 *   counted in the database; cached ids belong to one count, and the transaction that writes by them
 *   checks that it is still the count (`writePeopleAt`).
 */
export interface IdCache {
  get(workspaceId: number, externalId: string): string | undefined;
  /** Caches an id that was read when the count was `removals`, unless the count has changed since. */
  store(workspaceId: number, externalId: string, profileId: string, removals: number): void;
  /** The count that the cached ids of a workspace belong to; undefined before `expect` was called. */
  removals(workspaceId: number): number | undefined;
  /** Sets the count; where it is another one, forgets the ids of the workspace. */
  expect(workspaceId: number, removals: number): void;
}

/** An id cache with the count of removals that a batch started from. */
export interface CachedIds {
  readonly idCache: IdCache;
  readonly removals: number;
}

/**
 * Two generations: when the young one is full, the old one is forgotten, and what was asked for in
 * the meantime has moved to the young one. A list in the order of use (LRU) kept as many, and took a
 * tenth of the server's time.
 */
export function createIdCache(capacity = CACHED_IDS): IdCache {
  const counts = new Map<number, number>();
  let young = new Map<number, Map<string, string>>();
  let old = young;
  let size = 0;

  function put(workspaceId: number, externalId: string, profileId: string): void {
    if (young.get(workspaceId)?.get(externalId) === profileId) return;
    if (size >= capacity) {
      old = young;
      young = new Map();
      size = 0;
    }
    const ids = young.get(workspaceId);
    if (ids) ids.set(externalId, profileId);
    else young.set(workspaceId, new Map([[externalId, profileId]]));
    size++;
  }

  return {
    get(workspaceId, externalId) {
      const recent = young.get(workspaceId)?.get(externalId);
      if (recent !== undefined) return recent;
      const earlier = old.get(workspaceId)?.get(externalId);
      if (earlier !== undefined) put(workspaceId, externalId, earlier);
      return earlier;
    },
    store(workspaceId, externalId, profileId, removals) {
      if (counts.get(workspaceId) === removals) put(workspaceId, externalId, profileId);
    },
    removals: (workspaceId) => counts.get(workspaceId),
    expect(workspaceId, removals) {
      if (counts.get(workspaceId) === removals) return;
      counts.set(workspaceId, removals);
      young.delete(workspaceId);
      old.delete(workspaceId);
    },
  };
}
