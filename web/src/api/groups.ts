import { useMemo } from "react";
import { hooks, type Schemas } from "./client.ts";
import { GROUPS } from "./entries.ts";
import { useHere } from "./workspace.ts";

export type Group = Schemas["SubscriptionGroup"];

export const useGroups = () => hooks.useQuery("get", GROUPS, useHere());

/** The names of the groups by id; empty while they load. */
export function useGroupNames(): ReadonlyMap<string, string> {
  const { data } = useGroups();
  return useMemo(
    () => new Map(data?.subscription_groups.map((group) => [group.id, group.name])),
    [data],
  );
}
