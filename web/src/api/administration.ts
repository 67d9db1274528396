import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { hooks, http, refresh } from "./client.ts";
import { APPS, PERMISSION_SETS } from "./entries.ts";
import { BY_CURSOR } from "./pages.ts";
import { SESSION_KEY } from "./session.ts";
import { useHere, useWorkspace } from "./workspace.ts";

/* Settings of administrators: apps, limits, permission sets; the audit and the manifest. */

const SETTINGS = "/admin/v1/workspaces/{name}/settings";
const WORKSPACES = "/admin/v1/workspaces";

export const useWorkspaces = () => hooks.useQuery("get", WORKSPACES);

export function useAddWorkspace() {
  const client = useQueryClient();
  const { mutateAsync } = hooks.useMutation("put", `${WORKSPACES}/{name}`, {
    onSuccess: async () => {
      await refresh(WORKSPACES);
      // The navigation lists the workspaces of the session.
      await client.invalidateQueries({ queryKey: SESSION_KEY });
    },
  });
  return (name: string) => mutateAsync({ params: { path: { name } }, body: {} });
}

export const useApps = () => hooks.useQuery("get", APPS, useHere());

/** The names of the apps by id; empty while they load. */
export function useAppNames(): ReadonlyMap<string, string> {
  const { data } = useApps();
  return useMemo(() => new Map(data?.apps.map((app) => [app.id, app.name])), [data]);
}

export const useSettings = () => hooks.useQuery("get", SETTINGS, useHere());

/** The settings that are not sent stay as they are; null resets one to its default. */
export function useChangeSettings() {
  const workspace = useWorkspace();
  const { mutateAsync } = hooks.useMutation("patch", SETTINGS, {
    onSuccess: () => refresh(SETTINGS),
  });
  return (body: Record<string, unknown>) =>
    mutateAsync({ params: { path: { name: workspace } }, body });
}

export const usePermissionSets = () => hooks.useQuery("get", PERMISSION_SETS);

export interface AuditFilter {
  readonly workspace?: string;
  readonly kind?: string;
  readonly name?: string;
  /** A part of the name of the thing. */
  readonly query?: string;
  /** The user name of a person, the name of a key, or a kind of actor. */
  readonly by?: string;
  /** ISO 8601. */
  readonly since?: string;
  readonly until?: string;
  readonly of?: "changes" | "reads";
}

/** Where the entries that match can be downloaded. */
export const auditFilePath = (filter: AuditFilter): string =>
  `/admin/v1/audit.csv?${new URLSearchParams(filter as Record<string, string>)}`;

/** The entries about the same thing before an entry, the latest first. */
export const useEarlierEntries = (
  thing: { readonly kind: string; readonly name: string; readonly before: string },
  isWanted: boolean,
) =>
  hooks.useQuery(
    "get",
    "/admin/v1/audit",
    {
      params: {
        query: {
          kind: thing.kind,
          name: thing.name,
          cursor: thing.before,
          limit: 20,
          of: "changes",
        },
      },
    },
    { enabled: isWanted },
  );

export const useAudit = (filter: AuditFilter) =>
  hooks.useInfiniteQuery(
    "get",
    "/admin/v1/audit",
    { params: { query: { ...filter, limit: 100 } } },
    BY_CURSOR,
  );

export const verifyAudit = async () => (await http.GET("/admin/v1/audit/verify")).data;

export const useManifest = () =>
  hooks.useQuery("get", "/admin/v1/workspaces/{name}/manifest", useHere());
