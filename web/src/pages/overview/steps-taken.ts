import { hooks } from "../../api/client.ts";
import { useWorkspace } from "../../api/workspace.ts";

/* Which of the first steps with a workspace are taken. */

interface FirstSteps {
  readonly hasUsers: boolean;
  readonly hasSegments: boolean;
  readonly hasColleagues: boolean;
}

/** An event that is sent from a terminal is to be noticed soon. */
const READ_EVERY_MS = 3_000;

/** @param isAdministrator whether the person may see the colleagues. @returns undefined until all is known. */
export function useFirstSteps(isAdministrator: boolean): FirstSteps | undefined {
  const name = useWorkspace();
  const path = { params: { path: { name } } };
  const users = hooks.useQuery("get", "/admin/v1/workspaces/{name}/user-count", path, {
    refetchInterval: ({ state }) => (state.data && hasSome(state.data) ? false : READ_EVERY_MS),
  });
  const segments = hooks.useQuery("get", "/admin/v1/workspaces/{name}/segments", path);
  const people = hooks.useQuery(
    "get",
    "/admin/v1/dashboard-users",
    { params: { query: { limit: 1 } } },
    { enabled: isAdministrator },
  );
  if (!users.data || !segments.data || (isAdministrator && !people.data)) return undefined;
  return {
    hasUsers: hasSome(users.data),
    hasSegments: segments.data.segments.length > 0,
    hasColleagues: (people.data?.people.length ?? 0) > 0,
  };
}

const hasSome = ({ users }: { readonly users: number }): boolean => users > 0;
