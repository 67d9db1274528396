import type { Commands } from "../../core/feature.ts";

export const commands: Commands = {
  "sign-in": [
    "Prints a one-time link that signs in to the dashboard.",
    () => import("./cli/sign-in.ts"),
  ],
  invite: [
    "Adds a colleague if needed, and prints a link that signs them in once.",
    () => import("./cli/invite.ts"),
  ],
};
