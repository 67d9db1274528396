import { MOST_OBJECT_BYTES } from "../../../base/context/custom-attribute-bounds.ts";
import { accepted, type Checked } from "../../../base/problem.ts";
import { describeValue, listed } from "../../../base/values/describe-value.ts";
import { refusedAt } from "../../../base/values/findings.ts";
import {
  isJsonObject,
  type Json,
  type JsonObject,
  jsonByteLength,
} from "../../../base/values/plain-json.ts";
import { mergeDeep, tooLarge } from "./nested-values.ts";
import { type Identifier, type ObjectChange, operators, type Update } from "./object-arrays.ts";
import type { Scalar } from "./scalar-arrays.ts";
import { spend, type WorkBudgets, workLimitExceeded } from "./work-budgets.ts";

/** The value after a change, and the parts of the change that matched no object. */
export interface ChangedObjects {
  readonly value: readonly Json[] | undefined;
  /** Such as `$update[1]`. */
  readonly unmatched: readonly string[];
}

/**
 * Applies a change to the attribute's value; undefined is an absent attribute.
 *
 * First the objects of `$add` are appended, then those of `$remove` are removed, then those of
 * `$update` are changed one after the other: the documented order, in which an update reaches an
 * object that the same request adds. An identifier applies to every matching object; without a
 * match it changes nothing and is named. An update merges `$new_object` into the match if
 * `mergeObjects` is true, otherwise replaces the match. An absent attribute stays absent if nothing
 * is added. A null in the array stays.
 *
 * The work is one look at each object for each identifier key, and the copies that updates make. It
 * is counted, because one short update can match every object.
 * Faults: `NOT_AN_ARRAY`, `OBJECT_TOO_LARGE`, `WORK_LIMIT_EXCEEDED`. docs/decisions/work-of-updates.md
 */
export function changeObjects(
  name: string,
  current: Json | undefined,
  change: ObjectChange,
  mergeObjects: boolean,
  budgets: WorkBudgets,
): Checked<ChangedObjects> {
  const before = current ?? [];
  if (!isArrayOfObjects(before)) {
    const holds = Array.isArray(before) ? "an array of scalars" : describeValue(before);
    const reason = `${listed(operators)} change an array of objects, not ${holds}`;
    return refusedAt(name, "NOT_AN_ARRAY", reason);
  }
  const removals = indexOf(change.remove);
  const updates = { list: change.update, index: indexOf(change.update), mergeObjects };
  const looks = 1 + removals.size + updates.index.size;
  const all = [...before, ...change.add];
  if (!spend(budgets, all.length * looks)) return { fault: workLimitExceeded(name, budgets) };

  const after: Json[] = [];
  const removed = new Set<number>();
  const updated = new Set<number>();
  let bytes = "[".length;
  for (const object of all) {
    if (object !== null && matchAll(removals, object, removed)) continue;
    const changed = object && update(object, updates, updated, budgets);
    if (changed === undefined) return { fault: workLimitExceeded(name, budgets) };
    bytes += jsonByteLength(changed) + 1;
    if (bytes > MOST_OBJECT_BYTES) return { fault: tooLarge(name) };
    after.push(changed);
  }
  return accepted({
    value: current === undefined && change.add.length === 0 ? undefined : after,
    unmatched: [
      ...missing("$update", change.update, updated),
      ...missing("$remove", change.remove, removed),
    ],
  });
}

const isArrayOfObjects = (value: Json): value is readonly (JsonObject | null)[] =>
  Array.isArray(value) && value.every((element) => element === null || isJsonObject(element));

const missing = (
  operator: string,
  identifiers: readonly Identifier[],
  matched: ReadonlySet<number>,
): string[] =>
  identifiers.flatMap((_, place) => (matched.has(place) ? [] : [`${operator}[${place}]`]));

/** The positions of identifiers in their list, by key and value. */
type Index = ReadonlyMap<string, ReadonlyMap<Json, readonly number[]>>;

function indexOf(identifiers: readonly Identifier[]): Index {
  const index = new Map<string, Map<Scalar, number[]>>();
  for (const [place, { key, value }] of identifiers.entries()) {
    const values = index.get(key) ?? new Map<Scalar, number[]>();
    const places = values.get(value) ?? [];
    places.push(place);
    index.set(key, values.set(value, places));
  }
  return index;
}

/** Whether an identifier matches an object; notes the places of all that do. */
function matchAll(index: Index, object: JsonObject, matched: Set<number>): boolean {
  let isMatch = false;
  for (const [key, values] of index) {
    const places = placesOf(values, object, key);
    if (places === undefined) continue;
    isMatch = true;
    // Identifiers that are equal match together.
    if (!matched.has(places[0] as number)) for (const place of places) matched.add(place);
  }
  return isMatch;
}

const placesOf = (
  values: ReadonlyMap<Json, readonly number[]>,
  object: JsonObject,
  key: string,
): readonly number[] | undefined => {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return value === undefined ? undefined : values.get(value);
};

/** The place of the first identifier, from a place on, that matches an object. */
function nextMatch(index: Index, object: JsonObject, from: number): number | undefined {
  let first: number | undefined;
  for (const [key, values] of index) {
    const places = placesOf(values, object, key);
    const place = places && firstFrom(places, from);
    if (place !== undefined && (first === undefined || place < first)) first = place;
  }
  return first;
}

/** The first of ascending numbers that is not below another, by halving. */
function firstFrom(ascending: readonly number[], from: number): number | undefined {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] as number) < from) low = middle + 1;
    else high = middle;
  }
  return ascending[low];
}

interface Updates {
  readonly list: readonly Update[];
  readonly index: Index;
  readonly mergeObjects: boolean;
}

/**
 * An object after all updates that match it, in their order; undefined when the budget is spent.
 * Notes their places.
 */
function update(
  object: JsonObject,
  { list, index, mergeObjects }: Updates,
  updated: Set<number>,
  budgets: WorkBudgets,
): JsonObject | undefined {
  let after = object;
  let size: number | undefined;
  let place = nextMatch(index, after, 0);
  while (place !== undefined) {
    updated.add(place);
    const { object: replacement, bytes } = list[place] as Update;
    // Merging copies at most the original object and every replacement so far.
    size = mergeObjects ? (size ?? jsonByteLength(object)) + bytes : bytes;
    if (!spend(budgets, index.size + Math.ceil(size / BYTES_OF_UNIT))) return undefined;
    after = mergeObjects ? mergeDeep(after, replacement) : replacement;
    place = nextMatch(index, after, place + 1);
  }
  return after;
}

/** About one key and its value. */
const BYTES_OF_UNIT = 16;
