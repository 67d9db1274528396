import type { Queryable } from "../../database/database.ts";
import type { RunRow } from "./store.ts";

/** What a run has brought so far. */
export type RunRows = Pick<RunRow, "startedAt" | "status" | "rowsSynced" | "rowsFailed"> & {
  readonly integrationId: string;
};

/** The latest runs of all integrations of a workspace that started since a time, newest first. */
export async function selectRunsSince(
  database: Queryable,
  workspaceId: number,
  since: Date,
  atMost: number,
): Promise<RunRows[]> {
  return database.query<RunRows>(
    `select integration_id as "integrationId", started_at as "startedAt", status,
       rows_synced as "rowsSynced", rows_failed as "rowsFailed"
     from sync_runs where workspace_id = $1 and started_at >= $2
     order by started_at desc limit $3`,
    [workspaceId, since, atMost],
  );
}
