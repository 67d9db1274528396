import type { Commands } from "../../core/feature.ts";

export const commands: Commands = {
  users: [
    "Searches, shows, watches, exports, erases and merges users.",
    () => import("./cli/users.ts"),
  ],
};
