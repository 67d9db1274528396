import type { Database, Queryable, Transaction } from "../../database/database.ts";
import type { IdCache } from "./id-cache.ts";

/*
 * Processes tell each other which profiles they have merged or deleted, through the database. It only saves work: a
 * batch that relies on such a profile finds no row and runs again.
 */

export interface RemovedProfiles {
  /** Tells other processes, if any write. It comes last, because others who tell the same wait until the transaction ends. */
  tell(tx: Transaction, workspaceId: number, profileIds: readonly string[]): Promise<void>;
  /** Drops the profiles that others have removed from the id cache. */
  follow(workspaceId: number): Promise<void>;
}

/** How long what was heard counts as new. */
const FRESH_MS = 20;

/** More than are removed in that time; a reader that missed some runs a few batches twice. */
const MOST_TOLD = 500;

/** @param hasOthers whether other processes write at present. */
export function createRemovedProfiles(
  database: Database,
  idCache: IdCache,
  hasOthers: () => boolean,
): RemovedProfiles {
  const heard = new Map<number, { at: number; removals: number; reading: Promise<void> }>();

  async function read(workspaceId: number, since: number): Promise<number> {
    const row = await selectRemoved(database, workspaceId, since);
    if (!row) return since;
    idCache.remove(row.latest.slice(-(row.removals - since)));
    return row.removals;
  }

  return {
    async tell(tx, workspaceId, profileIds) {
      if (profileIds.length === 0 || !hasOthers()) return;
      await addRemoved(tx, workspaceId, profileIds.slice(-MOST_TOLD));
    },
    async follow(workspaceId) {
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

async function addRemoved(
  tx: Transaction,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<void> {
  await tx.query(
    `insert into removed_profiles (workspace_id, removals, latest)
     values ($1, cardinality($2::uuid[]), $2::uuid[])
     on conflict (workspace_id) do update set
       removals = removed_profiles.removals + excluded.removals,
       latest = (removed_profiles.latest || excluded.latest)[
         greatest(1, cardinality(removed_profiles.latest) + cardinality(excluded.latest) + 1 - $3::int):]`,
    [workspaceId, profileIds, MOST_TOLD],
  );
}

async function selectRemoved(
  database: Queryable,
  workspaceId: number,
  since: number,
): Promise<{ readonly removals: number; readonly latest: string[] } | undefined> {
  const [row] = await database.query<{ removals: number; latest: string[] }>(
    `select removals, to_jsonb(latest) as latest from removed_profiles
     where workspace_id = $1 and removals <> $2`,
    [workspaceId, since],
  );
  return row;
}
