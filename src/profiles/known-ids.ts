import { LRUCache } from "lru-cache";

/** How many external ids a process remembers: about 100 bytes each. */
const REMEMBERED_IDS = 500_000;

/**
 * Which profile an external_id leads to, as this process last saw it: saves asking the database for
 * people who write often.
 *
 * It may be out of date, and that is safe: an external_id never leaves a profile that lives, so a wrong
 * entry leads to a profile that is gone, and writing to that finds nothing (`Outdated`); the batch is
 * then worked out again without this memory, and what it finds is remembered instead.
 */
export interface KnownIds {
  get(workspaceId: number, externalId: string): string | undefined;
  remember(workspaceId: number, externalId: string, profileId: string): void;
}

export function createKnownIds(): KnownIds {
  const ids = new LRUCache<string, string>({ max: REMEMBERED_IDS });
  const key = (workspaceId: number, externalId: string) => `${workspaceId} ${externalId}`;
  return {
    get: (workspaceId, externalId) => ids.get(key(workspaceId, externalId)),
    remember: (workspaceId, externalId, profileId) =>
      void ids.set(key(workspaceId, externalId), profileId),
  };
}
