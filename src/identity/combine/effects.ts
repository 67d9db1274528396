import type { Json } from "../../values/plain-json.ts";

/**
 * What becomes of a thing that the merged profile has:
 * - `taken`: the kept profile lacked it and has it now;
 * - `kept`: the kept profile's own stands, the merged one's is dropped;
 * - `added_up`, `earlier`, `later`, `combined`: worked out from both;
 * - `freed`, `redirected`: the merged external_id is free, or leads to the kept profile;
 * - `removed`: it is gone with a user who is deleted;
 * - `left`: it does not come over and is gone with the merged profile (`merge_behavior: none`).
 */
export type EffectKind =
  | "taken"
  | "kept"
  | "added_up"
  | "earlier"
  | "later"
  | "combined"
  | "freed"
  | "redirected"
  | "removed"
  | "left";

/** What a merge does to one thing that the merged profile has. */
export interface Effect {
  /** As export names it, such as `first_name`, `custom_attributes` or `custom_events`. */
  readonly field: string;
  /** Which one of the field's: the attribute, the event, the app. */
  readonly name?: string;
  readonly effect: EffectKind;
  /** What both have, and what the kept profile has afterwards; null where there is nothing. */
  readonly kept: Json;
  readonly merged: Json;
  readonly result: Json;
}

/** A result, and how it came about. */
export interface Combined<Value> {
  readonly value: Value;
  readonly effects: readonly Effect[];
}

/** How much of the merged profile comes over. */
export type Extent =
  /** spec: Merge behaviour. */
  | "all"
  /** spec: POST /users/identify, merge: the same without device information. */
  | "all_but_devices"
  /** spec: POST /users/identify, none: only push tokens and message history. */
  | "tokens_and_messages";

/**
 * Two lists of things identified by a key, as one: what only one side has is kept as it is,
 * what both have is combined. The kept side's order comes first.
 */
export function combineLists<Thing>(
  kept: readonly Thing[],
  merged: readonly Thing[],
  keyOf: (thing: Thing) => string,
  combine: (kept: Thing, merged: Thing) => Thing,
  describe: (kept: Thing | undefined, merged: Thing, result: Thing) => Effect,
): Combined<Thing[]> {
  const things = new Map(kept.map((thing) => [keyOf(thing), thing]));
  const effects: Effect[] = [];
  for (const thing of merged) {
    const own = things.get(keyOf(thing));
    const result = own === undefined ? thing : combine(own, thing);
    things.set(keyOf(thing), result);
    effects.push(describe(own, thing, result));
  }
  return { value: [...things.values()], effects };
}

/** What would come over, but stays behind: the kept side is as it was. */
export const leftBehind = <Value>(kept: Value, { effects }: Combined<Value>): Combined<Value> => ({
  value: kept,
  effects: effects.map((effect) => ({ ...effect, effect: "left", result: effect.kept })),
});

export const earlierOf = (one: Date, other: Date): Date => (other < one ? other : one);

export const laterOf = (one: Date, other: Date): Date => (other > one ? other : one);
