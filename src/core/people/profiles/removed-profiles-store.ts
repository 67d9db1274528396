import type { Queryable, Transaction } from "../../database/database.ts";

/** More than are removed while a process does not ask; one that missed some runs a few batches twice. */
const MOST_TOLD = 500;

/** Adds the latest removed profiles. */
export const addRemoved = (tx: Transaction, workspaceId: number, profileIds: readonly string[]) =>
  tx.execute(
    `insert into removed_profiles (workspace_id, removals, latest)
     values ($1, cardinality($2::uuid[]), $2::uuid[])
     on conflict (workspace_id) do update set
       removals = removed_profiles.removals + excluded.removals,
       latest = (removed_profiles.latest || excluded.latest)[
         greatest(1, cardinality(removed_profiles.latest) + cardinality(excluded.latest) + 1 - $3::int):]`,
    [workspaceId, profileIds.slice(-MOST_TOLD), MOST_TOLD],
  );

/**
 * How many profiles were removed, and the latest of them, oldest first.
 *
 * @returns undefined if there are as many as `since`.
 */
export async function selectRemoved(
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
