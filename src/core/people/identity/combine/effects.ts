import type { Json } from "../../../base/values/plain-json.ts";

/**
 * What happens to a value of the merged profile:
 * - `taken`: the kept profile had none and receives it;
 * - `kept`: the kept profile keeps its own, the merged one's is dropped;
 * - `added_up`, `earlier`, `later`, `combined`: computed from both;
 * - `freed`, `redirected`: the merged external_id is free, or leads to the kept profile;
 * - `removed`: deleted with its user;
 * - `left`: not taken, and deleted with the merged profile (`merge_behavior: none`, and devices).
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

/** The effect of a merge on one value of the merged profile. */
export interface Effect {
  /** As export names it, such as `first_name`, `custom_attributes` or `custom_events`. */
  readonly field: string;
  /** The attribute, the event or the app within the field. */
  readonly name?: string;
  readonly effect: EffectKind;
  /**
   * The values of both profiles, and the kept profile's value afterwards; null if there is none.
   */
  readonly kept: Json;
  readonly merged: Json;
  readonly result: Json;
}

export interface Combined<Value> {
  readonly value: Value;
  readonly effects: readonly Effect[];
}

export type Extent =
  /** spec: Merge behaviour. */
  | "all"
  /** spec: POST /users/identify, merge: the same without device information. */
  | "all_but_devices"
  /** spec: POST /users/identify, none: only push tokens and message history. */
  | "tokens_and_messages";

/** Unites two lists by key, the kept side first; entries that both have are combined. */
export function combineLists<Item>(
  kept: readonly Item[],
  merged: readonly Item[],
  keyOf: (item: Item) => string,
  combine: (kept: Item, merged: Item) => Item,
  describe: (kept: Item | undefined, merged: Item, result: Item) => Effect,
): Combined<Item[]> {
  const items = new Map(kept.map((item) => [keyOf(item), item]));
  const effects: Effect[] = [];
  for (const item of merged) {
    const own = items.get(keyOf(item));
    const result = own === undefined ? item : combine(own, item);
    items.set(keyOf(item), result);
    effects.push(describe(own, item, result));
  }
  return { value: [...items.values()], effects };
}

/** The kept side unchanged, with the effects marked as `left`. */
export const leftBehind = <Value>(kept: Value, { effects }: Combined<Value>): Combined<Value> => ({
  value: kept,
  effects: effects.map((effect) => ({ ...effect, effect: "left", result: effect.kept })),
});

export const earlierOf = (one: Date, other: Date): Date => (other < one ? other : one);

export const laterOf = (one: Date, other: Date): Date => (other > one ? other : one);
