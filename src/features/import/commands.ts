import type { Commands } from "../../core/feature.ts";

export const commands: Commands = {
  import: [
    "Imports users, events, purchases or subscriptions from a file into a running server.",
    () => import("./cli/import.ts"),
  ],
};
