import Type, { type Static } from "typebox";
import { readNextTimes } from "../../core/admin/jobs/schedule.ts";
import { findWorkspace, readWorkspaceNames } from "../../core/admin/workspaces/find-workspace.ts";
import type { Workspace } from "../../core/base/context/workspace.ts";
import {
  forwardPage,
  opaqueCursor,
  type Page,
  readOpaque,
  readPage,
} from "../../core/base/pages.ts";
import { Problem } from "../../core/base/problem.ts";
import { isUuid } from "../../core/base/values/uuid.ts";
import type { Queryable } from "../../core/database/database.ts";
import { SYNC_JOB } from "./integration.ts";
import { type LogEntry, selectLogBeyond } from "./progress-store.ts";
import {
  type IntegrationPlace,
  type IntegrationRow,
  type RunRow,
  selectIntegration,
  selectIntegrationsBeyond,
  selectIntegrationsNamed,
  selectRun,
  selectRunsBeyond,
} from "./store.ts";

export type ListServices = { readonly database: Queryable };

export type WorkspaceId = Pick<Workspace, "id">;

/** spec: Limits, items per page of the integration endpoints. */
const PAGE_SIZE = 10;

export type ListedIntegration = IntegrationRow & { readonly nextAt: Date | undefined };

const DEFAULT_LISTED = 100;
const MOST_LISTED = 1_000;

export const WantedIntegrations = Type.Object({
  name: Type.Optional(Type.String()),
  workspace: Type.Optional(Type.String({ description: "The name of one; all without it." })),
  cursor: Type.Optional(Type.String()),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_LISTED, default: DEFAULT_LISTED })),
});

/**
 * A page of the integrations of all workspaces, each with the name of its workspace.
 *
 * @throws Problem INVALID_REQUEST for the cursor, NOT_FOUND for the workspace.
 */
export async function findIntegrations(
  { database }: ListServices,
  { name, workspace, cursor, limit = DEFAULT_LISTED }: Static<typeof WantedIntegrations>,
) {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const workspaceId =
    workspace === undefined ? undefined : (await findWorkspace(database, workspace)).id;
  const found = await selectIntegrationsNamed(database, { name, workspaceId, after }, limit + 1);
  const { rows, next } = forwardPage(found, limit, cursorOf);
  const workspaces = await readWorkspaceNames(database);
  const results = rows.map((integration) => ({
    ...integration,
    workspace: workspaces.get(integration.workspaceId) ?? "",
  }));
  return { results, next };
}

const cursorOf = ({ workspaceId, name }: IntegrationPlace): string =>
  opaqueCursor(`${workspaceId} ${name}`);

function readCursor(cursor: string): IntegrationPlace {
  const [id, name = ""] = readOpaque(cursor, /^(\d{1,9}) (.+)$/s);
  return { workspaceId: Number(id), name };
}

/** The integrations of a workspace by name. @throws Problem INVALID_REQUEST for the cursor. */
export async function listIntegrations(
  { database }: ListServices,
  workspace: WorkspaceId,
  cursor: string | undefined,
): Promise<Page<ListedIntegration>> {
  const page = await readPage<IntegrationRow>(
    {
      path: "/cdi/integrations",
      pageSize: PAGE_SIZE,
      keyOf: ({ name }) => name,
      isKey: (text) => !text.includes("\0"),
      select: (...beyond) => selectIntegrationsBeyond(database, workspace.id, ...beyond),
    },
    cursor,
  );
  const nextTimes = await readNextTimes(database, SYNC_JOB, workspace.id);
  return { ...page, rows: page.rows.map((row) => ({ ...row, nextAt: nextTimes.get(row.id) })) };
}

/**
 * An integration of a workspace.
 *
 * @throws Problem INVALID_REQUEST if the id is no UUID, NOT_FOUND if there is none.
 */
export async function getIntegration(
  { database }: ListServices,
  workspace: WorkspaceId,
  id: string,
): Promise<IntegrationRow> {
  if (!isUuid(id)) throw new Problem("INVALID_REQUEST", "Invalid integration ID");
  const integration = await selectIntegration(database, workspace.id, id);
  if (!integration) throw new Problem("NOT_FOUND", "Integration not found");
  return integration;
}

/** The runs of an integration, the newest first; `path` is the list's own. */
export async function listRuns(
  services: ListServices,
  workspace: WorkspaceId,
  integrationId: string,
  path: string,
  cursor: string | undefined,
): Promise<Page<RunRow>> {
  const { id } = await getIntegration(services, workspace, integrationId);
  return readPage<RunRow>(
    {
      path,
      pageSize: PAGE_SIZE,
      keyOf: (run) => run.id,
      isKey: isUuid,
      select: (...beyond) => selectRunsBeyond(services.database, workspace.id, id, ...beyond),
    },
    cursor,
  );
}

/** @throws Problem INVALID_REQUEST or NOT_FOUND, for the integration or the run. */
export async function getRun(
  services: ListServices,
  workspace: WorkspaceId,
  integrationId: string,
  runId: string,
): Promise<RunRow> {
  await getIntegration(services, workspace, integrationId);
  if (!isUuid(runId)) throw new Problem("INVALID_REQUEST", "Invalid run ID");
  const key = { workspaceId: workspace.id, integrationId, runId };
  const run = await selectRun(services.database, key);
  if (!run) throw new Problem("NOT_FOUND", "Run not found");
  return run;
}

const LOG_PAGE_SIZE = 100;

/** The rows of a run that were not simply applied, in their order. */
export async function listRunRows(
  services: ListServices,
  workspace: WorkspaceId,
  integrationId: string,
  runId: string,
  path: string,
  cursor: string | undefined,
): Promise<Page<LogEntry>> {
  await getRun(services, workspace, integrationId, runId);
  const key = { workspaceId: workspace.id, integrationId, runId };
  return readPage<LogEntry>(
    {
      path,
      pageSize: LOG_PAGE_SIZE,
      keyOf: (entry) => entry.id,
      isKey: isUuid,
      select: (...beyond) => selectLogBeyond(services.database, key, ...beyond),
    },
    cursor,
  );
}
