import { hashSecret } from "../secrets/secrets.ts";

/** How long an entry is valid, in milliseconds. */
const TRUST_MS = 1_000;

/** How many secrets are cached at once; beyond that the cache is emptied. */
const MOST_CACHED = 10_000;

/** Finds the owner of a secret, and caches it for a second: the hot path needs no query. */
export interface HolderCache<Holder> {
  find(secret: string | undefined): Promise<Holder | undefined>;
  /** Empties the cache. */
  forget(): void;
}

/**
 * One statement runs at a time, and the next one looks up all secrets that arrive during it: a
 * flood of wrong secrets occupies one connection.
 *
 * @param read takes hashes, returns the holders of the hashes in use.
 * @param trustMs how long an entry is valid; 0 caches nothing.
 */
export function createHolderCache<Holder>(
  read: (hashes: readonly string[]) => Promise<ReadonlyMap<string, Holder>>,
  trustMs = TRUST_MS,
): HolderCache<Holder> {
  let known = new Map<string, { readonly holder: Holder | undefined; readonly until: number }>();
  let asked = new Set<string>();
  let next: Promise<ReadonlyMap<string, Holder>> | undefined;
  let running: Promise<unknown> = Promise.resolve();

  /** The next statement, which takes all hashes that arrive until it starts. */
  function readNext(): Promise<ReadonlyMap<string, Holder>> {
    const before = running;
    const run = async () => {
      await before.catch(() => {});
      const hashes = asked;
      const memory = known;
      asked = new Set();
      next = undefined;
      const holders = await read([...hashes]);
      // An answer that was read before forget() may be stale: it goes into the old map.
      if (memory.size + hashes.size > MOST_CACHED) memory.clear();
      const until = performance.now() + trustMs;
      if (trustMs === 0) return holders;
      for (const hash of hashes) memory.set(hash, { holder: holders.get(hash), until });
      return holders;
    };
    return run();
  }

  return {
    async find(secret) {
      if (secret === undefined) return undefined;
      const hash = hashSecret(secret);
      const found = known.get(hash);
      if (found && found.until > performance.now()) return found.holder;
      asked.add(hash);
      if (!next) {
        next = readNext();
        running = next;
      }
      return (await next).get(hash);
    },
    forget() {
      known = new Map();
    },
  };
}
