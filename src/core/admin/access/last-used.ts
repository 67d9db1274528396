import type { Clock } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { type SeenTable, updateLastSeen } from "./credential-store.ts";

/** How exact "last seen" is: it is written at most once in this time. */
const EXACTNESS_SECONDS = 60;

/** When keys and tokens were last used: collected in memory, written together now and then. */
export type LastUsed = ReturnType<typeof createLastUsed>;

export function createLastUsed(database: Database, clock: Clock) {
  const noted = new Map<SeenTable, Map<string, Date>>();
  return {
    note(table: SeenTable, id: string) {
      const times = noted.get(table) ?? new Map<string, Date>();
      noted.set(table, times.set(id, clock.now()));
    },
    /** Writes the uses since the last call, in one statement for each table. */
    async write() {
      const lastUsed = [...noted];
      noted.clear();
      for (const [table, times] of lastUsed) {
        await updateLastSeen(database, table, times, EXACTNESS_SECONDS);
      }
    },
  };
}
