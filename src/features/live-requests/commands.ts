import type { Commands } from "../../core/feature.ts";

export const commands: Commands = {
  tail: [
    "Prints requests to a running server as they come in, with the verdict on each item.",
    () => import("./cli/tail.ts"),
  ],
};
