import { earlier } from "../../base/clock.ts";
import { groupBy } from "../../base/values/group-by.ts";
import { type Queryable, settleAll } from "../../database/database.ts";
import {
  type AppUsage,
  type Device,
  type EventSummary,
  type Interaction,
  type Of,
  type PurchaseSummary,
  RECENT_DAYS,
  type RecentEvents,
  type RecentPurchases,
} from "./activity.ts";
import { selectAppUsages, selectDevices, selectInteractions } from "./app-activity-store.ts";
import { selectEventSummaries, selectRecentEvents } from "./events-store.ts";
import { selectPurchaseSummaries, selectRecentPurchases } from "./purchases-store.ts";
import { countSentMessages } from "./sent-messages-store.ts";

export function byProfile<Row extends { readonly profileId: string }>(
  rows: readonly Row[],
): (profileId: string) => readonly Row[] {
  const groups = groupBy(rows, (row) => row.profileId);
  return (profileId) => groups.get(profileId) ?? [];
}

/** The summaries of all events and products of the profiles. */
export async function readSummaries(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<{ events: Of<EventSummary>[]; purchases: Of<PurchaseSummary>[] }> {
  const [events, purchases] = await settleAll([
    selectEventSummaries(database, workspaceId, profileIds),
    selectPurchaseSummaries(database, workspaceId, profileIds),
  ]);
  return { events, purchases };
}

/** The use of apps and devices, and interactions with campaigns, canvases and cards. */
export interface AppActivity {
  readonly apps: readonly Of<AppUsage>[];
  readonly devices: readonly Of<Device>[];
  readonly interactions: readonly Of<Interaction>[];
}

/** Reads apps, devices and interactions of profiles, in three statements at once. */
export async function readAppActivity(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<AppActivity> {
  const [apps, devices, interactions] = await settleAll([
    selectAppUsages(database, workspaceId, profileIds),
    selectDevices(database, workspaceId, profileIds),
    selectInteractions(database, workspaceId, profileIds),
  ]);
  return { apps, devices, interactions };
}

/** How many messages each profile has; profiles without any are omitted. */
export async function readMessageCounts(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await countSentMessages(database, workspaceId, profileIds);
  return new Map(rows.map((row) => [row.profileId, row.messages]));
}

/** Recent activity of the profiles, counted from the events and purchases themselves. */
export async function readRecentActivity(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
  now: Date,
): Promise<{ events: Of<RecentEvents>[]; purchases: Of<RecentPurchases>[] }> {
  const windows = RECENT_DAYS.map((days) => ({ days, since: earlier(now, { days }) }));
  const [events, purchases] = await settleAll([
    selectRecentEvents(database, workspaceId, profileIds, windows),
    selectRecentPurchases(database, workspaceId, profileIds, windows),
  ]);
  return { events, purchases };
}
