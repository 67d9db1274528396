import { infiniteQueryOptions, useInfiniteQuery } from "@tanstack/react-query";
import { hooks, http, type Received, refresh, type Schemas, type Sent } from "../../api/client.ts";
import { CONNECTIONS } from "../../api/entries.ts";
import { useHere, useWorkspace } from "../../api/workspace.ts";

/* Warehouse integrations, their runs, and the rows that did not arrive. */

export const INTEGRATIONS = "/admin/v1/workspaces/{name}/integrations";
const INTEGRATION = `${INTEGRATIONS}/{integration_id}` as const;
const RUNS = `${INTEGRATION}/runs` as const;
const RUN = `${RUNS}/{run_id}` as const;
const ROWS = `${RUN}/rows` as const;

export type Integration = Schemas["DeclaredIntegration"];
export type Sources = Received<"listSources">;
export type SourceKind = Schemas["SourceKind"];
export type Run = Schemas["SyncRun"];
export type RunRow = Schemas["SyncRow"];
export type IntegrationBody = Sent<"putIntegration">;

/** Without `retry` and what else a form does not show; null resets a member. */
export type IntegrationChange = Sent<"patchIntegration">;
export type TestedRow = Schemas["SourceRow"];

export type TableRequest = Sent<"listSourceTables">;

/** A change of an integration; a new one has an id of its own. */
export interface ChangeToTest {
  readonly id: string;
  readonly body: IntegrationChange;
}

export const useIntegrations = () => hooks.useQuery("get", INTEGRATIONS, useHere());

/**
 * The sources that integrations of a workspace may read, and the settings of each kind of
 * warehouse.
 */
export const useSources = () =>
  hooks.useQuery("get", "/admin/v1/workspaces/{name}/sources", useHere());

export const useSourceKinds = () => hooks.useQuery("get", "/admin/v1/source-kinds");

export const useConnections = () => hooks.useQuery("get", CONNECTIONS);

export const useIntegration = (integration_id: string) =>
  hooks.useQuery("get", INTEGRATION, useHere({ integration_id }));

export function useChangeIntegrations() {
  const workspace = useWorkspace();
  const onSuccess = () => refresh(INTEGRATIONS);
  const path = (id: string) => ({ params: { path: { name: workspace, integration_id: id } } });
  const put = hooks.useMutation("put", INTEGRATION, { onSuccess });
  const patch = hooks.useMutation("patch", INTEGRATION, { onSuccess });
  const remove = hooks.useMutation("delete", INTEGRATION, { onSuccess });
  const start = hooks.useMutation("post", `${INTEGRATION}/sync`, { onSuccess });
  return {
    put: (id: string, body: IntegrationBody) => put.mutateAsync({ ...path(id), body }),
    patch: ({ id, body }: ChangeToTest) => patch.mutateAsync({ ...path(id), body }),
    remove: (id: string) => remove.mutateAsync(path(id)),
    start: (id: string) => start.mutateAsync(path(id)),
    isStarting: start.isPending,
  };
}

export function useTestChange() {
  const name = useWorkspace();
  const { mutateAsync } = hooks.useMutation("post", `${INTEGRATION}/test-change`);
  return ({ id: integration_id, body }: ChangeToTest) =>
    mutateAsync({ params: { path: { name, integration_id } }, body });
}

/** What a source may read; nothing is asked before a request is given. */
export const useTables = (integration_id: string, body: TableRequest | undefined) =>
  hooks.useQuery(
    "post",
    `${INTEGRATION}/tables`,
    { params: { path: { name: useWorkspace(), integration_id } }, body: body ?? {} },
    { enabled: body !== undefined, staleTime: 60_000, retry: false },
  );

/** How often a running sync is looked at. */
const LIVE_MS = 1_000;

const isRunning = (run: Run | undefined): boolean => run?.job_status === "running";

/** The runs, the newest first; their progress is live while one runs. */
export function useRuns(integration_id: string) {
  const path = { name: useWorkspace(), integration_id };
  return useInfiniteQuery({
    ...byLink([RUNS, ...Object.values(path)], (query, signal) =>
      http.GET(RUNS, { params: { path, query }, signal }),
    ),
    refetchInterval: ({ state }) => (isRunning(state.data?.pages[0]?.results[0]) ? LIVE_MS : false),
  });
}

export const useRun = (integration_id: string, run_id: string) =>
  hooks.useQuery("get", RUN, useHere({ integration_id, run_id }), {
    refetchInterval: ({ state }) => (isRunning(state.data?.run) ? LIVE_MS : false),
  });

export function useRunRows(integration_id: string, run_id: string) {
  const path = { name: useWorkspace(), integration_id, run_id };
  return useInfiniteQuery(
    byLink([ROWS, ...Object.values(path)], (query, signal) =>
      http.GET(ROWS, { params: { path, query }, signal }),
    ),
  );
}

interface Answer<Row> {
  readonly data?: { readonly results: readonly Row[] };
  readonly response: Response;
}

type Read<Row> = (query: { cursor?: string }, signal: AbortSignal) => Promise<Answer<Row>>;

/** The options of a list that names its next page in the header Link, as the public API does. */
const byLink = <Row>(key: readonly string[], read: Read<Row>) =>
  infiniteQueryOptions({
    queryKey: ["get", ...key],
    initialPageParam: "",
    queryFn: async ({ pageParam: cursor, signal }) => {
      const { data, response } = await read(cursor ? { cursor } : {}, signal);
      return { results: data?.results ?? [], next: nextCursor(response) };
    },
    getNextPageParam: ({ next }) => next,
  });

function nextCursor(response: Response): string | undefined {
  const [, address] = /<([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "") ?? [];
  return address && (new URL(address, location.href).searchParams.get("cursor") ?? undefined);
}
