import type { Commands } from "../../core/feature.ts";

export const commands: Commands = {
  demo: ["Serves a shop with 2,000 invented users.", () => import("./cli/demo.ts")],
};
