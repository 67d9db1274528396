import type { Commands } from "../../core/feature.ts";

export const commands: Commands = {
  export: [
    "Exports users, events, purchases, subscription states or the configuration.",
    () => import("./cli/export.ts"),
  ],
};
