import { placeOf } from "../database/buckets.ts";
import type { Lanes } from "../database/lanes.ts";
import { identifierKey } from "../people/profiles/identifiers.ts";
import type { Item } from "./item.ts";
import type { WriteRequest } from "./write-batch.ts";

/** Items of a request that one lane writes, in their order. */
export interface Part {
  readonly lane: number;
  readonly items: readonly Item[];
  /** The place of each item in the request. */
  readonly places: readonly number[];
}

/**
 * Splits a request among lanes by the buckets of the persons it names, the same way in every process, so that
 * each person's items stay together and in order, and processes seldom meet on a row.
 *
 * It stays whole if the order of two persons' items could be noticed (they share an address), if a
 * person may be named in two ways, and if it must be applied as a whole (an Idempotency-Key, or
 * something else that is committed with it).
 *
 * @param isAwaited whether it has to wait for a user of it: then it stays whole too.
 */
export function splitRequest(request: WriteRequest, lanes: Lanes, isAwaited: boolean): Part[] {
  const { items, context } = request;
  const workspaceId = context.workspace.id;
  const isIndivisible = !!(request.recorded || request.alsoWrite || request.readBack);
  // If merged external ids still identify the kept user, two of them may name one person.
  const hasTwoNames = context.workspace.settings.redirect_merged_ids;
  const isWhole =
    lanes.count === 1 ||
    items.length === 1 ||
    isIndivisible ||
    hasTwoNames ||
    isAwaited ||
    !items.every(isOnItsOwn);
  const whole = (lane: number): Part[] => [{ lane, items, places: [...items.keys()] }];
  if (isWhole) return whole(laneOf(workspaceId, items[0], lanes));
  const laneOfAddress = new Map<string, number>();
  const parts = new Map<number, { items: Item[]; places: number[] }>();
  for (const [place, item] of items.entries()) {
    const lane = laneOf(workspaceId, item, lanes);
    for (const address of item.addresses) {
      const key = identifierKey(address);
      if ((laneOfAddress.get(key) ?? lane) !== lane) return whole(lane);
      laneOfAddress.set(key, lane);
    }
    const part = parts.get(lane) ?? { items: [], places: [] };
    part.items.push(item);
    part.places.push(place);
    parts.set(lane, part);
  }
  return [...parts].map(([lane, part]) => ({ lane, ...part }));
}

/** Whether an item affects only the user it names by external_id. */
const isOnItsOwn = ({ identifier, affectsSharers, work }: Item): boolean =>
  identifier.kind === "external_id" &&
  !affectsSharers &&
  !(work.kind === "attributes" && work.emailState !== undefined);

const laneOf = (workspaceId: number, item: Item | undefined, lanes: Lanes): number =>
  lanes.of(placeOf(workspaceId, item?.identifier.value ?? ""));
