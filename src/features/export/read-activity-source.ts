import { readApps } from "../../core/admin/workspaces/apps.ts";
import { type Queryable, settleAll } from "../../core/database/database.ts";
import type {
  Of,
  RecentEvents,
  RecentPurchases,
  SentMessage,
} from "../../core/people/activity/activity.ts";
import {
  type AppActivity,
  byProfile,
  readAppActivity,
  readRecentActivity,
} from "../../core/people/activity/read-activity.ts";
import { selectSentMessages } from "../../core/people/activity/sent-messages-store.ts";
import type { ActivitySource } from "./activity-view.ts";
import type { ExportField } from "./profile-view.ts";

const APP_ACTIVITY: readonly ExportField[] = [
  "apps",
  "devices",
  "campaigns_received",
  "canvases_received",
  "cards_clicked",
];

const NOTHING: AppActivity = { apps: [], devices: [], interactions: [] };

/** Reads the data that is only read if its field is requested. */
interface OnRequest {
  readonly messages: readonly Of<SentMessage>[];
  readonly recent: {
    readonly events: readonly Of<RecentEvents>[];
    readonly purchases: readonly Of<RecentPurchases>[];
  };
}

export const NOTHING_ON_REQUEST: OnRequest = {
  messages: [],
  recent: { events: [], purchases: [] },
};

/** Reads only the apps, devices, messages and recent days that the fields show. */
export async function readActivitySource(
  tx: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
  fields: readonly ExportField[],
  now: Date,
): Promise<(profileId: string) => ActivitySource> {
  const wants = (...some: readonly ExportField[]) => some.some((field) => fields.includes(field));
  const [appActivity, messages, recent] = await settleAll([
    wants(...APP_ACTIVITY)
      ? readAppActivity(tx, workspaceId, profileIds)
      : Promise.resolve(NOTHING),
    wants("message_history")
      ? selectSentMessages(tx, workspaceId, profileIds)
      : Promise.resolve([]),
    wants("recent_activity")
      ? readRecentActivity(tx, workspaceId, profileIds, now)
      : Promise.resolve({ events: [], purchases: [] }),
  ]);
  return activitySource(tx, workspaceId, { ...appActivity, messages, recent });
}

export async function activitySource(
  tx: Queryable,
  workspaceId: number,
  { messages, recent, ...appActivity }: AppActivity & OnRequest,
): Promise<(profileId: string) => ActivitySource> {
  const declaredApps = appActivity.apps.length > 0 ? await readApps(tx, workspaceId) : [];
  const appsOf = byProfile(appActivity.apps);
  const devicesOf = byProfile(appActivity.devices);
  const interactionsOf = byProfile(appActivity.interactions);
  const messagesOf = byProfile(messages);
  const recentEventsOf = byProfile(recent.events);
  const recentPurchasesOf = byProfile(recent.purchases);
  return (id) => ({
    apps: appsOf(id),
    devices: devicesOf(id),
    interactions: interactionsOf(id),
    declaredApps,
    messages: messagesOf(id),
    recentEvents: recentEventsOf(id),
    recentPurchases: recentPurchasesOf(id),
  });
}
