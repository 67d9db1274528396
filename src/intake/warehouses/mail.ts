import type { Logger } from "pino";
import { type Job, type JobKind, TryAgain } from "../../admin/jobs/job.ts";
import { loadWorkspace } from "../../admin/workspaces/find-workspace.ts";
import type { Database, Queryable } from "../../database/database.ts";
import type { Mail, Mailer } from "./mailer.ts";
import { selectLogSummary } from "./progress-store.ts";
import { selectIntegration, selectRun } from "./store.ts";

/*
 * Mails the contacts of an integration about a run that did not succeed. The mail is a separate
 * job, enqueued by the transaction that ends the run: a killed process does not lose it, and a mail
 * server that is down does not delay the run.
 */

export const MAIL_JOB = "cdi.mail";

export const mailSubject = (integrationId: string, runId: string): string =>
  `${integrationId} ${runId}`;

export interface MailServices {
  readonly database: Database;
  readonly log: Logger;
  /** Undefined if no SMTP_URL is set. */
  readonly mailer: Mailer | undefined;
}

const MOST_TRIES = 8;
const FIRST_DELAY_MS = 1_000;

export const mailJob: JobKind<MailServices> = {
  name: MAIL_JOB,
  async run({ database, log, mailer }, job) {
    const mail = await writeMail(database, job);
    if (mail && !mailer) log.warn("no mail is sent about a sync: SMTP_URL is not set");
    if (mail) await mailer?.send(mail).catch((error) => tryAgain(log, job, error));
    await database.transaction((tx) => job.finish(tx));
  },
};

/** @throws TryAgain unless the server refuses for good, or was asked often enough. */
function tryAgain(log: Logger, job: Job, error: Error & { code?: string; responseCode?: number }) {
  const { code, responseCode } = error;
  const isFinal = (responseCode ?? 0) >= 500 || job.failures + 1 >= MOST_TRIES;
  log.warn({ code, response_code: responseCode, is_final: isFinal }, "a mail was not sent");
  if (!isFinal) throw new TryAgain(FIRST_DELAY_MS * 4 ** job.failures, error);
}

/** Undefined if the integration is gone by now. Nothing in it is about a person. */
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
