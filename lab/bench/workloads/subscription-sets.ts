import { groupStatesFloor } from "../floors/group-states.ts";
import { GROUPS, stateOf } from "./groups.ts";
import { externalIdOf } from "./users.ts";
import type { Workload } from "./workload.ts";

/** POST /v2/subscription/status/set: about every other state that is set is a change. */
const setsOf = (users: number) =>
  ({
    unit: "states",
    unitsPerRequest: users,
    distribution: "uniform",
    path: "/v2/subscription/status/set",
    connections: 32,
    bodies: 8_000,
    body: (random, pick) => ({
      subscription_groups: [
        {
          subscription_group_id: GROUPS[0].id,
          subscription_state: stateOf(random),
          external_ids: Array.from({ length: users }, () => externalIdOf(pick())),
        },
      ],
    }),
    faults: ['"skipped"'],
    bareAnswer: () => ({ message: "success" }),
    floor: groupStatesFloor,
  }) satisfies Partial<Workload>;

export const subscriptionSets: Workload = {
  ...setsOf(50),
  name: "subscription-sets",
  about: "50 users a request, by external_id, who get a state in one subscription group.",
};

export const subscriptionSingle: Workload = {
  ...setsOf(1),
  name: "subscription-single",
  about: "One user a request, by external_id, who gets a state in one subscription group.",
};
