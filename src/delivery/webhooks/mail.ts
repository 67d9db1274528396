import type { Logger } from "pino";
import { type JobKind, TryAgain } from "../../admin/jobs/job.ts";
import { loadWorkspace } from "../../admin/workspaces/find-workspace.ts";
import type { Database } from "../../database/database.ts";
import type { Mail, Mailer } from "../../intake/warehouses/mailer.ts";
import { selectWebhook } from "./store.ts";
import type { WebhookKey } from "./webhook.ts";

export const MAIL_JOB = "webhooks.mail";

interface MailServices {
  readonly database: Database;
  readonly log: Logger;
  /** Undefined if no SMTP_URL is set. */
  readonly mailer: Mailer | undefined;
}

const MOST_TRIES = 8;
const FIRST_DELAY_MS = 1_000;

/** Mails the contacts of a webhook that has paused by itself. */
export const webhookMailJob: JobKind<MailServices> = {
  name: MAIL_JOB,
  async run({ database, log, mailer }, job) {
    const key = { workspaceId: job.workspaceId, webhookId: job.subject };
    const mail = await writeMail(database, key, job.id);
    if (mail && !mailer) log.warn("no mail is sent about a webhook: SMTP_URL is not set");
    if (mail) {
      await mailer?.send(mail).catch((error: Error & { responseCode?: number }) => {
        const isFinal = (error.responseCode ?? 0) >= 500 || job.failures + 1 >= MOST_TRIES;
        log.warn({ response_code: error.responseCode, is_final: isFinal }, "a mail was not sent");
        if (!isFinal) throw new TryAgain(FIRST_DELAY_MS * 4 ** job.failures, error);
      });
    }
    await database.transaction((tx) => job.finish(tx));
  },
};

/** Undefined if it has no contacts, or delivers again. */
async function writeMail(
  database: Database,
  key: WebhookKey,
  id: string,
): Promise<Mail | undefined> {
  const webhook = await selectWebhook(database, key);
  const workspace = await loadWorkspace(database, key.workspaceId);
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
