import Type, { type Static } from "typebox";
import { type AuditingServices, recordRead } from "../../core/admin/audit/audit.ts";
import {
  IntegerOrNull,
  NullableText,
  named,
  nullable,
  Success,
  succeeding,
} from "../../core/base/values/schemas.ts";
import {
  byAdministrator,
  byAdministratorOfWorkspace,
  endpoint,
  success,
} from "../../core/http/endpoint.ts";
import { runView } from "./endpoints.ts";
import { JOB_STATUSES } from "./integration.ts";
import {
  findIntegrations,
  getRun,
  type ListServices,
  listRunRows,
  listRuns,
  WantedIntegrations,
} from "./list.ts";
import type { LogEntry } from "./progress-store.ts";
import type { RunRow } from "./store.ts";
import { type TriggerServices, triggerSync } from "./trigger.ts";

/* Syncs as administrators see them: runs, their status, and every row that failed. */

const Cursor = Type.Object({ cursor: Type.Optional(Type.String()) });

const Run = named(
  "SyncRun",
  {
    run_id: Type.String(),
    job_status: Type.Enum([...JOB_STATUSES]),
    message: NullableText,
    sync_start_time: Type.String(),
    sync_finish_time: NullableText,
    last_timestamp_synced: NullableText,
    rows_expected: nullable(Type.Integer()),
    rows_read: Type.Integer({ description: "Rows that were read.", examples: [120] }),
    rows_synced: Type.Integer(),
    rows_skipped: Type.Integer({ description: "Rows that had no effect.", examples: [0] }),
    rows_failed_with_errors: Type.Integer(),
    bytes_scanned: IntegerOrNull(
      "How much the warehouse says that it has scanned; null if it does not say.",
      10_485_760,
    ),
  },
  { description: "A run of a sync." },
);

export type Run = Static<typeof Run>;

const Row = named("SyncRow", {
  outcome: Type.Enum(["failed", "skipped", "waiting"]),
  identity: Type.Record(Type.String(), Type.String()),
  updated_at: NullableText,
  field: NullableText,
  code: Type.String(),
  message: Type.String(),
});

export type Row = Static<typeof Row>;

const wholeRunView = (run: RunRow) => ({
  run_id: run.id,
  ...runView(run),
  message: run.message,
  rows_expected: run.rowsExpected,
  rows_read: run.rowsRead,
  rows_skipped: run.rowsSkipped,
  bytes_scanned: run.bytesScanned,
});

const rowView = ({ id: _id, updatedAt, ...entry }: LogEntry) => ({
  ...entry,
  updated_at: updatedAt,
});

const findByName = endpoint({
  name: "findIntegrations",
  method: "GET",
  path: "/admin/v1/integrations",
  summary: "Lists the warehouse integrations of all workspaces, optionally by name.",
  access: byAdministrator("manage_company_settings"),
  query: WantedIntegrations,
  refusals: ["NOT_FOUND"],
  replies: succeeding({
    results: Type.Array(
      named("FoundIntegration", {
        workspace: Type.String(),
        integration_id: Type.String(),
        integration_name: Type.String(),
        integration_type: Type.String(),
        integration_status: Type.String(),
        last_job_status: NullableText,
      }),
    ),
    next_cursor: Type.Optional(Type.String()),
  }),
}).handledBy(async (services: ListServices, _context, { query }) => {
  const found = await findIntegrations(services, query);
  const results = found.results.map((integration) => ({
    workspace: integration.workspace,
    integration_id: integration.id,
    integration_name: integration.name,
    integration_type: integration.type,
    integration_status: integration.status,
    last_job_status: integration.lastStatus,
  }));
  return success({ results, ...found.next });
});

const BASE = "/admin/v1/workspaces/:name/integrations/:integration_id";

const OfIntegration = { name: Type.String(), integration_id: Type.String() };

const OfRun = Type.Object({ ...OfIntegration, run_id: Type.String() });

const sync = endpoint({
  name: "startIntegrationRun",
  method: "POST",
  path: `${BASE}/sync`,
  summary: "Starts a sync now and returns the id of its run.",
  access: byAdministratorOfWorkspace("manage_external_integrations"),
  params: Type.Object(OfIntegration),
  replies: { 202: Type.Object({ run_id: Type.String(), message: Success }) },
}).handledBy(async (services: TriggerServices, context, { params }) => {
  const { workspace } = context;
  const runId = await triggerSync(services, workspace, params.integration_id);
  return { status: 202, body: { run_id: runId, message: "success" } };
});

const runs = endpoint({
  name: "listIntegrationRuns",
  method: "GET",
  path: `${BASE}/runs`,
  summary: "Lists the runs of an integration, newest first, ten per page.",
  access: byAdministratorOfWorkspace("basic_access"),
  params: Type.Object(OfIntegration),
  query: Cursor,
  replies: succeeding({ results: Type.Array(Run) }),
}).handledBy(async (services: ListServices, context, { params, query }) => {
  const { workspace } = context;
  const path = `${pathTo(params)}/runs`;
  const { rows, headers } = await listRuns(
    services,
    workspace,
    params.integration_id,
    path,
    query.cursor,
  );
  return { status: 200, headers, body: { results: rows.map(wholeRunView), message: "success" } };
});

const run = endpoint({
  name: "getIntegrationRun",
  method: "GET",
  path: `${BASE}/runs/:run_id`,
  summary: "Reads a run: its status and row counts.",
  access: byAdministratorOfWorkspace("basic_access"),
  params: OfRun,
  replies: succeeding({ run: Run }),
}).handledBy(async (services: ListServices, context, { params }) => {
  const { workspace } = context;
  const found = await getRun(services, workspace, params.integration_id, params.run_id);
  return success({ run: wholeRunView(found) });
});

const runRows = endpoint({
  name: "listIntegrationRunRows",
  method: "GET",
  path: `${BASE}/runs/:run_id/rows`,
  summary: "Lists the failed, skipped and waiting rows of a run, a hundred per page.",
  access: byAdministratorOfWorkspace("manage_external_integrations", "view_pii"),
  params: OfRun,
  query: Cursor,
  replies: succeeding({ results: Type.Array(Row) }),
}).handledBy(async (services: ListServices & AuditingServices, context, { params, query }) => {
  const { workspace } = context;
  const path = `${pathTo(params)}/runs/${params.run_id}/rows`;
  const { rows, headers } = await listRunRows(
    services,
    workspace,
    params.integration_id,
    params.run_id,
    path,
    query.cursor,
  );
  const users = new Set(rows.map(({ identity }) => JSON.stringify(identity)));
  await recordRead(services, context, "sync_run_rows", users.size);
  return { status: 200, headers, body: { results: rows.map(rowView), message: "success" } };
});

const pathTo = (params: { readonly name: string; readonly integration_id: string }): string =>
  BASE.replace(":name", encodeURIComponent(params.name)).replace(
    ":integration_id",
    params.integration_id,
  );

export const warehouseAdminEndpoints = [findByName, sync, runs, run, runRows];
