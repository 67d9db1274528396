import { type Queryable, settleAll, type Transaction } from "../database/database.ts";
import { PEOPLE_LOCK_CLASS, writePeopleOf } from "../workspaces/reset.ts";
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
): Promise<void> {
  await tx.execute(
    `select pg_advisory_xact_lock_shared($1::int, $2::int)
     where $3::bigint = coalesce(
       (select removals from external_id_removals where workspace_id = $2::int), 0)`,
    [PEOPLE_LOCK_CLASS, workspaceId, removals],
    1,
  );
}

/**
 * The same for a transaction past the coordinator of a cluster, which has the count. Whoever removes an external id that a
 * transaction relies on waits for the lock of its profile, so it may be read beside the transaction.
 *
 * @throws as above.
 */
export async function writePeopleNear(
  tx: Transaction,
  coordinator: Queryable,
  workspaceId: number,
  removals: number,
): Promise<void> {
  const [, current] = await settleAll([
    writePeopleOf(tx, workspaceId),
    selectIdRemovals(coordinator, workspaceId),
  ]);
  if (current !== removals) throw new StaleRead("external ids were removed");
}
