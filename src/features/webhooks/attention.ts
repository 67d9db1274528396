import type { AttentionSource, FoundFinding } from "../../core/admin/attention/attention.ts";
import { readWebhooks, type WebhookState } from "./manage.ts";

/* The webhooks in the overview of a workspace. */

export const webhookAttention: AttentionSource = {
  permission: "manage_external_integrations",
  read: async (database, { id }) => ({
    findings: failingWebhooks(await readWebhooks(database, id)),
  }),
};

const failingWebhooks = (webhooks: readonly WebhookState[]): FoundFinding[] =>
  webhooks.flatMap(({ id, name, state, pausedReason, failingSince }): FoundFinding[] => {
    if (pausedReason !== null) {
      const message = `Deliveries stopped. ${pausedReason}`;
      return [{ kind: "webhook_paused", severity: "bad", subject: name, id, message }];
    }
    if (failingSince === null || state !== "active") return [];
    const message = "Deliveries fail. They are tried again.";
    const at = failingSince;
    return [{ kind: "webhook_failing", severity: "warn", subject: name, id, message, at }];
  });
