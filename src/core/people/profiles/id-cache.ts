import type { Workspace } from "../../base/context/workspace.ts";
import type { FoundIdentifier, ProfileRow } from "./store.ts";

/** The least number of external ids that a process can cache, at about 150 bytes each. */
const CACHED_IDS = 125_000;

/**
 * The profile of an external_id, as this process last read it. Users who are updated often need no
 * look-up, and a stale entry does no harm:
 *
 * - A profile that was merged or deleted is dropped (`remove`), here at once and by other servers soon
 *   (`removed-profiles.ts`). Until then an update finds no row, and the batch runs again without the cache.
 * - An external_id leaves a profile that still exists only by a removal, and is deprecated only by a rename. Both are
 *   counted in the database; cached ids belong to one count, which the transaction that relies on them checks
 *   (`writePeopleAt`).
 */
export type IdCache = ReturnType<typeof createIdCache>;

/** The scope of cached ids: see `idScope`. */
export type IdScope = number;

/**
 * A workspace has a second entry while its change feed is on. It caches only present external ids,
 * because changes name a user by the external_id that was looked up.
 */
export const idScope = ({ id, feed }: Pick<Workspace, "id" | "feed">): IdScope =>
  feed === null ? id : -id;

/** An id cache with the count of removals that a batch started from. */
export interface CachedIds {
  readonly idCache: IdCache;
  readonly scope: IdScope;
  readonly removals: number;
}

/**
 * Two generations: when the young one is full, the old one is dropped; an entry that is used moves to the
 * young one. A list in the order of use (LRU) took a tenth of the server's time.
 */
export function createIdCache(capacity = CACHED_IDS) {
  const counts = new Map<IdScope, number>();
  let young = new Map<IdScope, Map<string, string>>();
  let old = young;
  // Of the same age, so each lasts as long as the ids that lead to it.
  let youngRemoved = new Set<string>();
  let oldRemoved = youngRemoved;
  let size = 0;

  function makeRoom(): void {
    if (size < capacity) return;
    old = young;
    young = new Map();
    oldRemoved = youngRemoved;
    youngRemoved = new Set();
    size = 0;
  }

  function put(scope: IdScope, externalId: string, profileId: string): void {
    if (young.get(scope)?.get(externalId) === profileId) return;
    makeRoom();
    const ids = young.get(scope);
    if (ids) ids.set(externalId, profileId);
    else young.set(scope, new Map([[externalId, profileId]]));
    size++;
  }

  // Mostly there are none, and each look into a set takes as long as the one for the id.
  const isRemoved = (profileId: string): boolean =>
    (youngRemoved.size > 0 && youngRemoved.has(profileId)) ||
    (oldRemoved.size > 0 && oldRemoved.has(profileId));

  return {
    get(scope: IdScope, externalId: string) {
      const recent = young.get(scope)?.get(externalId);
      const found = recent ?? old.get(scope)?.get(externalId);
      if (found === undefined || isRemoved(found)) return undefined;
      if (recent === undefined) put(scope, externalId, found);
      return found;
    },
    /** Caches an id that was read when the count was `removals`, unless the count has changed since. */
    store(scope: IdScope, externalId: string, profileId: string, removals: number) {
      if (counts.get(scope) === removals) put(scope, externalId, profileId);
    },
    /** The count that the cached ids of a scope belong to; undefined before `expect` was called. */
    removals: (scope: IdScope) => counts.get(scope),
    /** Sets the count; a different one drops the cached ids of the scope. */
    expect(scope: IdScope, removals: number) {
      if (counts.get(scope) === removals) return;
      counts.set(scope, removals);
      young.delete(scope);
      old.delete(scope);
    },
    /** Drops the ids of profiles that no longer exist. */
    remove(profileIds: readonly string[]) {
      for (const id of profileIds) {
        if (isRemoved(id)) continue;
        makeRoom();
        youngRemoved.add(id);
        size++;
      }
    },
  };
}

/** Caches the external ids among these identifiers. */
export function storeIds(
  { idCache, scope, removals }: CachedIds,
  identifiers: readonly FoundIdentifier[],
): void {
  for (const { kind, value, profileId } of identifiers) {
    if (kind === "external_id") idCache.store(scope, value, profileId, removals);
  }
}

/** External ids without deprecated ones: those identify a user who now has another external_id. */
export function presentIds(
  found: readonly FoundIdentifier[],
  rows: readonly ProfileRow[],
): FoundIdentifier[] {
  const ids = new Map(rows.map(({ id, externalId }) => [id, externalId]));
  return found.filter(({ value, profileId }) => ids.get(profileId) === value);
}
