import type { paths } from "../../../client/src/schema.ts";
import { hooks, refresh } from "./client.ts";
import { useWorkspace } from "./workspace.ts";

/* Lists whose entries are put and removed one at a time, by the id in the path. */

const WORKSPACE = "/admin/v1/workspaces/{name}";

export const APPS = `${WORKSPACE}/apps` as const;
export const GROUPS = `${WORKSPACE}/subscription-groups` as const;
export const LOCALES = `${WORKSPACE}/locales` as const;
export const TEAMS = `${WORKSPACE}/teams` as const;
export const PERMISSION_SETS = "/admin/v1/permission-sets";
export const CONNECTIONS = "/admin/v1/connections";

type ListPath =
  | typeof APPS
  | typeof GROUPS
  | typeof LOCALES
  | typeof TEAMS
  | typeof PERMISSION_SETS
  | typeof CONNECTIONS;

type PatchOf<Path extends ListPath> =
  paths[`${Path}/{id}`]["patch"]["requestBody"]["content"]["application/json"];

/**
 * Changes entries of a list, which is read again afterwards; for one of the company without a workspace. What the form of an
 * entry does not show stays as it is.
 */
export function useChangeEntries<Path extends ListPath>(path: Path) {
  const name = useWorkspace();
  const onSuccess = () => refresh(path);
  // The hooks cannot infer from a union of paths; `PatchOf` checks the body.
  const one = `${path}/{id}` as `${typeof APPS}/{id}`;
  const put = hooks.useMutation("put", one, { onSuccess });
  const patch = hooks.useMutation("patch", one, { onSuccess });
  const remove = hooks.useMutation("delete", one, { onSuccess });
  const of = (id: string) => ({ params: { path: { name, id } } });
  return {
    save: (id: string, body: PatchOf<Path>, isNew: boolean) =>
      (isNew ? put : patch).mutateAsync({ ...of(id), body: body as never }),
    remove: (id: string) => remove.mutateAsync(of(id)),
  };
}
