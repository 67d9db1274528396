import type { InfiniteData } from "@tanstack/react-query";
import type { paths } from "../../../../client/src/schema.ts";
import { hooks, queryClient, type Received, type Schemas } from "../../api/client.ts";
import { BY_CURSOR, filled } from "../../api/pages.ts";
import { useHere, useWorkspace } from "../../api/workspace.ts";

/* The latest requests of API keys with their verdicts, as a list in pages. request-stream.ts adds new ones. */

export const REQUESTS = "/admin/v1/workspaces/{name}/requests";

type Operation = paths[typeof REQUESTS]["get"];
type RequestPage = Received<"listLiveRequests">;

export type LiveRequest = Schemas["LiveRequest"];
export type LiveItem = LiveRequest["items"][number];

type Query = NonNullable<Operation["parameters"]["query"]>;

/** Which requests are wanted; empty texts mean all. */
export type RequestFilter = Pick<Query, "status" | "key" | "user" | "endpoint" | "code">;

const PAGE = 50;

/** A page that stays open shows at most this many; older ones are loaded again on request. */
const MOST_SHOWN = 500;

const optionsOf = (name: string, filter: RequestFilter) => ({
  params: { path: { name }, query: { ...filled(filter), limit: PAGE } },
});

/** @param everyMs how often to ask again without a stream. */
export const useRequests = (filter: RequestFilter, everyMs: number | false) =>
  hooks.useInfiniteQuery("get", REQUESTS, optionsOf(useWorkspace(), filter), {
    ...BY_CURSOR,
    gcTime: 0,
    refetchInterval: everyMs,
  });

/** A request by its id, as a link to it names it. */
export const useRequest = (id: string, enabled: boolean) =>
  hooks.useQuery("get", `${REQUESTS}/{id}`, useHere({ id }), { enabled });

/** Reads the requests that the stream may have missed while it was closed. */
export const refreshRequests = (name: string, filter: RequestFilter): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: ["get", REQUESTS, optionsOf(name, filter)] });

/** Puts a request above the list. */
export function putFirst(name: string, filter: RequestFilter, request: LiveRequest): void {
  const queryKey = ["get", REQUESTS, optionsOf(name, filter)];
  queryClient.setQueryData<InfiniteData<RequestPage>>(queryKey, (shown) => {
    const [first, ...others] = shown?.pages ?? [];
    if (!shown || !first || first.requests.some(({ id }) => id === request.id)) return shown;
    const requests = [request, ...first.requests];
    const last = requests[MOST_SHOWN - 1];
    if (last === undefined) return { ...shown, pages: [{ ...first, requests }, ...others] };
    // The rest of the list follows its last row.
    const cut = { ...first, requests: requests.slice(0, MOST_SHOWN), next_cursor: last.id };
    return { pages: [cut], pageParams: shown.pageParams.slice(0, 1) };
  });
}
