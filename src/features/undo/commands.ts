import type { Commands } from "../../core/feature.ts";

/** Further parts of a command of user-records. */
export const commands: Commands = {
  users: ["Lists and undoes merges of users.", () => import("./cli/merges.ts")],
};
