import { loadWorkspace } from "../../core/admin/workspaces/find-workspace.ts";
import type { Queryable } from "../../core/database/database.ts";
import { mailJobsOf, type Notice, quoted } from "../../core/mail/mail-job.ts";
import { selectLogSummary } from "./progress-store.ts";
import { selectIntegration, selectRunsBeyond } from "./store.ts";

/* Mails the contacts of an integration about a run that did not succeed. */

export const MAIL_JOB = "cdi.mail";

export const mailJobs = mailJobsOf(MAIL_JOB, "a sync", write);

/** The latest run that did not succeed; undefined without one, or without the integration. Nothing in it is about a person. */
async function write(
  database: Queryable,
  workspaceId: number,
  integrationId: string,
): Promise<Notice | undefined> {
  const workspace = await loadWorkspace(database, workspaceId);
  const integration = await selectIntegration(database, workspaceId, integrationId);
  const runs = await selectRunsBeyond(database, workspaceId, integrationId, undefined, true, 100);
  const run = await runs.find(({ status }) => status !== "running" && status !== "success");
  if (!workspace || !integration || !run) return undefined;
  const summary = await selectLogSummary(database, { workspaceId, integrationId, runId: run.id });
  const lines = [
    `The sync ${quoted(integration.name)} of the workspace ${quoted(workspace.name)} ended as ${run.status}.`,
    "",
    ...(run.message ? [run.message, ""] : []),
    `started      ${run.startedAt.toISOString()}`,
    `finished     ${run.finishedAt?.toISOString() ?? ""}`,
    `rows synced  ${run.rowsSynced}`,
    `rows failed  ${run.rowsFailed}`,
    "",
    ...(summary.length > 0 ? ["Why rows failed:", ...summary.map(reasonLine), ""] : []),
    "The log of the run has every one of them:",
    `GET /admin/v1/workspaces/${encodeURIComponent(workspace.name)}/integrations/${integrationId}/runs/${run.id}/rows`,
    "",
  ];
  return {
    contacts: integration.contactEmails,
    subject: `Rapport: a sync ended as ${run.status}`,
    text: lines.join("\n"),
  };
}

const reasonLine = ({
  code,
  field,
  count,
}: {
  code: string;
  field: string | null;
  count: number;
}) => `  ${String(count).padStart(6)}  ${code}${field === null ? "" : ` (${field})`}`;
