import { hooks, type Received, type Schemas } from "../../api/client.ts";
import { useHereWith } from "../../api/workspace.ts";

const CUSTOMERS = "/admin/v1/workspaces/{name}/customers";

const EVENT = `${CUSTOMERS}/event` as const;
const OCCURRENCES = "/admin/v1/workspaces/{name}/catalogue/occurrences";
const PROPERTIES = "/admin/v1/workspaces/{name}/event-properties";

export type Customers = Received<"getCustomers">;

export type EventByDay = Received<"getEventByDay">;
export type Occurrence = Schemas["LatestOccurrence"];
export type Days = "7" | "30" | "90";

/** The counts behind them are written every five seconds. */
const LIVE = { refetchInterval: 20_000, placeholderData: <Data>(shown: Data) => shown };

export const useCustomers = (days: Days) =>
  hooks.useQuery("get", CUSTOMERS, useHereWith({ days }), LIVE);

/** How often an event was sent, day by day. */
export const useEventByDay = (event: string, days: Days) =>
  hooks.useQuery("get", EVENT, useHereWith({ event, days }), LIVE);

export const useOccurrences = (event: string) =>
  hooks.useQuery("get", OCCURRENCES, useHereWith({ event }));

export const useEventProperties = (event: string) =>
  hooks.useQuery("get", PROPERTIES, useHereWith({ event }));
