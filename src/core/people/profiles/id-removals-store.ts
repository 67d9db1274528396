import type { Queryable, Transaction } from "../../database/database.ts";
import { lockingSelect, type WriterStart } from "../../database/people-lock.ts";
import { StaleRead } from "./stale-read.ts";

/* Counts how often an external_id was removed from a user who still exists. Id caches are valid for one count. */

export async function selectIdRemovals(database: Queryable, workspaceId: number): Promise<number> {
  const [row] = await database.query<{ removals: number }>(
    "select removals from external_id_removals where workspace_id = $1",
    [workspaceId],
  );
  return row?.removals ?? 0;
}

/** Raises the count: after the commit no process relies on ids that it cached before. */
export const countIdRemoval = (tx: Transaction, workspaceId: number) =>
  tx.execute(
    `insert into external_id_removals (workspace_id, removals) values ($1, 1)
     on conflict (workspace_id) do update set removals = external_id_removals.removals + 1`,
    [workspaceId],
  );

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
  start: WriterStart,
): Promise<void> {
  const { columns, parameters } = lockingSelect(workspaceId, start, 3);
  await tx.execute(
    `select ${columns} where $2::bigint = coalesce(
       (select removals from external_id_removals where workspace_id = $1::int), 0)`,
    [workspaceId, removals, ...parameters],
    1,
  );
}
