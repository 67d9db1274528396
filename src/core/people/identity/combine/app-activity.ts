import { isJsonObject, type Json, type JsonObject } from "../../../base/values/plain-json.ts";
import type { AppUsage, Device, Interaction, InteractionKind } from "../../activity/activity.ts";
import {
  type Combined,
  combineLists,
  type Effect,
  type EffectKind,
  earlierOf,
  laterOf,
} from "./effects.ts";
import type { HeldGroupState } from "./whole.ts";

/**
 * App summaries. Sessions are added up only for apps that both profiles have; the summary of any
 * other app is copied with its sessions. docs/decisions/sessions-in-merges.md
 */
export const combineApps = (
  kept: readonly AppUsage[],
  merged: readonly AppUsage[],
): Combined<AppUsage[]> =>
  combineLists(
    kept,
    merged,
    ({ appId }) => appId,
    combineSessions,
    (own, other, result) => ({
      field: "apps",
      name: other.appId,
      effect: own ? "added_up" : "taken",
      kept: own ? usageOf(own) : null,
      merged: usageOf(other),
      result: usageOf(result),
    }),
  );

/** Takes the version that was used last. */
export const combineSessions = (one: AppUsage, other: AppUsage): AppUsage => ({
  appId: one.appId,
  version: (other.lastUsedAt > one.lastUsedAt ? other.version : one.version) ?? other.version,
  sessions: one.sessions + other.sessions,
  firstUsedAt: earlierOf(one.firstUsedAt, other.firstUsedAt),
  lastUsedAt: laterOf(one.lastUsedAt, other.lastUsedAt),
});

const usageOf = ({ version, sessions, firstUsedAt, lastUsedAt }: AppUsage): Json => ({
  version,
  sessions,
  first_used: firstUsedAt.toISOString(),
  last_used: lastUsedAt.toISOString(),
});

/** Devices are taken only if the kept profile has none. spec: Merge behaviour, device info. */
export function combineDevices(
  kept: readonly Device[],
  merged: readonly Device[],
): Combined<Device[]> {
  const isTaken = kept.length === 0;
  const own = new Map(kept.map(({ deviceId, details }) => [deviceId, details]));
  const effects = merged.map(({ deviceId, details }): Effect => {
    const present = own.get(deviceId) ?? null;
    const effect = isTaken ? "taken" : present ? "kept" : "left";
    const result = isTaken ? details : present;
    return { field: "devices", name: deviceId, effect, kept: present, merged: details, result };
  });
  return { value: isTaken ? [...merged] : [...kept], effects };
}

const takenOr = (effect: EffectKind, own: unknown): EffectKind =>
  own === undefined ? "taken" : effect;

/** Only missing states are copied. docs/decisions/merging.md */
export const combineGroupStates = (
  kept: readonly HeldGroupState[],
  merged: readonly HeldGroupState[],
): Combined<HeldGroupState[]> =>
  combineLists(
    kept,
    merged,
    ({ groupId }) => groupId,
    (own) => own,
    (own, other, result) => ({
      field: "subscription_groups",
      name: other.groupId,
      effect: takenOr("kept", own),
      kept: own?.state ?? null,
      merged: other.state,
      result: result.state,
    }),
  );

export const FIELD_OF: Readonly<Record<InteractionKind, string>> = {
  campaign: "campaigns_received",
  canvas: "canvases_received",
  card: "cards_clicked",
};

/**
 * Interactions with campaigns, canvases and cards. If both profiles have it, every date becomes the
 * later one, a flag is true if it is on either, and the rest comes from the profile with the latest
 * date. spec: Merge behaviour, most recent date.
 */
export const combineInteractions = (
  kept: readonly Interaction[],
  merged: readonly Interaction[],
): Combined<Interaction[]> =>
  combineLists(kept, merged, interactionKey, combineInteraction, (own, other, result) => ({
    field: FIELD_OF[other.kind],
    name: other.id,
    effect: takenOr("later", own),
    kept: own?.details ?? null,
    merged: other.details,
    result: result.details,
  }));

export const interactionKey = ({ kind, id }: Interaction): string => `${kind} ${id}`;

export const combineInteraction = (one: Interaction, other: Interaction): Interaction => ({
  ...one,
  details: combineDetails(one.details, other.details),
});

function combineDetails(one: JsonObject, other: JsonObject): JsonObject {
  const isNewer = latestTime(other) > latestTime(one);
  const [older, newer] = isNewer ? [one, other] : [other, one];
  const details = new Map<string, Json>(Object.entries({ ...older, ...newer }));
  for (const [name, value] of details) {
    const [a, b] = [one[name], other[name]];
    if (a === undefined || b === undefined) continue;
    details.set(name, combineDetail(name, a, b) ?? value);
  }
  return Object.fromEntries(details);
}

/** Flags that are true if they are on either profile. */
const DONE = new Set(["converted", "multiple_converted"]);

function combineDetail(name: string, a: Json, b: Json): Json | undefined {
  if (isTimeName(name)) return Date.parse(String(b)) > Date.parse(String(a)) ? b : a;
  if (DONE.has(name)) return a === true || b === true;
  if (name === "engaged" && isJsonObject(a) && isJsonObject(b)) return uniteFlags(a, b);
  if (name === "steps_received") return uniteSteps(a as Step[], b as Step[]);
  return undefined;
}

const isTimeName = (name: string): boolean => name.startsWith("last_");

const latestTime = (details: JsonObject): number =>
  Math.max(
    0,
    ...Object.entries(details).map(([name, value]) =>
      isTimeName(name) ? Date.parse(String(value)) : 0,
    ),
  );

const uniteFlags = (a: JsonObject, b: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.keys({ ...a, ...b }).map((name) => [name, a[name] === true || b[name] === true]),
  );

type Step = JsonObject & { readonly api_canvas_step_id: string };

function uniteSteps(one: readonly Step[], other: readonly Step[]): Step[] {
  const steps = new Map(one.map((step) => [step.api_canvas_step_id, step]));
  for (const step of other) {
    const own = steps.get(step.api_canvas_step_id);
    steps.set(step.api_canvas_step_id, own ? (combineDetails(own, step) as Step) : step);
  }
  return [...steps.values()];
}
