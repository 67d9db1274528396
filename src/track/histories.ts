import { allDone, type Queryable, type Transaction } from "../database/database.ts";
import {
  copyEventsAndPurchases,
  deleteEventsAndPurchases,
  type EventSummary,
  type PurchaseSummary,
  type RecentEvents,
  type RecentPurchases,
  selectRecentEvents,
  selectRecentPurchases,
  upsertEventSummaries,
  upsertPurchaseSummaries,
} from "./store.ts";

export type { RecentEvents, RecentPurchases } from "./store.ts";

/** Whose things become whose: the profile at an index of `from` gives them to that in `to`. */
export interface Moves {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** What the summaries of profiles are now; those that do not change may be left out. */
export interface Summaries {
  readonly events: readonly EventSummary[];
  readonly purchases: readonly PurchaseSummary[];
}

/**
 * Moves all events and purchases, each unchanged and once, and sets the summaries of the profiles
 * that have them now. All profiles must be locked by the transaction.
 */
export async function moveHistories(
  tx: Transaction,
  workspaceId: number,
  { from, to }: Moves,
  summaries: Summaries,
): Promise<void> {
  if (from.length === 0) return;
  await allDone([
    copyEventsAndPurchases(tx, workspaceId, from, to),
    deleteEventsAndPurchases(tx, workspaceId, from),
    upsertEventSummaries(tx, workspaceId, summaries.events),
    upsertPurchaseSummaries(tx, workspaceId, summaries.purchases),
  ]);
}

/** Removes all events and purchases of profiles, which the transaction has locked. */
export async function removeHistories(
  tx: Transaction,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<void> {
  if (profileIds.length > 0) await deleteEventsAndPurchases(tx, workspaceId, profileIds);
}

/** For how many days back things are counted. spec: Merge behaviour, X times in Y days, Y <= 30. */
export const RECENT_DAYS = [1, 3, 7, 14, 21, 30] as const;

const DAY_MS = 24 * 3_600 * 1_000;

/** What the profiles did in the last days, counted from the events and purchases themselves. */
export async function readRecentActivity(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
  now: Date,
): Promise<{ events: RecentEvents[]; purchases: RecentPurchases[] }> {
  const windows = RECENT_DAYS.map((days) => ({
    days,
    since: new Date(now.getTime() - days * DAY_MS),
  }));
  const [events, purchases] = await allDone([
    selectRecentEvents(database, workspaceId, profileIds, windows),
    selectRecentPurchases(database, workspaceId, profileIds, windows),
  ]);
  return { events, purchases };
}
