import type { Feature } from "../../core/feature.ts";
import { undoEndpoints } from "./endpoints.ts";

export const feature = {
  name: "undo",
  endpoints: undoEndpoints,
  reference: [{ tag: "User administration", paths: ["/admin/v1/workspaces/:name/merges"] }],
} satisfies Feature;
