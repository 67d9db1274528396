import type { RemovedStep, Retained } from "../../admin/retention/retention.ts";
import { bucketsOfIds } from "../../database/buckets.ts";
import type { Transaction } from "../../database/database.ts";

/** Profiles per step: of each, the rows older than a time are one range of the primary key. */
const PROFILES_AT_ONCE = 200;

async function nextProfiles(
  tx: Transaction,
  workspaceId: number,
  after: string | undefined,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `select profile_id as id from profiles
     where workspace_id = $1 and ($2::uuid is null or profile_id > $2::uuid)
     order by profile_id limit $3`,
    [workspaceId, after ?? null, PROFILES_AT_ONCE],
  );
  return rows.map((row) => row.id);
}

const removeFrom =
  (table: "events" | "purchases"): Retained["removeStep"] =>
  async (tx, workspaceId, before, after): Promise<RemovedStep> => {
    const ids = await nextProfiles(tx, workspaceId, after);
    if (ids.length === 0) return { removed: 0, after: undefined };
    const removed = await tx.execute(
      `delete from ${table} where workspace_id = $1 and profile_id = any($2::uuid[])
         and bucket = any($3::smallint[]) and occurred_at < $4`,
      [workspaceId, ids, bucketsOfIds(ids).all, before],
    );
    return { removed, after: ids.length < PROFILES_AT_ONCE ? undefined : ids.at(-1) };
  };

export const RETAINED_EVENTS: Retained = {
  kind: "events",
  days: (settings) => settings.keep_events_days,
  removeStep: removeFrom("events"),
};

export const RETAINED_PURCHASES: Retained = {
  kind: "purchases",
  days: (settings) => settings.keep_purchases_days,
  removeStep: removeFrom("purchases"),
};
