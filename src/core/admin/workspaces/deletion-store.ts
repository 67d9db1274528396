import type { Queryable, Transaction } from "../../database/database.ts";

/**
 * Every table with rows of workspaces: from the catalog, so that none can be forgotten. Jobs come first, because a job
 * whose row is missing commits nothing.
 */
async function selectTables(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `select relname as name from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'deleted_workspaces'
       and exists (select from pg_attribute
         where attrelid = pg_class.oid and attname = 'workspace_id' and not attisdropped)
     order by relname <> 'jobs', relname`,
  );
  return rows.map(({ name }) => name);
}

/** Deletes every row of a workspace, and the workspace itself. */
export async function deleteRowsOf(tx: Transaction, workspaceId: number): Promise<void> {
  for (const table of await selectTables(tx)) {
    await tx.query(`delete from "${table}" where workspace_id = $1`, [workspaceId]);
  }
}

/** Whether a workspace has a user, or an address with a state or a history. */
export async function hasUserData(database: Queryable, workspaceId: number): Promise<boolean> {
  for (const table of ["identifiers", "email_state_changes", "hard_bounces", "email_states"]) {
    const rows = await database.query(`select 1 from ${table} where workspace_id = $1 limit 1`, [
      workspaceId,
    ]);
    if (rows.length > 0) return true;
  }
  return false;
}

/** Records that the id was used, so that no other workspace gets it. */
export const insertDeleted = (tx: Transaction, workspaceId: number, now: Date) =>
  tx.execute("insert into deleted_workspaces (workspace_id, deleted_at) values ($1, $2)", [
    workspaceId,
    now,
  ]);

/** Workspaces that were deleted before this time and not swept since; of many, some. */
export async function selectUnswept(database: Queryable, before: Date): Promise<number[]> {
  const rows = await database.query<{ id: number }>(
    `select workspace_id as id from deleted_workspaces deleted
     where swept_at is null and deleted_at < $1
       and not exists (select from workspaces w where w.workspace_id = deleted.workspace_id)
     order by workspace_id limit 100`,
    [before],
  );
  return rows.map(({ id }) => id);
}

export const markSwept = (tx: Transaction, workspaceId: number, now: Date) =>
  tx.execute("update deleted_workspaces set swept_at = $2 where workspace_id = $1", [
    workspaceId,
    now,
  ]);
