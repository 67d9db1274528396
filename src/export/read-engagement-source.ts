import { allDone, type Queryable } from "../database/database.ts";
import { readEngagement, readMessages } from "../engagement/engagement.ts";
import { readRecentActivity } from "../track/histories.ts";
import { readApps } from "../workspaces/apps.ts";
import type { EngagementSource } from "./engagement-view.ts";
import type { ExportField } from "./profile-view.ts";

const ENGAGEMENT: readonly ExportField[] = [
  "apps",
  "devices",
  "campaigns_received",
  "canvases_received",
  "cards_clicked",
];

const NOTHING: EngagementSource = {
  apps: [],
  devices: [],
  interactions: [],
  declaredApps: [],
  messages: [],
  recentEvents: [],
  recentPurchases: [],
};

/** Reads of apps, devices, messages and recent days what the fields show, and nothing else. */
export async function readEngagementSource(
  tx: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
  fields: readonly ExportField[],
  now: Date,
): Promise<EngagementSource> {
  const wants = (...some: readonly ExportField[]) => some.some((field) => fields.includes(field));
  const [engagement, messages, recent] = await allDone([
    wants(...ENGAGEMENT) ? readEngagement(tx, workspaceId, profileIds) : Promise.resolve(NOTHING),
    wants("message_history") ? readMessages(tx, workspaceId, profileIds) : Promise.resolve([]),
    wants("recent_activity")
      ? readRecentActivity(tx, workspaceId, profileIds, now)
      : Promise.resolve({ events: [], purchases: [] }),
  ]);
  return {
    ...engagement,
    declaredApps: engagement.apps.length > 0 ? await readApps(tx, workspaceId) : [],
    messages,
    recentEvents: recent.events,
    recentPurchases: recent.purchases,
  };
}
