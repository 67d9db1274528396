import { useMemo } from "react";
import { hooks } from "./client.ts";
import { GROUPS } from "./entries.ts";

export interface Group {
  readonly id: string;
  readonly name: string;
  readonly channel: "email" | "sms" | "whatsapp";
  /** A description for subscribers, shown on the page where they choose. */
  readonly description?: string;
  readonly declared: boolean;
}

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
