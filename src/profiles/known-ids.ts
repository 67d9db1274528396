/** How many external ids a process remembers, at least, where there are so many: about 150 bytes each. */
const REMEMBERED_IDS = 125_000;

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

/**
 * Two generations: when the young one is full, the old one is forgotten, and what was asked for in
 * the meantime has moved to the young one. A list in the order of use (LRU) kept as many, and took a
 * tenth of the server's time.
 */
export function createKnownIds(remembered = REMEMBERED_IDS): KnownIds {
  let young = new Map<number, Map<string, string>>();
  let old = young;
  let count = 0;

  function remember(workspaceId: number, externalId: string, profileId: string): void {
    if (young.get(workspaceId)?.get(externalId) === profileId) return;
    if (count >= remembered) {
      old = young;
      young = new Map();
      count = 0;
    }
    const known = young.get(workspaceId);
    if (known) known.set(externalId, profileId);
    else young.set(workspaceId, new Map([[externalId, profileId]]));
    count++;
  }

  return {
    get(workspaceId, externalId) {
      const recent = young.get(workspaceId)?.get(externalId);
      if (recent !== undefined) return recent;
      const earlier = old.get(workspaceId)?.get(externalId);
      if (earlier !== undefined) remember(workspaceId, externalId, earlier);
      return earlier;
    },
    remember,
  };
}
