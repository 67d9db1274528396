import type { Feature } from "../../core/feature.ts";
import { recordEndpoints } from "./endpoints.ts";

export const feature = {
  name: "user-records",
  endpoints: recordEndpoints,
  reference: [{ tag: "User administration", paths: ["/admin/v1/workspaces/:name/users"] }],
} satisfies Feature;
