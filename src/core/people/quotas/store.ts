import type { Queryable, Transaction } from "../../database/database.ts";

export type NameKind = "attribute" | "event";

/** Distinguishes these locks from Rapport's others. */
const NAMES_LOCK_CLASS = 7_270_415;

/** Until the transaction ends, no other transaction adds names to the workspace. */
export const lockNames = (tx: Transaction, workspaceId: number) =>
  tx.query("select pg_advisory_xact_lock($1::int, $2::int)", [NAMES_LOCK_CLASS, workspaceId]);

export const selectNames = (database: Queryable, workspaceId: number) =>
  database.query<{ kind: NameKind; name: string }>(
    "select kind, name from used_names where workspace_id = $1",
    [workspaceId],
  );

export async function insertNames(
  tx: Transaction,
  workspaceId: number,
  kind: NameKind,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  await tx.query(
    `insert into used_names (workspace_id, kind, name)
     select $1, $2, name from unnest($3::text[]) as new (name) on conflict do nothing`,
    [workspaceId, kind, names],
  );
}

export const deleteAllNames = (tx: Transaction, workspaceId: number) =>
  tx.execute("delete from used_names where workspace_id = $1", [workspaceId]);

/** How many users a workspace has, counted up to a number. */
export async function countUsers(
  database: Queryable,
  workspaceId: number,
  upTo: number,
): Promise<number> {
  const [row] = await database.query<{ users: number }>(
    `select count(*) as users from
       (select 1 from profiles where workspace_id = $1 limit $2) as counted`,
    [workspaceId, upTo],
  );
  return row?.users ?? 0;
}
