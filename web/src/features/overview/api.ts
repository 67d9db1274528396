import { hooks, type Received, type Schemas } from "../../api/client.ts";
import { useHereWith } from "../../api/workspace.ts";

/* The traffic of a workspace over time, and what needs attention. */

const OVERVIEW = "/admin/v1/workspaces/{name}/overview";

export type Overview = Received<"getOverview">;
export type Finding = Schemas["Finding"];
export type Period = "hour" | "day";

/** As often as the last hour gets another slot. */
const READ_EVERY_MS = 10_000;

export const useOverview = (period: Period) =>
  hooks.useQuery("get", OVERVIEW, useHereWith({ period }), {
    refetchInterval: READ_EVERY_MS,
    placeholderData: (shown) => shown,
  });
