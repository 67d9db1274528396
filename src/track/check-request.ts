import type { Workspace } from "../access/workspace.ts";
import { type Checked, type Fault, Problem, refused } from "../problem.ts";
import { findUnstorable } from "../profiles/plain-json.ts";
import { type CheckedItem, checkAttributes } from "./check-attributes.ts";
import { checkEvent } from "./check-event.ts";
import { type RawItem, withWireNames } from "./check-identity.ts";
import { checkPurchase } from "./check-purchase.ts";
import { INPUT_ARRAYS, type InputArray, type Item, type Placed } from "./item.ts";

export type TrackBody = Partial<Record<InputArray, readonly unknown[]>>;

export interface CheckedRequest {
  readonly items: readonly Item[];
  readonly faults: readonly Placed<Fault>[];
}

/**
 * Checks every object of a track request on its own, in the order in which they will be applied.
 *
 * @throws Problem INVALID_REQUEST when there are more objects than the workspace takes.
 */
export function checkRequest(workspace: Workspace, body: TrackBody, now: Date): CheckedRequest {
  const total = INPUT_ARRAYS.reduce((sum, array) => sum + (body[array]?.length ?? 0), 0);
  if (total > workspace.settings.track_max_updates) {
    throw new Problem("INVALID_REQUEST", "Max Input Length Exceeded");
  }
  const items: Item[] = [];
  const faults: Placed<Fault>[] = [];
  for (const array of INPUT_ARRAYS) {
    for (const [index, raw] of (body[array] ?? []).entries()) {
      const checked = checkItem(workspace, array, raw, now);
      if ("fault" in checked) faults.push({ array, index, value: checked.fault });
      else items.push(itemAt(array, index, checked.value));
    }
  }
  return { items, faults };
}

/** Member by member: a spread takes three times as long, and this is done for every item. */
const itemAt = (
  array: InputArray,
  index: number,
  { who, creates, reads, addresses, spreads, work }: CheckedItem,
): Item => ({ array, index, who, creates, reads, addresses, spreads, work });

/** Checks one object of any array. */
export function checkItem(
  workspace: Workspace,
  array: InputArray,
  raw: unknown,
  now: Date,
): Checked<CheckedItem> {
  if (raw === null || typeof raw !== "object" || Array.isArray(raw)) {
    return refused("NOT_AN_OBJECT", `an entry of '${array}' must be an object`);
  }
  const unstorable = findUnstorable(raw, "");
  if (unstorable) return { fault: unstorable };
  const item = withWireNames(raw as RawItem);
  const checked =
    array === "attributes"
      ? checkAttributes(workspace, item)
      : array === "events"
        ? checkEvent(item, now)
        : checkPurchase(item, now);
  return "fault" in checked ? checked : refuseBlocked(workspace, checked.value);
}

/** spec: Errors, /users/track, the block list. */
function refuseBlocked(workspace: Workspace, item: CheckedItem): Checked<CheckedItem> {
  const { who } = item;
  const isBlocked =
    who.kind === "external_id" && workspace.settings.blocked_external_ids.includes(who.value);
  if (!isBlocked) return { value: item };
  return refused(
    "BLACKLISTED_EXTERNAL_USER_ID",
    "this external_id is blocked: provided external_id is blacklisted and disallowed",
  );
}
