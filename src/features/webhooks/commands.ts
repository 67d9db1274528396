import type { Commands } from "../../core/feature.ts";

export const commands: Commands = {
  webhooks: ["Lists, tests, pauses and replays webhooks.", () => import("./cli/webhooks.ts")],
};
