import type { Logger } from "pino";
import { recordChanges } from "../../admin/audit/audit.ts";
import { enqueue } from "../../admin/jobs/queue.ts";
import { readWorkspaceNames } from "../../admin/workspaces/find-workspace.ts";
import type { Clock } from "../../base/clock.ts";
import { BY_THE_SERVER } from "../../base/context/context.ts";
import type { Transaction } from "../../database/database.ts";
import { MAIL_JOB } from "./mail.ts";
import { pauseWebhook } from "./store.ts";
import type { StoredWebhook, WebhookKey } from "./webhook.ts";

export interface PauseServices {
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Stops the deliveries of a webhook, which keeps its position, and reports it: in the log, the
 * audit, and a mail to its contacts.
 */
export async function pauseByItself(
  tx: Transaction,
  { clock, log }: PauseServices,
  key: WebhookKey,
  { name }: Pick<StoredWebhook, "name">,
  reason: string,
): Promise<void> {
  if (!(await pauseWebhook(tx, key, reason, clock.now()))) return;
  log.error({ webhook: key.webhookId, reason }, "a webhook has paused");
  const { workspaceId, webhookId } = key;
  await enqueue(tx, clock, { workspaceId, kind: MAIL_JOB, subject: webhookId });
  const workspace = (await readWorkspaceNames(tx)).get(workspaceId) ?? "";
  const change = { action: "paused", kind: "webhook", workspace, name, details: { reason } };
  await recordChanges(tx, clock, BY_THE_SERVER, [change]);
}
