import type { Queryable, Transaction } from "../../core/database/database.ts";
import { listsOf } from "../../core/database/parameters/lists-of.ts";
import type { JobStatus } from "./integration.ts";
import type { StoredIntegration, StoredWarehouse } from "./stored-warehouse.ts";

/* Integrations and their runs. How far they got, row by row, is in progress-store.ts. */

const INTEGRATION_COLUMNS = `integration_id as id, name, type, status,
  to_jsonb(contact_emails) as "contactEmails", schedule, schedule_time_zone as "scheduleTimeZone", retry, warehouse`;

export const selectDeclaredIntegrations = (tx: Transaction, workspaceId: number) =>
  tx.query<StoredIntegration>(
    `select ${INTEGRATION_COLUMNS} from integrations where workspace_id = $1 and declared`,
    [workspaceId],
  );

export async function selectIntegrationsById(
  tx: Transaction,
  workspaceId: number,
  ids: readonly string[],
) {
  if (ids.length === 0) return [];
  return tx.query<StoredIntegration>(
    `select ${INTEGRATION_COLUMNS} from integrations
     where workspace_id = $1 and integration_id = any($2::uuid[])`,
    [workspaceId, ids],
  );
}

export async function countIntegrations(tx: Transaction, workspaceId: number): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    "select count(*)::int as count from integrations where workspace_id = $1",
    [workspaceId],
  );
  return row?.count ?? 0;
}

/** @param isDeclared by a manifest; an integration that a manifest declared stays declared. */
export async function upsertIntegrations(
  tx: Transaction,
  workspaceId: number,
  integrations: readonly StoredIntegration[],
  isDeclared: boolean,
  now: Date,
): Promise<void> {
  if (integrations.length === 0) return;
  await tx.query(
    `insert into integrations (workspace_id, integration_id, name, type, status, contact_emails,
       schedule, schedule_time_zone, retry, warehouse, declared, created_at)
     select $1, id, name, type, status,
       array(select jsonb_array_elements_text(contact_emails::jsonb)), schedule, schedule_time_zone,
       retry::jsonb, warehouse::jsonb, $12, $11
     from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
       $8::text[], $9::text[], $10::text[])
       as new (id, name, type, status, contact_emails, schedule, schedule_time_zone, retry, warehouse)
     on conflict (workspace_id, integration_id) do update set name = excluded.name,
       type = excluded.type, status = excluded.status, contact_emails = excluded.contact_emails,
       schedule = excluded.schedule, schedule_time_zone = excluded.schedule_time_zone,
       retry = excluded.retry, warehouse = excluded.warehouse,
       declared = integrations.declared or excluded.declared`,
    [
      workspaceId,
      ...listsOf(integrations, "id", "name", "type", "status"),
      integrations.map((each) => JSON.stringify(each.contactEmails)),
      ...listsOf(integrations, "schedule", "scheduleTimeZone"),
      integrations.map((each) => JSON.stringify(each.retry)),
      integrations.map((each) => JSON.stringify(each.warehouse)),
      now,
      isDeclared,
    ],
  );
}

interface WarehouseRow extends Pick<StoredIntegration, "id" | "warehouse"> {
  readonly workspaceId: number;
}

export const selectWarehouses = (database: Queryable) =>
  database.query<WarehouseRow>(
    `select workspace_id as "workspaceId", integration_id as id, warehouse from integrations
     where warehouse->'connection' is null order by workspace_id, integration_id`,
  );

export const updateWarehouses = (
  tx: Queryable,
  rows: readonly (WarehouseRow & { readonly warehouse: StoredWarehouse })[],
) =>
  tx.execute(
    `update integrations set warehouse = new.warehouse::jsonb
     from unnest($1::int[], $2::uuid[], $3::text[]) as new (workspace_id, id, warehouse)
     where integrations.workspace_id = new.workspace_id and integration_id = new.id`,
    [...listsOf(rows, "workspaceId", "id"), rows.map((row) => JSON.stringify(row.warehouse))],
  );

export const deleteIntegrations = (tx: Transaction, workspaceId: number, ids: readonly string[]) =>
  tx.execute(
    "delete from integrations where workspace_id = $1 and integration_id = any($2::uuid[])",
    [workspaceId, ids],
  );

/** An integration with how far it got and the state of its last run. */
export interface IntegrationRow extends StoredIntegration {
  readonly workspaceId: number;
  /** Whether a manifest declared it. */
  readonly declared: boolean;
  readonly processedThrough: string | null;
  readonly lastStartedAt: Date | null;
  readonly lastStatus: JobStatus | null;
}

const WITH_LAST_RUN = `select ${INTEGRATION_COLUMNS}, workspace_id as "workspaceId", declared,
    processed_through as "processedThrough", last_run."lastStartedAt", last_run."lastStatus"
  from integrations left join lateral (
    select started_at as "lastStartedAt", sync_runs.status as "lastStatus" from sync_runs
    where sync_runs.workspace_id = integrations.workspace_id
      and sync_runs.integration_id = integrations.integration_id
    order by run_id desc limit 1) last_run on true`;

export async function selectIntegration(database: Queryable, workspaceId: number, id: string) {
  const [row] = await database.query<IntegrationRow>(
    `${WITH_LAST_RUN} where workspace_id = $1 and integration_id = $2`,
    [workspaceId, id],
  );
  return row;
}

export const selectIntegrations = (database: Queryable, workspaceId: number) =>
  database.query<IntegrationRow>(`${WITH_LAST_RUN} where workspace_id = $1 order by name`, [
    workspaceId,
  ]);

export interface IntegrationPlace {
  readonly workspaceId: number;
  readonly name: string;
}

interface IntegrationFilter {
  readonly name: string | undefined;
  readonly workspaceId: number | undefined;
  readonly after: IntegrationPlace | undefined;
}

/** The integrations of all workspaces that pass a filter, beyond a place. */
export const selectIntegrationsNamed = (
  database: Queryable,
  { name, workspaceId, after }: IntegrationFilter,
  atMost: number,
) =>
  database.query<IntegrationRow>(
    `${WITH_LAST_RUN} where ($1::text is null or name = $1)
       and ($2::int is null or workspace_id = $2)
       and ($3::int is null or (workspace_id, name) > ($3, $4))
     order by workspace_id, name limit $5`,
    [name ?? null, workspaceId ?? null, after?.workspaceId ?? null, after?.name ?? null, atMost],
  );

/** By name, after a given name; the nearest first, so backwards if `isForward` is false. */
export async function selectIntegrationsBeyond(
  database: Queryable,
  workspaceId: number,
  name: string | undefined,
  isForward: boolean,
  atMost: number,
) {
  const [beyond, order] = isForward ? [">", "asc"] : ["<", "desc"];
  return database.query<IntegrationRow>(
    `${WITH_LAST_RUN} where workspace_id = $1 and ($2::text is null or name ${beyond} $2)
     order by name ${order} limit $3`,
    [workspaceId, name ?? null, atMost],
  );
}

export interface RunRow {
  readonly id: string;
  readonly status: JobStatus;
  readonly message: string | null;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  /** The last UPDATED_AT that it processed. */
  readonly processedThrough: string | null;
  /** How many rows it will have read in the end; null until they are counted. */
  readonly rowsExpected: number | null;
  readonly rowsRead: number;
  /** How many of these rows had no effect: `rowsSkipped`. */
  readonly rowsSynced: number;
  readonly rowsSkipped: number;
  readonly rowsFailed: number;
  /** How much the warehouse says that it has scanned for the run; null if it does not say. */
  readonly bytesScanned: number | null;
}

const RUN_COLUMNS = `run_id as id, status, message, started_at as "startedAt",
  finished_at as "finishedAt", processed_through as "processedThrough",
  rows_expected as "rowsExpected", rows_read as "rowsRead", rows_synced as "rowsSynced",
  rows_skipped as "rowsSkipped", rows_failed as "rowsFailed", bytes_scanned as "bytesScanned"`;

/** A run of an integration: its id is that of its job. */
export interface RunKey {
  readonly workspaceId: number;
  readonly integrationId: string;
  readonly runId: string;
}

export const OF_RUN = "workspace_id = $1 and integration_id = $2 and run_id = $3";

export const ofRun = ({ workspaceId, integrationId, runId }: RunKey) => [
  workspaceId,
  integrationId,
  runId,
];

/** Begins a run, or resumes an earlier one. */
export const insertRun = (tx: Transaction, key: RunKey, now: Date) =>
  tx.query(
    `insert into sync_runs (workspace_id, integration_id, run_id, status, started_at, rows_read,
       rows_synced, rows_skipped, rows_failed)
     values ($1, $2, $3, 'running', $4, 0, 0, 0, 0)
     on conflict (workspace_id, integration_id, run_id) do nothing`,
    [...ofRun(key), now],
  );

export async function selectRun(database: Queryable, key: RunKey) {
  const [row] = await database.query<RunRow>(
    `select ${RUN_COLUMNS} from sync_runs where ${OF_RUN}`,
    ofRun(key),
  );
  return row;
}

/** The newest first, those beyond a run; nearest first, so upwards where `isForward` is false. */
export async function selectRunsBeyond(
  database: Queryable,
  workspaceId: number,
  integrationId: string,
  runId: string | undefined,
  isForward: boolean,
  atMost: number,
) {
  const [beyond, order] = isForward ? ["<", "desc"] : [">", "asc"];
  return database.query<RunRow>(
    `select ${RUN_COLUMNS} from sync_runs
     where workspace_id = $1 and integration_id = $2
       and ($3::uuid is null or run_id ${beyond} $3::uuid)
     order by run_id ${order} limit $4`,
    [workspaceId, integrationId, runId ?? null, atMost],
  );
}

/** Records how many rows are left, and what the run waits for. */
export const updateRun = (
  database: Queryable,
  key: RunKey,
  change: { readonly rowsToCome: number | null; readonly message: string | null },
) =>
  database.execute(
    `update sync_runs set message = $4,
       rows_expected = case when $5::bigint is null then rows_expected else rows_read + $5 end
     where ${OF_RUN}`,
    [...ofRun(key), change.message, change.rowsToCome],
  );

export interface RowCounts {
  readonly read: number;
  readonly synced: number;
  readonly skipped: number;
  readonly failed: number;
}

/** Adds the rows that a run has read, and its progress. */
export const addToRun = (
  tx: Transaction,
  key: RunKey,
  { read, synced, skipped, failed }: RowCounts,
  through: string,
) =>
  tx.execute(
    `update sync_runs set rows_read = rows_read + $4, rows_synced = rows_synced + $5,
       rows_skipped = rows_skipped + $6, rows_failed = rows_failed + $7, processed_through = $8
     where ${OF_RUN}`,
    [...ofRun(key), read, synced, skipped, failed, through],
  );

export const finishRun = (
  tx: Transaction,
  key: RunKey,
  end: {
    readonly status: JobStatus;
    readonly message: string | null;
    /** Rows that failed without having been read. */
    readonly failed: number;
    readonly now: Date;
  },
) =>
  tx.execute(
    `update sync_runs set status = $4, message = $5, rows_failed = rows_failed + $6,
       finished_at = $7
     where ${OF_RUN}`,
    [...ofRun(key), end.status, end.message, end.failed, end.now],
  );

export const abandonRuns = (
  tx: Transaction,
  workspaceId: number,
  integrationIds: readonly string[],
  message: string,
  now: Date,
) =>
  tx.execute(
    `update sync_runs set status = 'error', message = $3, finished_at = $4
     where workspace_id = $1 and integration_id = any($2::uuid[]) and finished_at is null`,
    [workspaceId, integrationIds, message, now],
  );

export const updateProgress = (
  tx: Transaction,
  { workspaceId, integrationId }: Omit<RunKey, "runId">,
  through: string,
) =>
  tx.execute(
    `update integrations set processed_through = $3
     where workspace_id = $1 and integration_id = $2`,
    [workspaceId, integrationId, through],
  );

const FORGOTTEN = {
  progress: ["update integrations set processed_through = null", "delete from boundary_rows"],
  runs: ["delete from sync_runs", "delete from row_log"],
} as const;

/** Forgets how far integrations are, or their runs; without ids, those of the whole workspace. */
export async function forget(
  tx: Transaction,
  what: keyof typeof FORGOTTEN,
  workspaceId: number,
  integrationIds?: readonly string[],
): Promise<void> {
  for (const statement of FORGOTTEN[what]) {
    await tx.query(
      `${statement}
       where workspace_id = $1 and ($2::uuid[] is null or integration_id = any($2::uuid[]))`,
      [workspaceId, integrationIds ?? null],
    );
  }
}

export const deleteRunsBefore = (database: Queryable, time: Date) =>
  database.execute("delete from sync_runs where started_at < $1", [time]);
