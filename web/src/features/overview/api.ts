import type { paths } from "../../../../client/src/schema.ts";
import { hooks } from "../../api/client.ts";

/* The traffic of a workspace over time, and what needs attention. */

const OVERVIEW = "/admin/v1/workspaces/{name}/overview";

export type Overview =
  paths[typeof OVERVIEW]["get"]["responses"][200]["content"]["application/json"];
export type Finding = Overview["attention"][number];
export type Period = "hour" | "day";

/** As often as the last hour gets another slot. */
const READ_EVERY_MS = 10_000;

export const useOverview = (name: string, period: Period) =>
  hooks.useQuery(
    "get",
    OVERVIEW,
    { params: { path: { name }, query: { period } } },
    { refetchInterval: READ_EVERY_MS, placeholderData: (shown) => shown },
  );
