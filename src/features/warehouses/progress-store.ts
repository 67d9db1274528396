import type { Queryable, Transaction } from "../../core/database/database.ts";
import { listsOf } from "../../core/database/parameters/lists-of.ts";
import type { Boundary, BoundaryCount } from "./boundary.ts";
import { OF_RUN, ofRun, type RunKey, type RunRow } from "./store.ts";

/* How far an integration got, row by row: the rows at its boundary, and the log of its rows. */

/** A reading of the source of an integration: `readingId` is new each time the source is opened. */
export interface ReadingKey extends Omit<RunKey, "runId"> {
  readonly readingId: string;
}

/** The rows at the boundary, by hash; `seen` counts the rows that this reading saw. */
export async function selectBoundary(
  database: Queryable,
  { workspaceId, integrationId, readingId }: ReadingKey,
  hashes: readonly string[],
): Promise<Map<string, BoundaryCount>> {
  if (hashes.length === 0) return new Map();
  const rows = await database.query<BoundaryCount & { hash: string }>(
    `select row_hash as hash, processed, case when seen_by = $4 then seen else 0 end as seen
     from boundary_rows
     where workspace_id = $1 and integration_id = $2 and row_hash = any($3::uuid[])`,
    [workspaceId, integrationId, hashes, readingId],
  );
  return new Map(rows.map(({ hash, ...count }) => [hash, count]));
}

/** Saves the counts of the rows at the boundary; the counts of an earlier boundary are deleted. */
export async function upsertBoundary(
  tx: Transaction,
  { workspaceId, integrationId, readingId }: ReadingKey,
  { counts, hasMoved }: Boundary,
): Promise<void> {
  if (hasMoved) {
    await tx.query("delete from boundary_rows where workspace_id = $1 and integration_id = $2", [
      workspaceId,
      integrationId,
    ]);
  }
  await tx.query(
    `insert into boundary_rows
       (workspace_id, integration_id, row_hash, processed, seen, seen_by)
     select $1, $2, hash, processed, seen, $3
     from unnest($4::uuid[], $5::int[], $6::int[]) as new (hash, processed, seen)
     on conflict (workspace_id, integration_id, row_hash) do update set
       processed = excluded.processed, seen = excluded.seen, seen_by = excluded.seen_by`,
    [
      workspaceId,
      integrationId,
      readingId,
      [...counts.keys()],
      ...listsOf([...counts.values()], "processed", "seen"),
    ],
  );
}

/** Adds the bytes that a warehouse has scanned for a run. */
export const addScanned = (database: Queryable, key: RunKey, bytes: number) =>
  database.execute(
    `update sync_runs set bytes_scanned = coalesce(bytes_scanned, 0) + $4 where ${OF_RUN}`,
    [...ofRun(key), bytes],
  );

/** The log entry about one row that was not simply applied. */
export interface LogEntry {
  readonly id: string;
  /** `waiting`: its time is still to come. */
  readonly outcome: "failed" | "skipped" | "waiting";
  readonly identity: Readonly<Record<string, string>>;
  /** As the source has it. */
  readonly updatedAt: string | null;
  /** Which field it is about, as far as that can be said. */
  readonly field: string | null;
  readonly code: string;
  readonly message: string;
}

export async function insertLogEntries(
  tx: Transaction,
  key: RunKey,
  entries: readonly LogEntry[],
  now: Date,
): Promise<void> {
  if (entries.length === 0) return;
  await tx.query(
    `insert into row_log (workspace_id, integration_id, run_id, entry_id, outcome, identity,
       updated_at, field, code, message, logged_at)
     select $1, $2, $3, id, outcome, identity::jsonb, updated_at, field, code, message, $4
     from unnest($5::uuid[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
       $11::text[]) as new (id, outcome, identity, updated_at, field, code, message)`,
    [
      ...ofRun(key),
      now,
      ...listsOf(entries, "id", "outcome"),
      entries.map((entry) => JSON.stringify(entry.identity)),
      ...listsOf(entries, "updatedAt", "field", "code", "message"),
    ],
  );
}

/** The log of a run in its order, beyond an entry; nearest first, so backwards where not forward. */
export async function selectLogBeyond(
  database: Queryable,
  key: RunKey,
  entryId: string | undefined,
  isForward: boolean,
  atMost: number,
) {
  const [beyond, order] = isForward ? [">", "asc"] : ["<", "desc"];
  return database.query<LogEntry>(
    `select entry_id as id, outcome, identity, updated_at as "updatedAt", field, code, message
     from row_log where ${OF_RUN} and ($4::uuid is null or entry_id ${beyond} $4::uuid)
     order by entry_id ${order} limit $5`,
    [...ofRun(key), entryId ?? null, atMost],
  );
}

/** How often each reason occurs in the log of a run, the most frequent first. */
export const selectLogSummary = (database: Queryable, key: RunKey) =>
  database.query<{ code: string; field: string | null; count: number }>(
    `select code, field, count(*) as count from row_log where ${OF_RUN} and outcome = 'failed'
     group by code, field order by count(*) desc, code, field limit 20`,
    ofRun(key),
  );

/** Removes some of the rows of a workspace from before a time. @returns how many. */
export const deleteOldLog = (
  tx: Transaction,
  workspaceId: number,
  before: Date,
  atMost: number,
): Promise<number> =>
  tx.execute(
    `delete from row_log where workspace_id = $1 and entry_id in (
       select entry_id from row_log where workspace_id = $1 and logged_at < $2 limit $3)`,
    [workspaceId, before, atMost],
  );

export type RunRows = Pick<RunRow, "startedAt" | "status" | "rowsSynced" | "rowsFailed"> & {
  readonly integrationId: string;
};

/** The latest runs of all integrations of a workspace that started since a time, newest first. */
export const selectRunsSince = (
  database: Queryable,
  workspaceId: number,
  since: Date,
  atMost: number,
) =>
  database.query<RunRows>(
    `select integration_id as "integrationId", started_at as "startedAt", status,
       rows_synced as "rowsSynced", rows_failed as "rowsFailed"
     from sync_runs where workspace_id = $1 and started_at >= $2
     order by started_at desc limit $3`,
    [workspaceId, since, atMost],
  );
