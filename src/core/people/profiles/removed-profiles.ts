import type { Database, Transaction } from "../../database/database.ts";
import type { IdCache } from "./id-cache.ts";
import { addRemoved, selectRemoved } from "./removed-profiles-store.ts";

/*
 * Processes tell each other which profiles they have merged or deleted, through the database. It only saves work: a
 * batch that relies on such a profile finds no row and runs again.
 */

export type RemovedProfiles = ReturnType<typeof createRemovedProfiles>;

/** How long what was heard counts as new. */
const FRESH_MS = 20;

/** @param hasOthers whether other processes write at present. */
export function createRemovedProfiles(
  database: Database,
  idCache: IdCache,
  hasOthers: () => boolean,
) {
  const heard = new Map<number, { at: number; removals: number; reading: Promise<void> }>();

  async function read(workspaceId: number, since: number): Promise<number> {
    const row = await selectRemoved(database, workspaceId, since);
    if (!row) return since;
    idCache.remove(row.latest.slice(-(row.removals - since)));
    return row.removals;
  }

  return {
    /** Whether other processes write at present. */
    hasOthers,
    /** Tells other processes, if any write. It comes last, because others who tell the same wait until the transaction ends. */
    async tell(tx: Transaction, workspaceId: number, profileIds: readonly string[]) {
      if (profileIds.length === 0 || !hasOthers()) return;
      await addRemoved(tx, workspaceId, profileIds);
    },
    /** Drops the profiles that others have removed from the id cache. */
    async follow(workspaceId: number) {
      if (!hasOthers()) return;
      const last = heard.get(workspaceId) ?? { at: -FRESH_MS, removals: 0, reading: undefined };
      if (performance.now() - last.at > FRESH_MS) {
        const next = { at: performance.now(), removals: last.removals, reading: Promise.resolve() };
        next.reading = read(workspaceId, last.removals).then((removals) => {
          next.removals = removals;
        });
        heard.set(workspaceId, next);
      }
      await heard.get(workspaceId)?.reading;
    },
  };
}
