import type { DeclaredApp } from "../../core/admin/workspaces/apps.ts";
import { addDecimals } from "../../core/base/values/decimals.ts";
import {
  type AppUsage,
  type Device,
  type Interaction,
  type InteractionKind,
  RECENT_DAYS,
  type RecentEvents,
  type RecentPurchases,
  type SentMessage,
} from "../../core/people/activity/activity.ts";
import { LAST_TIME } from "../../core/people/identity/combine/fields.ts";
import type { ShownProfile } from "../../core/people/profiles/export-store.ts";
import { isoTime } from "./iso-time.ts";

/* The exported fields of apps, devices, messages and recent days, under their public names. */

/**
 * The data that was read about one person for these fields; empty if none of them was requested.
 */
export interface ActivitySource {
  readonly apps: readonly AppUsage[];
  readonly devices: readonly Device[];
  readonly interactions: readonly Interaction[];
  readonly declaredApps: readonly DeclaredApp[];
  readonly messages: readonly SentMessage[];
  readonly recentEvents: readonly RecentEvents[];
  readonly recentPurchases: readonly RecentPurchases[];
}

interface ShownUser {
  readonly profile: ShownProfile;
  readonly activity: ActivitySource;
}

export function appsView(source: ShownUser): unknown[] {
  const { apps, declaredApps } = source.activity;
  return apps.map((usage) => {
    const app = declaredApps.find((each) => each.id === usage.appId);
    return {
      app_id: usage.appId,
      name: app?.name ?? null,
      platform: app?.platform ?? null,
      version: usage.version,
      sessions: usage.sessions,
      first_used: isoTime(usage.firstUsedAt),
      last_used: isoTime(usage.lastUsedAt),
    };
  });
}

export const devicesView = (source: ShownUser): unknown[] =>
  source.activity.devices.map(({ deviceId, details }) => ({ device_id: deviceId, ...details }));

/** Campaigns, canvases or cards, each under the name that its id goes by. */
export const interactionsView =
  (kind: InteractionKind, idName: string) =>
  (source: ShownUser): unknown[] =>
    source.activity.interactions
      .filter((each) => each.kind === kind)
      .map(({ id, details }) => ({ [idName]: id, ...details }));

/** The Last_X_at fields. */
export const engagementTimesView = ({ profile }: ShownUser): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(profile.standardAttributes).filter(([name]) => LAST_TIME.test(name)),
  );

/** The newest first. */
export const messagesView = (source: ShownUser): unknown[] =>
  source.activity.messages.map((message) => ({
    message_id: message.messageId,
    channel: message.channel,
    sent_at: isoTime(message.sentAt),
    ...message.details,
  }));

/** How often and for how much in the last days, from the events and purchases themselves. */
export function recentActivityView(source: ShownUser): unknown[] {
  const events = source.activity.recentEvents;
  const purchases = source.activity.recentPurchases;
  return RECENT_DAYS.map((days) => {
    const bought = purchases.filter((row) => row.days === days);
    return {
      days,
      custom_events: events
        .filter((row) => row.days === days)
        .map(({ name, count }) => ({ name, count })),
      purchases: bought.map(({ productId, currency, count, revenue }) => ({
        name: productId,
        currency,
        count,
        revenue: Number(revenue),
      })),
      purchase_count: bought.reduce((sum, row) => sum + row.count, 0),
      total_revenue: Number(bought.map((row) => row.revenue).reduce(addDecimals, "0")),
    };
  });
}
