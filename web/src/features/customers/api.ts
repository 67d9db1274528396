import { hooks, type Received, type Schemas } from "../../api/client.ts";
import { useWorkspace } from "../../api/workspace.ts";

const CUSTOMERS = "/admin/v1/workspaces/{name}/customers";

const EVENT = `${CUSTOMERS}/event` as const;
const OCCURRENCES = "/admin/v1/workspaces/{name}/catalogue/occurrences";
const PROPERTIES = "/admin/v1/workspaces/{name}/event-properties";

export type Customers = Received<"getCustomers">;

/** The counts behind it are written every five seconds. */
const READ_EVERY_MS = 20_000;

export type Days = "7" | "30" | "90";

export const useCustomers = (days: Days) =>
  hooks.useQuery(
    "get",
    CUSTOMERS,
    { params: { path: { name: useWorkspace() }, query: { days } } },
    { refetchInterval: READ_EVERY_MS, placeholderData: (shown) => shown },
  );

/** How often an event was sent, day by day. */
export const useEventByDay = (event: string, days: Days) =>
  hooks.useQuery(
    "get",
    EVENT,
    { params: { path: { name: useWorkspace() }, query: { event, days } } },
    { refetchInterval: READ_EVERY_MS, placeholderData: (shown) => shown },
  );

export type EventByDay = Received<"getEventByDay">;
export type Occurrence = Schemas["LatestOccurrence"];

export const useOccurrences = (event: string) =>
  hooks.useQuery("get", OCCURRENCES, {
    params: { path: { name: useWorkspace() }, query: { event } },
  });

export const useEventProperties = (event: string) =>
  hooks.useQuery("get", PROPERTIES, {
    params: { path: { name: useWorkspace() }, query: { event } },
  });
