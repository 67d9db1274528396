import type { Clock } from "../clock.ts";
import type { Database } from "../database/database.ts";
import { updateLastSeen } from "./key-store.ts";

/** How exact "last seen" is: a key is written at most once in this time. */
const EXACTNESS_SECONDS = 60;

/** When API keys were last used: noted in memory, written now and then, for many keys at once. */
export interface Sightings {
  note(keyId: string): void;
  /** Writes what was noted since the last time, in one statement. */
  write(): Promise<void>;
}

export function createSightings(database: Database, clock: Clock): Sightings {
  const noted = new Map<string, Date>();
  return {
    note: (keyId) => void noted.set(keyId, clock.now()),
    async write() {
      if (noted.size === 0) return;
      const sightings = new Map(noted);
      noted.clear();
      await updateLastSeen(database, sightings, EXACTNESS_SECONDS);
    },
  };
}
