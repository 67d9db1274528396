import type { Job } from "../../admin/jobs/job.ts";
import { mailJobOf } from "../../admin/jobs/mail-job.ts";
import type { Mail } from "../../admin/jobs/mailer.ts";
import { loadWorkspace } from "../../admin/workspaces/find-workspace.ts";
import type { Database } from "../../database/database.ts";
import { selectWebhook } from "./store.ts";

export const MAIL_JOB = "webhooks.mail";

/** Mails the contacts of a webhook that was paused automatically. */
export const webhookMailJob = mailJobOf(MAIL_JOB, "a webhook", writeMail);

/** Undefined if it has no contacts, or delivers again. */
async function writeMail(
  database: Database,
  { id, workspaceId, subject }: Job,
): Promise<Mail | undefined> {
  const key = { workspaceId, webhookId: subject };
  const webhook = await selectWebhook(database, key);
  const workspace = await loadWorkspace(database, workspaceId);
  if (!webhook || !workspace || webhook.pausedReason === null) return undefined;
  if (webhook.contactEmails.length === 0) return undefined;
  const path = `/admin/v1/workspaces/${encodeURIComponent(workspace.name)}/webhooks/${encodeURIComponent(webhook.id)}`;
  return {
    to: webhook.contactEmails,
    subject: `Rapport: the webhook ${webhook.name} has paused`,
    text: [
      `The webhook "${webhook.name}" of the workspace ${workspace.name} has paused.`,
      "",
      webhook.pausedReason,
      "",
      "It keeps its place in the change feed. PUT it with the state active, and it goes on from there:",
      `PUT ${path}`,
      "",
    ].join("\n"),
    id,
  };
}
