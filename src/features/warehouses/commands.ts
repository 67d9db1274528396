import type { Commands } from "../../core/feature.ts";

export const commands: Commands = { cdi: ["Runs warehouse syncs.", () => import("./cli/cdi.ts")] };
