import { addDecimals, centsOf } from "../../../base/values/decimals.ts";
import { sum } from "../../../base/values/sum.ts";
import {
  combineApps,
  combineDevices,
  combineGroupStates,
  combineInteractions,
} from "./app-activity.ts";
import { type Combined, type Effect, type Extent, leftBehind } from "./effects.ts";
import { combineFields } from "./fields.ts";
import { combineEvents, combinePurchases } from "./summaries.ts";
import type { Belongings, Whole } from "./whole.ts";

/*
 * How two profiles become one. spec: POST /users/merge, Merge behaviour.
 *
 * One profile is kept, the other is merged into it and removed. The kept profile loses nothing, and the
 * result depends only on the two profiles and two arguments. There are three rules:
 *
 * - Single values (a name, an address, a custom attribute, a group state, a device's model) are taken only
 *   if the kept profile has none.
 * - Counters (sessions, events, purchases, money) are added up per app, event, product and currency, with
 *   the earlier first date and the later last date.
 * - The time when something last happened (Last_X_at fields, campaigns, canvases) becomes the later one.
 *
 * The events, purchases and messages themselves move unchanged (core/people/activity/write-activity.ts).
 *
 * Each step reports its effects, which a dry run returns and the audit records.
 */

/** Merges one profile into another. `extent` says how much is taken. */
export function combine(
  kept: Whole,
  merged: Whole,
  extent: Extent,
  redirects: boolean,
): Combined<Whole> {
  const profile = combineFields(kept.profile, merged.profile, extent, redirects);
  const belongings = combineBelongings(kept.belongings, merged.belongings, extent);
  return {
    value: { profile: profile.value, belongings: belongings.value },
    effects: [...profile.effects, ...belongings.effects],
  };
}

/** Combines the data of the two profiles outside their rows. */
export function combineBelongings(
  kept: Belongings,
  merged: Belongings,
  extent: Extent,
): Combined<Belongings> {
  const part = <Key extends keyof Belongings>(
    key: Key,
    combineThem: (own: Belongings[Key], other: Belongings[Key]) => Combined<Belongings[Key]>,
    isLeft = extent === "tokens_and_messages",
  ): Combined<Belongings[Key]> => {
    const combined = combineThem(kept[key], merged[key]);
    return isLeft ? leftBehind(kept[key], combined) : combined;
  };
  const events = part("events", combineEvents);
  const purchases = part("purchases", combinePurchases);
  const groupStates = part("groupStates", combineGroupStates);
  const apps = part("apps", combineApps);
  const devices = part("devices", combineDevices, extent !== "all");
  const interactions = part("interactions", combineInteractions);
  const messages = kept.messages + merged.messages;
  const value: Belongings = {
    events: events.value,
    purchases: purchases.value,
    groupStates: groupStates.value,
    apps: apps.value,
    devices: devices.value,
    interactions: interactions.value,
    messages,
  };
  const effects = [
    ...events.effects,
    ...purchases.effects,
    ...groupStates.effects,
    ...apps.effects,
    ...devices.effects,
    ...interactions.effects,
    ...sumEffects(kept, merged, value),
  ];
  return { value, effects };
}

const SUMS: readonly (readonly [field: string, sum: (belongings: Belongings) => number])[] = [
  ["session_count", ({ apps }) => sum(apps.map((app) => app.sessions))],
  ["purchase_count", ({ purchases }) => sum(purchases.map((total) => total.count))],
  [
    "purchase_amount_cents",
    ({ purchases }) => centsOf(purchases.map((total) => total.revenue).reduce(addDecimals, "0")),
  ],
  ["message_history", ({ messages }) => messages],
];

/** The totals over all apps, products and currencies, if the merged profile has any. */
const sumEffects = (kept: Belongings, merged: Belongings, result: Belongings): Effect[] =>
  SUMS.flatMap(([field, sum]) =>
    sum(merged) === 0
      ? []
      : [
          {
            field,
            effect: sum(result) === sum(kept) ? "left" : "added_up",
            kept: sum(kept),
            merged: sum(merged),
            result: sum(result),
          },
        ],
  );
