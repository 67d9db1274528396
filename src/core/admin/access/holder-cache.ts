import { createBatches } from "../../base/batches.ts";
import { hashSecret } from "../secrets/secrets.ts";

/** How long an entry is valid, in milliseconds. */
const TRUST_MS = 1_000;

/** How many secrets are cached at once; beyond that the cache is emptied. */
const MOST_CACHED = 10_000;

/**
 * Finds the owner of a secret, and caches it for a second: the hot path needs no query.
 * One statement runs at a time, and the next one looks up all secrets that arrive during it: a
 * flood of wrong secrets occupies one connection.
 *
 * @param read takes hashes, returns the holders of the hashes in use.
 * @param trustMs how long an entry is valid; 0 caches nothing.
 */
export function createHolderCache<Holder>(
  read: (hashes: readonly string[]) => Promise<ReadonlyMap<string, Holder>>,
  trustMs = TRUST_MS,
) {
  let known = new Map<string, { readonly holder: Holder | undefined; readonly until: number }>();
  const readHolder = createBatches(async (asked: readonly string[]) => {
    const hashes = new Set(asked);
    const memory = known;
    const holders = await read([...hashes]);
    // An answer that was read before forget() may be stale: it goes into the old map.
    if (memory.size + hashes.size > MOST_CACHED) memory.clear();
    const until = performance.now() + trustMs;
    if (trustMs > 0)
      for (const hash of hashes) memory.set(hash, { holder: holders.get(hash), until });
    return asked.map((hash) => holders.get(hash));
  });

  return {
    async find(secret: string | undefined): Promise<Holder | undefined> {
      if (secret === undefined) return undefined;
      const hash = hashSecret(secret);
      const found = known.get(hash);
      return found && found.until > performance.now() ? found.holder : readHolder(hash);
    },
    forget() {
      known = new Map();
    },
  };
}
