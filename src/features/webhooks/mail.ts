import { loadWorkspace } from "../../core/admin/workspaces/find-workspace.ts";
import type { Database } from "../../core/database/database.ts";
import { mailJobsOf, type Notice, quoted } from "../../core/mail/mail-job.ts";
import { selectWebhook } from "./store.ts";

export const MAIL_JOB = "webhooks.mail";

/** Mail the contacts of a webhook that was paused automatically. */
export const webhookMailJobs = mailJobsOf(MAIL_JOB, "a webhook", write);

/** Undefined if it delivers again. */
async function write(
  database: Database,
  workspaceId: number,
  webhookId: string,
): Promise<Notice | undefined> {
  const webhook = await selectWebhook(database, { workspaceId, webhookId });
  const workspace = await loadWorkspace(database, workspaceId);
  if (!webhook || !workspace || webhook.pausedReason === null) return undefined;
  const path = `/admin/v1/workspaces/${encodeURIComponent(workspace.name)}/webhooks/${encodeURIComponent(webhook.id)}`;
  return {
    contacts: webhook.contactEmails,
    subject: "Rapport: a webhook has paused",
    text: [
      `The webhook ${quoted(webhook.name)} of the workspace ${quoted(workspace.name)} has paused.`,
      "",
      webhook.pausedReason,
      "",
      "It keeps its place in the change feed. PUT it with the state active, and it goes on from there:",
      `PUT ${path}`,
      "",
    ].join("\n"),
  };
}
