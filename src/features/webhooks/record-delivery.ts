import type { Metrics } from "../../core/base/observe/metrics.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { type Delivery, insertDelivery, trimDeliveries } from "./deliveries-store.ts";
import type { WebhookKey } from "./webhook.ts";

type RecordServices = StoringServices & { readonly metrics: Pick<Metrics, "webhook"> };

/** One delivery in this many removes the oldest ones: the list is a little longer in between. */
const TRIMS_EVERY = 16;

let recorded = 0;

/** Writes down an attempt, for the administrators of the workspace and for the metrics. */
export async function recordDelivery(
  { database, clock, metrics }: RecordServices,
  key: WebhookKey & { readonly isReplay?: boolean },
  delivery: Omit<Delivery, "id" | "kind"> & { readonly kind?: Delivery["kind"] },
): Promise<void> {
  const kind = delivery.kind ?? (key.isReplay ? "replay" : "live");
  metrics.webhook(delivery.outcome, delivery.changes);
  await insertDelivery(database, key, { ...delivery, kind, id: clock.newId() });
  if (++recorded % TRIMS_EVERY === 0) await trimDeliveries(database, key);
}
