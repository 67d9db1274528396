import { addDecimals, centsOf } from "../../../base/values/decimals.ts";
import type { Json } from "../../../base/values/plain-json.ts";
import type { EventSummary, PurchaseSummary } from "../../activity/activity.ts";
import { type Combined, combineLists, earlierOf, laterOf } from "./effects.ts";

/** spec: Merge behaviour. Counts are added up, the first date is the earlier, the last the later. */
export const combineEvents = (
  kept: readonly EventSummary[],
  merged: readonly EventSummary[],
): Combined<EventSummary[]> =>
  combineLists(
    kept,
    merged,
    ({ name }) => name,
    addOccurrences,
    (own, other, result) => ({
      field: "custom_events",
      name: other.name,
      effect: "added_up",
      kept: own ? occurrencesOf(own) : null,
      merged: occurrencesOf(other),
      result: occurrencesOf(result),
    }),
  );

/**
 * Purchases of one product in one currency: counts and amounts are added up, the first date is the
 * earlier, the last the later. Money of different currencies is never added
 * (decision: docs/decisions/money.md). Amounts are in cents. spec: Merge behaviour.
 */
export const combinePurchases = (
  kept: readonly PurchaseSummary[],
  merged: readonly PurchaseSummary[],
): Combined<PurchaseSummary[]> =>
  combineLists(kept, merged, purchaseKey, addPurchases, (own, other, result) => ({
    field: "purchases",
    name: `${other.productId} (${other.currency})`,
    effect: "added_up",
    kept: own ? purchasesOf(own) : null,
    merged: purchasesOf(other),
    result: purchasesOf(result),
  }));

const purchaseKey = ({ currency, productId }: PurchaseSummary): string =>
  `${currency} ${productId}`;

const addOccurrences = <Total extends Pick<EventSummary, "count" | "firstAt" | "lastAt">>(
  one: Total,
  other: Total,
): Total => ({
  ...one,
  count: one.count + other.count,
  firstAt: earlierOf(one.firstAt, other.firstAt),
  lastAt: laterOf(one.lastAt, other.lastAt),
});

const addPurchases = (one: PurchaseSummary, other: PurchaseSummary): PurchaseSummary => ({
  ...addOccurrences(one, other),
  revenue: addDecimals(one.revenue, other.revenue),
});

const occurrencesOf = ({ count, firstAt, lastAt }: EventSummary | PurchaseSummary) => ({
  count,
  first: firstAt.toISOString(),
  last: lastAt.toISOString(),
});

const purchasesOf = (total: PurchaseSummary): Json => ({
  ...occurrencesOf(total),
  amount_cents: centsOf(total.revenue),
});
