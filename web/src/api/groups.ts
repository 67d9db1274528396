import { useMemo } from "react";
import { hooks, refresh } from "./client.ts";

export interface Group {
  readonly id: string;
  readonly name: string;
  readonly channel: "email" | "sms" | "whatsapp";
  /** What subscribers get, for the page on which they choose. */
  readonly description?: string;
  readonly declared: boolean;
}

const GROUPS = "/admin/v1/workspaces/{name}/subscription-groups";

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

export function useChangeGroups(workspace: string) {
  const onSuccess = () => refresh(GROUPS);
  const put = hooks.useMutation("put", `${GROUPS}/{id}`, { onSuccess });
  const remove = hooks.useMutation("delete", `${GROUPS}/{id}`, { onSuccess });
  return {
    put: ({ id, name, channel, description = "" }: Omit<Group, "declared">) =>
      put.mutateAsync({
        params: { path: { name: workspace, id } },
        body: { name, channel, ...(description.trim() && { description }) },
      }),
    remove: (id: string) => remove.mutateAsync({ params: { path: { name: workspace, id } } }),
  };
}
