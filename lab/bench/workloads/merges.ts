import { mergesFloor } from "../floors/merges.ts";
import { externalIdOf } from "./users.ts";
import type { Workload } from "./workload.ts";

const MERGES = 50;

/**
 * POST /users/merge. A merged user no longer exists, so every body is sent once and names new
 * users.
 */
export const merges: Workload = {
  name: "merges",
  about: "50 merges a request, each of two users with a history, until all users are paired.",
  unit: "merges",
  unitsPerRequest: MERGES,
  distribution: "uniform",
  path: "/users/merge",
  connections: 16,
  bodies: (users) => Math.floor(users / MERGES / 2),
  isSentOnce: true,
  body: (_random, _pick, index) => ({
    merge_updates: Array.from({ length: MERGES }, (_, place) => {
      const user = (index * MERGES + place) * 2;
      return {
        identifier_to_merge: { external_id: externalIdOf(user) },
        identifier_to_keep: { external_id: externalIdOf(user + 1) },
      };
    }),
  }),
  faults: ['"skipped"'],
  bareAnswer: () => ({ message: "success" }),
  floor: mergesFloor,
};
