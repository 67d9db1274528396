import type { paths } from "../../../../client/src/schema.ts";
import { hooks } from "../../api/client.ts";

const CUSTOMERS = "/admin/v1/workspaces/{name}/customers";

export type Customers =
  paths[typeof CUSTOMERS]["get"]["responses"][200]["content"]["application/json"];

/** The counts behind it are written every five seconds. */
const READ_EVERY_MS = 20_000;

export const useCustomers = (name: string, days: "7" | "30" | "90") =>
  hooks.useQuery(
    "get",
    CUSTOMERS,
    { params: { path: { name }, query: { days } } },
    { refetchInterval: READ_EVERY_MS, placeholderData: (shown) => shown },
  );
