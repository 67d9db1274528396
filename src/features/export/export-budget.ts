import { Problem } from "../../core/base/problem.ts";
import { type Queryable, settleAll } from "../../core/database/database.ts";
import { type ActivityPart, measureActivity } from "../../core/people/activity/size-store.ts";
import { measureProfiles } from "../../core/people/profiles/export-store.ts";
import type { ExportField } from "./profile-view.ts";

/**
 * Bytes of one response: an amount that can be built and written without stalling the event loop
 * for 50 ms.
 */
export const MOST_BYTES = 4 * 1_048_576;

/** Fields that are read together: all of them have to be left out to save the bytes. */
export const FIELDS_OF: Readonly<Record<ActivityPart, readonly ExportField[]>> = {
  custom_events: ["custom_events"],
  purchases: ["purchases", "total_revenue", "revenue_by_currency"],
  apps: ["apps"],
  devices: ["devices"],
  interactions: ["campaigns_received", "canvases_received", "cards_clicked"],
  message_history: ["message_history"],
};

/** `recent_activity` counts each event and product once in each of its windows. */
const RECENT_WINDOWS = 6;

/**
 * Measures the data of an export before it is read.
 *
 * @throws Problem INVALID_REQUEST over the budget; it names what is large and how to ask for less.
 */
export async function refuseLargeExport(
  tx: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
  fields: readonly ExportField[],
): Promise<void> {
  if (profileIds.length === 0) return;
  const [attributes, activity] = await settleAll([
    measureProfiles(tx, workspaceId, profileIds),
    measureActivity(tx, workspaceId, profileIds),
  ]);
  refuseOverBudget(attributes, activity, fields);
}

/**
 * Refuses an export over the budget, from sizes that are known.
 *
 * @param attributes bytes of all profiles.
 */
export function refuseOverBudget(
  attributes: number,
  activity: ReadonlyMap<ActivityPart, number>,
  fields: readonly ExportField[],
): void {
  const sizes: { readonly name: string; readonly bytes: number }[] = [
    { name: "attributes", bytes: attributes },
  ];
  for (const [part, bytes] of activity) {
    const shown = FIELDS_OF[part].filter((field) => fields.includes(field));
    if (shown.length > 0)
      sizes.push({ name: shown.map((field) => `'${field}'`).join(", "), bytes });
  }
  if (fields.includes("recent_activity")) {
    const counted = (activity.get("custom_events") ?? 0) + (activity.get("purchases") ?? 0);
    sizes.push({ name: "'recent_activity'", bytes: RECENT_WINDOWS * counted });
  }
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0);
  if (bytes <= MOST_BYTES) return;
  const largest = sizes.reduce((one, other) => (other.bytes > one.bytes ? other : one));
  throw new Problem(
    "INVALID_REQUEST",
    `The response would take about ${bytes} bytes, more than the ${MOST_BYTES} allowed; ` +
      `${largest.name} take ${largest.bytes} of them. ` +
      "Export fewer users at a time, or leave large fields out of 'fields_to_export'.",
  );
}
