import type { Workspace } from "../base/context/workspace.ts";
import type { Intake } from "../base/context/workspace-settings.ts";
import { type Checked, type Fault, Problem, refused } from "../base/problem.ts";
import { startTurns } from "../base/turns.ts";
import { findUnstorable, isJsonObject } from "../base/values/plain-json.ts";
import { errorOf } from "../base/verdicts.ts";
import { BLOCKED, identifierKey } from "../people/profiles/identifiers.ts";
import { type CheckedItem, checkAttributes, leftOut } from "./check-attributes.ts";
import { checkEvent } from "./check-event.ts";
import { type RawItem, withWireNames } from "./check-identity.ts";
import { checkPurchase } from "./check-purchase.ts";
import { INPUT_ARRAYS, type InputArray, type Item, type Placed } from "./item.ts";

export type TrackBody = Partial<Record<InputArray, readonly unknown[]>>;

export interface CheckedRequest {
  readonly items: readonly Item[];
  readonly faults: readonly Placed<Fault>[];
  /** Attributes that were left out of objects that are written. */
  readonly dropped: readonly Placed<Fault>[];
}

/** How many objects a request may hold. */
export interface Capacity {
  readonly objects: number;
  /** The most of these with the same identifier. */
  readonly perUser?: number;
}

/**
 * Checks every object of a track request on its own, in the order of application. Between large ones others get
 * a turn.
 *
 * @throws Problem INVALID_REQUEST when there are more objects than the request may hold.
 */
export async function checkRequest(
  workspace: Workspace,
  body: TrackBody,
  now: Date,
  capacity: Capacity,
): Promise<CheckedRequest> {
  refuseTooMany(body, capacity.objects);
  const items: Item[] = [];
  const faults: Placed<Fault>[] = [];
  const dropped: Placed<Fault>[] = [];
  const { intake } = workspace.settings;
  const turns = startTurns();
  for (const array of INPUT_ARRAYS) {
    for (const [index, raw] of (body[array] ?? []).entries()) {
      const checked = checkItem(workspace, array, raw, now, intake);
      if ("fault" in checked) faults.push({ array, index, value: checked.fault });
      else {
        items.push(itemAt(array, index, checked.value));
        for (const value of checked.value.dropped ?? []) dropped.push({ array, index, value });
      }
      if (turns.isOver()) await turns.next();
    }
  }
  if (capacity.perUser !== undefined) refuseTooManyOfOneUser(items, capacity.perUser);
  return { items, faults, dropped };
}

/** Names the first object beyond the limit. */
function refuseTooMany(body: TrackBody, limit: number): void {
  let room = limit;
  for (const array of INPUT_ARRAYS) {
    const { length } = body[array] ?? [];
    if (length > room) throw requestProblem("Max Input Length Exceeded", array, room);
    room -= length;
  }
}

/** Names the first object beyond the limit of its user. */
function refuseTooManyOfOneUser(items: readonly Item[], limit: number): void {
  const counts = new Map<string, number>();
  for (const { identifier, array, index } of items) {
    const key = identifierKey(identifier);
    const count = (counts.get(key) ?? 0) + 1;
    if (count > limit) {
      throw requestProblem(`A request may hold at most ${limit} objects of one user`, array, index);
    }
    counts.set(key, count);
  }
}

/** Refuses the request, with the error at the object or the array that is to blame. */
export function requestProblem(message: string, array: InputArray, index: number): Problem {
  const value = { code: "INVALID_REQUEST", message };
  return new Problem("INVALID_REQUEST", message, {
    body: { errors: [verdictOn({ array, index, value })] },
  });
}

/** The error of a refused object, with its array and index. */
export const verdictOn = (placed: Placed<Fault>) => errorOf(placed, placed.value);

/** Copied member by member, for every item: a spread takes three times as long. */
const itemAt = (
  array: InputArray,
  index: number,
  { identifier, creates, reads, addresses, affectsSharers, work }: CheckedItem,
): Item => ({ array, index, identifier, creates, reads, addresses, affectsSharers, work });

/** Checks one object of any array. */
export function checkItem(
  workspace: Workspace,
  array: InputArray,
  raw: unknown,
  now: Date,
  intake: Intake = "strict",
): Checked<CheckedItem> {
  if (raw === null || typeof raw !== "object" || Array.isArray(raw)) {
    return refused("NOT_AN_OBJECT", `an entry of '${array}' must be an object`);
  }
  const unstorable = findUnstorable(raw, "");
  if (unstorable && intake === "strict") return { fault: unstorable };
  const storable = unstorable
    ? withoutUnstorable(raw as RawItem)
    : { item: raw as RawItem, dropped: [] };
  const item = withWireNames(storable.item);
  const checked =
    array === "attributes"
      ? checkAttributes(workspace, item, intake)
      : array === "events"
        ? checkEvent(item, now, intake)
        : checkPurchase(item, now, intake);
  if ("fault" in checked) return { fault: asSent(checked.fault, raw as RawItem) };
  if (storable.dropped.length === 0) return refuseBlocked(workspace, checked.value);
  const dropped = [...storable.dropped, ...(checked.value.dropped ?? [])];
  return refuseBlocked(workspace, { ...checked.value, dropped });
}

/** `braze_id` is a spelling of `platform_id`: the sentence has the name that the object has. */
const asSent = (fault: Fault, { braze_id, platform_id }: RawItem): Fault =>
  braze_id === undefined || platform_id !== undefined
    ? fault
    : { ...fault, message: fault.message.replace("'platform_id'", "'braze_id'") };

/** For lenient intake: leaves out members, and properties, that cannot be stored. */
function withoutUnstorable(raw: RawItem): {
  readonly item: RawItem;
  readonly dropped: readonly Fault[];
} {
  const dropped: Fault[] = [];
  const storable = (object: RawItem, prefix: string): RawItem =>
    Object.fromEntries(
      Object.entries(object).flatMap(([name, value]) => {
        const fault = findUnstorable({ [name]: value }, prefix);
        if (!fault) return [[name, value]];
        if (prefix === "" && name === "properties" && isJsonObject(value)) {
          return [[name, storable(value, "properties")]];
        }
        dropped.push(leftOut(fault));
        return [];
      }),
    );
  return { item: storable(raw, ""), dropped };
}

/**
 * Refuses a blocked external_id. If another identifier may name a blocked user, the item reads the
 * profile, so that `applyItem` can tell.
 */
function refuseBlocked(workspace: Workspace, item: CheckedItem): Checked<CheckedItem> {
  const { blocked_external_ids: blocked, redirect_merged_ids: redirects } = workspace.settings;
  if (blocked.length === 0) return { value: item };
  const { kind, value } = item.identifier;
  if (kind === "external_id" && blocked.includes(value)) return { fault: BLOCKED };
  const namesOnlyItself = kind === "external_id" && !redirects;
  return { value: namesOnlyItself ? item : { ...item, reads: true } };
}
