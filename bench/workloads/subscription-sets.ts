import { groupStatesFloor } from "../floors/group-states.ts";
import { GROUPS, stateOf } from "./groups.ts";
import { externalIdOf } from "./users.ts";
import type { Workload } from "./workload.ts";

const USERS = 50;

/** POST /v2/subscription/status/set: about every other state that is set is a change. */
export const subscriptionSets: Workload = {
  name: "subscription-sets",
  about: "50 users a request, by external_id, who get a state in one subscription group.",
  unit: "states",
  unitsPerRequest: USERS,
  distribution: "uniform",
  path: "/v2/subscription/status/set",
  connections: 32,
  bodies: 8_000,
  body: (random, pick) => ({
    subscription_groups: [
      {
        subscription_group_id: GROUPS[0].id,
        subscription_state: stateOf(random),
        external_ids: Array.from({ length: USERS }, () => externalIdOf(pick())),
      },
    ],
  }),
  faults: ['"skipped"'],
  bareAnswer: () => ({ message: "success" }),
  floor: groupStatesFloor,
};
