import Type from "typebox";
import {
  NullableText,
  named,
  OnlySuccess,
  succeeding,
  Text,
} from "../../core/base/values/schemas.ts";
import { endpoint, withPermission } from "../../core/http/endpoint.ts";
import { type ListedIntegration, type ListServices, listIntegrations, listRuns } from "./list.ts";
import type { RunRow } from "./store.ts";
import { type TriggerServices, triggerSync } from "./trigger.ts";

/** spec: Integration. Times that have not come yet, or are not planned, are null. */
const Integration = named("Integration", {
  integration_id: Type.String(),
  app_group_id: Text("The id of the workspace.", "1"),
  integration_name: Type.String(),
  integration_type: Type.String(),
  integration_status: Type.String(),
  contact_emails: Type.String(),
  last_updated_at: NullableText,
  warehouse_type: Text("The source that it reads.", "postgres"),
  last_job_start_time: NullableText,
  last_job_status: NullableText,
  next_scheduled_run: NullableText,
});

/** spec: Sync job. */
const SyncJob = named("SyncJob", {
  job_status: Type.String(),
  sync_start_time: Type.String(),
  sync_finish_time: NullableText,
  last_timestamp_synced: NullableText,
  rows_synced: Type.Integer(),
  rows_failed_with_errors: Type.Integer(),
});

const Cursor = Type.Object({ cursor: Type.Optional(Type.String()) });

const IntegrationId = Type.Object({ integration_id: Type.String() });

/** An integration in the form of the API. spec: GET /cdi/integrations */
export const integrationView = (integration: ListedIntegration) => ({
  integration_id: integration.id,
  app_group_id: String(integration.workspaceId),
  integration_name: integration.name,
  integration_type: integration.type,
  integration_status: integration.status,
  contact_emails: integration.contactEmails.join(", "),
  last_updated_at: integration.processedThrough,
  warehouse_type: integration.warehouse.type,
  last_job_start_time: integration.lastStartedAt?.toISOString() ?? null,
  last_job_status: integration.lastStatus,
  next_scheduled_run: integration.nextAt?.toISOString() ?? null,
});

/** A run in the form of the API. spec: GET /cdi/integrations/{integration_id}/job_sync_status */
export const runView = (run: RunRow) => ({
  job_status: run.status,
  sync_start_time: run.startedAt.toISOString(),
  sync_finish_time: run.finishedAt?.toISOString() ?? null,
  last_timestamp_synced: run.processedThrough,
  rows_synced: run.rowsSynced,
  rows_failed_with_errors: run.rowsFailed,
});

const list = endpoint({
  name: "listIntegrations",
  method: "GET",
  path: "/cdi/integrations",
  summary: "Lists the warehouse integrations, ten per page.",
  access: withPermission("cdi.integration_list"),
  query: Cursor,
  replies: succeeding({ results: Type.Array(Integration) }),
}).handledBy(async (services: ListServices, { workspace }, { query }) => {
  const { rows, headers } = await listIntegrations(services, workspace, query.cursor);
  return { status: 200, headers, body: { results: rows.map(integrationView), message: "success" } };
});

const jobSyncStatus = endpoint({
  name: "listSyncs",
  method: "GET",
  path: "/cdi/integrations/:integration_id/job_sync_status",
  summary: "Lists the syncs of an integration, newest first, ten per page.",
  access: withPermission("cdi.integration_job_status"),
  params: IntegrationId,
  query: Cursor,
  replies: succeeding({ results: Type.Array(SyncJob) }),
}).handledBy(async (services: ListServices, { workspace }, { params, query }) => {
  const { integration_id: id } = params;
  const path = `/cdi/integrations/${id}/job_sync_status`;
  const { rows, headers } = await listRuns(services, workspace, id, path, query.cursor);
  return { status: 200, headers, body: { results: rows.map(runView), message: "success" } };
});

const sync = endpoint({
  name: "startSync",
  method: "POST",
  path: "/cdi/integrations/:integration_id/sync",
  summary: "Starts a sync of an integration now.",
  access: withPermission("cdi.integration_sync"),
  params: IntegrationId,
  replies: { 202: OnlySuccess },
}).handledBy(async (services: TriggerServices, { workspace }, { params }) => {
  await triggerSync(services, workspace, params.integration_id);
  return { status: 202, body: { message: "success" } };
});

export const warehouseEndpoints = [list, jobSyncStatus, sync];
