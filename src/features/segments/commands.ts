import type { Commands } from "../../core/feature.ts";

export const commands: Commands = {
  segments: ["Lists, counts and exports segments of users.", () => import("./cli/segments.ts")],
};
