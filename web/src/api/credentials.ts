import { hooks, refresh, type Sent } from "./client.ts";
import { useHere, useWorkspace } from "./workspace.ts";

/* API keys of a workspace and SCIM tokens of the company: both show their secret once. */

const KEYS = "/admin/v1/workspaces/{name}/api-keys";
const TOKENS = "/admin/v1/scim-tokens";

export type NewKey = Sent<"createApiKey">;
export type NewScimToken = Sent<"createScimToken">;

export const useApiKeys = () => hooks.useQuery("get", KEYS, useHere());

export function useChangeApiKeys() {
  const workspace = useWorkspace();
  const onSuccess = () => refresh(KEYS);
  const path = (key: string) => ({ params: { path: { name: workspace, key } } });
  const create = hooks.useMutation("post", KEYS, { onSuccess });
  const rotate = hooks.useMutation("post", `${KEYS}/{key}/rotate`, { onSuccess });
  const revoke = hooks.useMutation("delete", `${KEYS}/{key}`, { onSuccess });
  return {
    create: async (body: NewKey) => {
      const params = { path: { name: workspace } };
      return (await create.mutateAsync({ params, body })).key;
    },
    rotate: async (key: string) => (await rotate.mutateAsync({ ...path(key), body: {} })).key,
    revoke: (key: string) => revoke.mutateAsync(path(key)),
  };
}

export const useScimTokens = () => hooks.useQuery("get", TOKENS);

export function useChangeScimTokens() {
  const onSuccess = () => refresh(TOKENS);
  const path = (token: string) => ({ params: { path: { token } } });
  const create = hooks.useMutation("post", TOKENS, { onSuccess });
  const rotate = hooks.useMutation("post", `${TOKENS}/{token}/rotate`, { onSuccess });
  const revoke = hooks.useMutation("delete", `${TOKENS}/{token}`, { onSuccess });
  return {
    create: async (body: NewScimToken) => (await create.mutateAsync({ body })).token,
    rotate: async (token: string) => (await rotate.mutateAsync({ ...path(token), body: {} })).token,
    revoke: (token: string) => revoke.mutateAsync(path(token)),
  };
}
