import type { Queryable, Transaction } from "../../database/database.ts";
import { LANE_LOCK_CLASS, LOCK_LANES, PEOPLE_LOCK_CLASS } from "../../database/people-lock.ts";
import { StaleRead } from "./stale-read.ts";

/* Counts how often an external_id was removed from a user who still exists. Id caches are valid for one count. */

/** The count of a workspace. */
export async function selectIdRemovals(database: Queryable, workspaceId: number): Promise<number> {
  const [row] = await database.query<{ removals: number }>(
    "select removals from external_id_removals where workspace_id = $1",
    [workspaceId],
  );
  return row?.removals ?? 0;
}

/** Raises the count: after the commit no process relies on ids that it cached before. */
export async function countIdRemoval(tx: Transaction, workspaceId: number): Promise<void> {
  await tx.query(
    `insert into external_id_removals (workspace_id, removals) values ($1, 1)
     on conflict (workspace_id) do update set removals = external_id_removals.removals + 1`,
    [workspaceId],
  );
}

/** @throws a serialization failure where external ids were removed since the count was this. */
export async function checkIdRemovals(
  database: Queryable,
  workspaceId: number,
  removals: number,
): Promise<void> {
  const isSame = (await selectIdRemovals(database, workspaceId)) === removals;
  if (!isSame) throw new StaleRead("an external_id was removed");
}

/**
 * `writePeopleOf` and the check that the count is still this one, in one statement because every
 * batch starts with it.
 *
 * @throws a serialization failure where external ids were removed since.
 */
export async function writePeopleAt(
  tx: Transaction,
  workspaceId: number,
  removals: number,
  locks: readonly number[] = [],
): Promise<void> {
  const parameters = [PEOPLE_LOCK_CLASS, workspaceId, removals];
  const isAt = `where $3::bigint = coalesce(
       (select removals from external_id_removals where workspace_id = $2::int), 0)`;
  const shared = "select pg_advisory_xact_lock_shared($1::int, $2::int)";
  await (locks.length === 0
    ? tx.execute(`${shared} ${isAt}`, parameters, 1)
    : tx.execute(
        `${shared}, ${LOCK_LANES("$4", "$5")} ${isAt}`,
        [...parameters, LANE_LOCK_CLASS, locks],
        1,
      ));
}
