import type { Database } from "../database.ts";
import { endHalfSent, type LockHolder, selectLockHolders } from "./lock-holders.ts";

/** Learns of holders. */
interface Listener {
  held(holder: LockHolder): void;
  released(holder: LockHolder): void;
  /** How long the oldest has held locks, in seconds; 0 without one. */
  oldest(seconds: number): void;
}

const LOOK_EVERY_MS = 1_000;

/** A transaction that is shorter than this is no trouble. */
const LONG_SECONDS = 1;

/** How long it looks after the last transaction that waited. */
const WATCHED_MS = 10_000;

/** Looks at the locks of the database once a second while transactions wait for some, and ends those of stopped servers. */
export function watchLocks(database: Database, { held, released, oldest }: Listener) {
  let noticedAt = -Infinity;
  let isWatching = false;
  let known = new Map<string, LockHolder>();

  async function look(): Promise<void> {
    const lookup = database.for("lookup");
    const found = await selectLockHolders(lookup, LONG_SECONDS);
    const now = new Map(found.map((holder) => [keyOf(holder), holder]));
    for (const [key, holder] of now) if (!known.has(key)) held(holder);
    for (const [key, holder] of known) if (!now.has(key)) released(holder);
    known = now;
    oldest(found[0]?.seconds ?? 0);
    if (found.length > 0) await endHalfSent(lookup);
  }

  function lookLater(): void {
    setTimeout(async () => {
      // While the database cannot be asked, its locks are the least trouble.
      await look().catch(() => {});
      if (known.size > 0 || performance.now() - noticedAt < WATCHED_MS) lookLater();
      else isWatching = false;
    }, LOOK_EVERY_MS).unref();
  }

  return {
    /** A transaction has waited for a lock for too long. */
    notice() {
      noticedAt = performance.now();
      if (isWatching) return;
      isWatching = true;
      lookLater();
    },
  };
}

const keyOf = ({ pid, application, since }: LockHolder): string =>
  `${pid} ${pid === null ? application : ""} ${since.getTime()}`;
