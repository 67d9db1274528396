import type { Random } from "./random.ts";

/** The subscription groups that the workspace of a benchmark has. */
export const GROUPS = [
  { id: "ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20", name: "Newsletter", channel: "email" },
] as const;

const STATES = ["subscribed", "unsubscribed"] as const;

export const stateOf = (random: Random): (typeof STATES)[number] =>
  STATES[random.below(2)] as never;
