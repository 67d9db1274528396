import type { Random } from "../workloads/random.ts";
import { attributesOf, eventOf } from "../workloads/updates.ts";
import type { UserPicker } from "../workloads/users.ts";

/* The work of every contender: the updates of the workloads `track` and `track-single`. */

export interface AttributesUpdate {
  readonly user: number;
  readonly attributes: ReturnType<typeof attributesOf>;
}

export interface EventUpdate {
  readonly user: number;
  readonly event: ReturnType<typeof eventOf>;
}

/** The updates of one request. */
export interface Updates {
  readonly attributes: readonly AttributesUpdate[];
  readonly events: readonly EventUpdate[];
}

/** Half attributes and half events; where a request has one update, in turn the one and the other. */
export function updatesOf(
  random: Random,
  pick: UserPicker,
  perRequest: number,
  index: number,
): Updates {
  const attributes = perRequest === 1 ? 1 - (index % 2) : perRequest / 2;
  return {
    attributes: Array.from({ length: attributes }, () => ({
      user: pick(),
      attributes: attributesOf(random),
      // In one order, so that peers that write a request in one transaction never deadlock.
    })).sort((one, other) => one.user - other.user),
    events: Array.from({ length: perRequest - attributes }, () => ({
      user: pick(),
      event: eventOf(random),
    })),
  };
}
