import { useMemo } from "react";
import { hooks, type Schemas } from "./client.ts";
import { GROUPS } from "./entries.ts";

export type Group = Schemas["SubscriptionGroup"];

export const useGroups = (name: string) =>
  hooks.useQuery("get", GROUPS, { params: { path: { name } } });

/** The names of the groups by id; empty while they load. */
export function useGroupNames(name: string): ReadonlyMap<string, string> {
  const { data } = useGroups(name);
  return useMemo(
    () => new Map(data?.subscription_groups.map((group) => [group.id, group.name])),
    [data],
  );
}
