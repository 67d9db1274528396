import { allDone, type Queryable } from "../database/database.ts";
import {
  type EventSummary,
  type PurchaseSummary,
  selectEventSummaries,
  selectPurchaseSummaries,
} from "./store.ts";

export type { EventSummary, PurchaseSummary } from "./store.ts";

/** How often, when first and last: of every event and product of the profiles. */
export async function readSummaries(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<{ events: EventSummary[]; purchases: PurchaseSummary[] }> {
  const [events, purchases] = await allDone([
    selectEventSummaries(database, workspaceId, profileIds),
    selectPurchaseSummaries(database, workspaceId, profileIds),
  ]);
  return { events, purchases };
}
