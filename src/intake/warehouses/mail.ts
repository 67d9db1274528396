import type { Job } from "../../admin/jobs/job.ts";
import { mailJobOf } from "../../admin/jobs/mail-job.ts";
import type { Mail } from "../../admin/jobs/mailer.ts";
import { loadWorkspace } from "../../admin/workspaces/find-workspace.ts";
import type { Queryable } from "../../database/database.ts";
import { selectLogSummary } from "./progress-store.ts";
import { selectIntegration, selectRun } from "./store.ts";

/* Mails the contacts of an integration about a run that did not succeed. */

export const MAIL_JOB = "cdi.mail";

/** The subject of the mail's job: integration and run, separated by a space. */
export const mailSubject = (integrationId: string, runId: string): string =>
  `${integrationId} ${runId}`;

export const mailJob = mailJobOf(MAIL_JOB, "a sync", writeMail);

/** Undefined if the integration no longer exists. Nothing in it is about a person. */
async function writeMail(database: Queryable, job: Job): Promise<Mail | undefined> {
  const [integrationId = "", runId = ""] = job.subject.split(" ");
  const workspace = await loadWorkspace(database, job.workspaceId);
  const integration = await selectIntegration(database, job.workspaceId, integrationId);
  const run = await selectRun(database, job.workspaceId, integrationId, runId);
  if (!workspace || !integration || !run) return undefined;
  const summary = await selectLogSummary(database, job.workspaceId, integrationId, runId);
  const lines = [
    `The sync "${integration.name}" of the workspace ${workspace.name} ended as ${run.status}.`,
    "",
    ...(run.message ? [run.message, ""] : []),
    `started      ${run.startedAt.toISOString()}`,
    `finished     ${run.finishedAt?.toISOString() ?? ""}`,
    `rows synced  ${run.rowsSynced}`,
    `rows failed  ${run.rowsFailed}`,
    "",
    ...(summary.length > 0 ? ["Why rows failed:", ...summary.map(reasonLine), ""] : []),
    "The log of the run has every one of them:",
    `GET /admin/v1/workspaces/${encodeURIComponent(workspace.name)}/integrations/${integrationId}/runs/${runId}/rows`,
    "",
  ];
  return {
    to: integration.contactEmails,
    subject: `Rapport: the sync of ${integration.name} ended as ${run.status}`,
    text: lines.join("\n"),
    id: runId,
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
