import { type InfiniteData, useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { errorOf } from "./api-error.ts";
import { queryClient } from "./client.ts";

/* The latest requests of API keys with their verdicts: a list in pages, and a stream of what comes in. */

export interface LiveItem {
  readonly index: number;
  readonly kind: string;
  readonly accepted: boolean;
  readonly code: string | null;
  readonly message: string | null;
  readonly user: string | null;
}

export interface LiveRequest {
  readonly id: string;
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly duration_ms: number;
  readonly key: { readonly id: string; readonly name: string };
  readonly items: readonly LiveItem[];
  readonly rejected: number;
  readonly body: unknown;
  readonly response: unknown;
}

interface Page {
  readonly requests: readonly LiveRequest[];
  /** How many each server process keeps; 0: live requests are off. */
  readonly kept: number;
  readonly next_cursor?: string;
}

/** What of the requests is wanted; empty texts want all. */
export interface RequestFilter {
  readonly status?: string;
  readonly key?: string;
  readonly user?: string;
  readonly endpoint?: string;
  readonly code?: string;
}

const addressOf = (workspace: string, rest: string, filter: object): string => {
  const set = Object.entries(filter).filter(([, value]) => value);
  const query = new URLSearchParams(set.map(([name, value]) => [name, String(value)]));
  return `/admin/v1/workspaces/${encodeURIComponent(workspace)}/requests${rest}?${query}`;
};

const keyOf = (workspace: string, filter: RequestFilter) =>
  ["live-requests", workspace, filter] as const;

export const useRequests = (workspace: string, filter: RequestFilter) =>
  useInfiniteQuery({
    queryKey: keyOf(workspace, filter),
    initialPageParam: "",
    // The stream brings what is new.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      const address = addressOf(workspace, "", { ...filter, cursor: pageParam, limit: 50 });
      const response = await fetch(address, { signal });
      // A server that keeps no requests has no such list.
      if (response.status === 404) return { requests: [], kept: 0 };
      if (!response.ok) throw await errorOf(response);
      return response.json();
    },
    getNextPageParam: (page) => page.next_cursor,
  });

export type StreamState = "paused" | "connecting" | "live" | "broken";

/** Puts what comes in above the list, while it is live. The browser connects again by itself. */
export function useStream(workspace: string, filter: RequestFilter, isLive: boolean): StreamState {
  const [state, setState] = useState<StreamState>("connecting");
  const wanted = JSON.stringify(filter);
  useEffect(() => {
    if (!isLive) return;
    const filtered = JSON.parse(wanted) as RequestFilter;
    setState("connecting");
    const source = new EventSource(addressOf(workspace, "/stream", filtered));
    source.onopen = () => setState("live");
    source.onerror = () => setState("broken");
    source.addEventListener("request", (event) => {
      putFirst(workspace, filtered, JSON.parse(String(event.data)) as LiveRequest);
    });
    return () => source.close();
  }, [workspace, wanted, isLive]);
  return isLive ? state : "paused";
}

function putFirst(workspace: string, filter: RequestFilter, request: LiveRequest): void {
  queryClient.setQueryData<InfiniteData<Page>>(keyOf(workspace, filter), (shown) => {
    const [first, ...others] = shown?.pages ?? [];
    if (!shown || !first || first.requests.some(({ id }) => id === request.id)) return shown;
    const requests = [request, ...first.requests];
    return { ...shown, pages: [{ ...first, requests }, ...others] };
  });
}
