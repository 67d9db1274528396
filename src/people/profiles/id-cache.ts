/** The least number of external ids that a process can cache, at about 150 bytes each. */
const CACHED_IDS = 125_000;

/**
 * Which profile an external_id leads to, as this process last read it. Users who are updated often need no
 * look-up, and a stale entry does no harm:
 *
 * - If the profile is gone (merged, deleted), an update finds no row, and the batch runs again without
 *   the cache.
 * - An external_id leaves a profile that still exists only by a removal. Removals are counted in the
 *   database; cached ids belong to one count, which the transaction that relies on them checks
 *   (`writePeopleAt`).
 */
export interface IdCache {
  get(workspaceId: number, externalId: string): string | undefined;
  /** Caches an id that was read when the count was `removals`, unless the count has changed since. */
  store(workspaceId: number, externalId: string, profileId: string, removals: number): void;
  /** The count that the cached ids of a workspace belong to; undefined before `expect` was called. */
  removals(workspaceId: number): number | undefined;
  /** Sets the count; a different one drops the cached ids of the workspace. */
  expect(workspaceId: number, removals: number): void;
}

/** An id cache with the count of removals that a batch started from. */
export interface CachedIds {
  readonly idCache: IdCache;
  readonly removals: number;
}

/**
 * Two generations: when the young one is full, the old one is dropped; an entry that is used moves to the
 * young one. A list in the order of use (LRU) took a tenth of the server's time.
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
