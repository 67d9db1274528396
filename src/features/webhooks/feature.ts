import type { Feature } from "../../core/feature.ts";
import { webhookAttention } from "./attention.ts";
import { eraseResponsesNaming } from "./deliveries-store.ts";
import { webhookEndpoints } from "./endpoints.ts";
import { eraseDeliveries, sweepDeadLetters } from "./forget.ts";
import { webhookMailJobs } from "./mail.ts";
import { measureWebhooks } from "./measure.ts";
import { createSendSlots } from "./replay.ts";
import { webhooks } from "./resource.ts";
import { startWebhooks } from "./runner.ts";
import { webhookSecrets } from "./secrets.ts";

/** How old the metrics of webhooks are at most. */
const MEASURED_EVERY_MS = 10 * 1_000;

export const feature = {
  name: "webhooks",
  endpoints: webhookEndpoints,
  resources: [webhooks],
  attention: webhookAttention,
  services: () => ({ sendSlots: createSendSlots() }),
  jobs: webhookMailJobs,
  repeated: [{ ms: MEASURED_EVERY_MS, what: "measuring webhooks", run: measureWebhooks }],
  start: startWebhooks,
  reset: { later: [eraseDeliveries] },
  erasure: [eraseResponsesNaming],
  sealed: [webhookSecrets],
  sweeps: [sweepDeadLetters],
} satisfies Feature;
