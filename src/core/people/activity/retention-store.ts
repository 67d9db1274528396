import type { RemovedStep, Retained } from "../../admin/retention/retention.ts";
import { bucketsOfIds } from "../../database/buckets.ts";
import type { Transaction } from "../../database/database.ts";
import { SLICE_ROWS } from "./moves-store.ts";

/** Profiles per step, unless they have many rows: of each, the rows older than a time are one range of the primary key. */
const PROFILES_AT_ONCE = 200;

const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

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
  (table: "events" | "purchases", id: "event_id" | "purchase_id"): Retained["removeStep"] =>
  async (tx, workspaceId, before, after): Promise<RemovedStep> => {
    let ids = await nextProfiles(tx, workspaceId, after);
    if (ids.length === 0) return { removed: 0, after: undefined };
    const isLast = ids.length < PROFILES_AT_ONCE;
    const old = `workspace_id = $1 and profile_id = any($2::uuid[]) and bucket = any($3::smallint[]) and occurred_at < $4`;
    const of = () => [workspaceId, ids, bucketsOfIds(ids).all, before];
    const areMany = async () => {
      const [row] = await tx.query<{ count: number }>(
        `select count(*)::int as count from (select from ${table} where ${old} limit ${SLICE_ROWS + 1}) as old`,
        of(),
      );
      return row !== undefined && row.count > SLICE_ROWS;
    };
    const all = ids.length;
    let isTooMuch = await areMany();
    while (isTooMuch && ids.length > 1) {
      ids = ids.slice(0, Math.ceil(ids.length / 2));
      isTooMuch = await areMany();
    }
    if (!isTooMuch) {
      const removed = await tx.execute(`delete from ${table} where ${old}`, of());
      return { removed, after: isLast && ids.length === all ? undefined : ids.at(-1) };
    }
    // The oldest of one user; the next step goes on with the same user.
    const [last] = await tx.query<{ at: string; id: string }>(
      `select occurred_at::text as at, ${id}::text as id from ${table}
       where ${old} order by occurred_at, ${id} offset ${SLICE_ROWS - 1} limit 1`,
      of(),
    );
    const removed = await tx.execute(
      `delete from ${table} where ${old} and (occurred_at, ${id}) <= ($5::text::timestamptz, $6::text::uuid)`,
      [...of(), last?.at, last?.id],
    );
    return { removed, after: after ?? BEFORE_ALL };
  };

export const RETAINED_EVENTS: Retained = {
  kind: "events",
  days: (settings) => settings.keep_events_days,
  removeStep: removeFrom("events", "event_id"),
};

export const RETAINED_PURCHASES: Retained = {
  kind: "purchases",
  days: (settings) => settings.keep_purchases_days,
  removeStep: removeFrom("purchases", "purchase_id"),
};
