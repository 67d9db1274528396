import type { Commands } from "../../core/feature.ts";

export const commands: Commands = {
  "sign-in": [
    "Prints a one-time link that signs in to the dashboard.",
    () => import("./cli/sign-in.ts"),
  ],
  invite: ["Prints a link that signs a colleague in once.", () => import("./cli/invite.ts")],
};
