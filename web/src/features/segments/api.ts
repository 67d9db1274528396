import { useQuery } from "@tanstack/react-query";
import { hooks, http, type Received, refresh, type Schemas, type Sent } from "../../api/client.ts";
import { useHere, useHereWith, useWorkspace } from "../../api/workspace.ts";

/* Segments: filters of users, their sizes, and who meets them. */

const WORKSPACE = "/admin/v1/workspaces/{name}";
const SEGMENTS = `${WORKSPACE}/segments` as const;
const SEGMENT = `${SEGMENTS}/{id}` as const;
const COUNT = `${SEGMENTS}/count` as const;
const COUNTS = `${SEGMENTS}/counts` as const;
const COUNT_JOB = `${COUNTS}/{count_id}` as const;
const USERS = `${SEGMENTS}/users` as const;
const EXPLAIN = `${SEGMENTS}/explain` as const;
const SIZES = `${WORKSPACE}/segment-sizes` as const;
const VALUES = `${WORKSPACE}/attribute-values` as const;

export type Segment = Schemas["Segment"];
export type SegmentCount = Received<"countSegment">;
/** An exact count that a job makes. */
export type CountJob = Omit<Schemas["SegmentCount"], "message">;
type SegmentBody = Sent<"putSegment">;

/** A filter as the API takes it. */
export type FilterJson = Record<string, unknown>;

export const useSegments = () => hooks.useQuery("get", SEGMENTS, useHere());

/** A size is recorded within seconds of a change of the filter. */
const SIZES_EVERY_MS = 5_000;

export const useSegmentSizes = () =>
  hooks.useQuery("get", SIZES, useHere(), { refetchInterval: SIZES_EVERY_MS });

export function useChangeSegments() {
  const name = useWorkspace();
  const onSuccess = () => refresh(SEGMENTS, SIZES);
  const put = hooks.useMutation("put", SEGMENT, { onSuccess });
  const remove = hooks.useMutation("delete", SEGMENT, { onSuccess });
  const of = (id: string) => ({ params: { path: { name, id } } });
  return {
    put: (id: string, body: SegmentBody) => put.mutateAsync({ ...of(id), body }),
    remove: (id: string) => remove.mutateAsync(of(id)),
    isSaving: put.isPending,
  };
}

/** The estimate for a filter, with its parts and channels. The last one stays while the next is on its way. */
export function useSegmentCount(filter: FilterJson | undefined) {
  const name = useWorkspace();
  return useQuery({
    queryKey: ["segment-count", name, JSON.stringify(filter)],
    enabled: filter !== undefined,
    queryFn: async ({ signal }) => {
      const body = { filter, parts: true, reach: true } as never;
      const { data } = await http.POST(COUNT, { params: { path: { name } }, body, signal });
      return data as SegmentCount;
    },
    placeholderData: (shown) => shown,
    retry: false,
  });
}

/** How long a request counts before a job does: the page shows its progress. */
const WAIT_SECONDS = 1;

/** Counts all users. @returns the size, or the job that goes on counting. */
export async function countExactly(
  name: string,
  wanted: { readonly filter: FilterJson } | { readonly segment_id: string },
): Promise<SegmentCount | CountJob> {
  const body = { ...wanted, exact: true, wait_s: WAIT_SECONDS } as never;
  const { data } = await http.POST(COUNT, { params: { path: { name } }, body });
  return data as SegmentCount | CountJob;
}

const EVERY_SECOND = 1_000;

/** An exact count, followed while it runs. */
export const useCountJob = (count_id: string | undefined) =>
  hooks.useQuery("get", COUNT_JOB, useHere({ count_id: count_id ?? "" }), {
    enabled: count_id !== undefined,
    refetchInterval: ({ state }) => (state.data?.status === "running" ? EVERY_SECOND : false),
  });

export async function cancelCount(name: string, count_id: string): Promise<void> {
  await http.DELETE(COUNT_JOB, { params: { path: { name, count_id } } });
  refresh(COUNT_JOB, COUNTS);
}

/** The exact counts that are running, waiting or recently finished; followed while one runs. */
export const useCounts = (isAllowed: boolean) =>
  hooks.useQuery("get", COUNTS, useHere(), {
    enabled: isAllowed,
    refetchInterval: ({ state }) =>
      state.data?.counts.some(({ status }) => status === "running") ? EVERY_SECOND : false,
  });

/** Shows a count that has just ended wherever sizes are shown. */
export const refreshSizes = () => refresh(SIZES, COUNTS);

/** A page of users who meet a filter. */
export async function readSegmentUsers(
  name: string,
  filter: FilterJson,
  limit: number,
  cursor: string | null = null,
) {
  const body = { filter, limit, cursor } as never;
  const { data } = await http.POST(USERS, { params: { path: { name } }, body });
  return { users: data?.users ?? [], cursor: data?.cursor ?? null };
}

/** Whether a user, named by any identifier, meets a filter. Undefined if there is no such user. */
export async function explainUser(name: string, filter: FilterJson, user: string) {
  const query = { query: user, match: "exact", limit: 1 } as const;
  const { data } = await http.GET(`${WORKSPACE}/users`, { params: { path: { name }, query } });
  const found = data?.users[0];
  if (!found) return undefined;
  const body = { filter, user_id: found.platform_id } as never;
  return (await http.POST(EXPLAIN, { params: { path: { name } }, body })).data;
}

export type AttributeValues = Received<"listAttributeValues">;

/** How many users have an attribute, and each of its frequent values. */
export const useAttributeValues = (
  kind: "attribute" | "custom_attribute",
  attribute: string,
  isAllowed: boolean,
) =>
  hooks.useQuery("get", VALUES, useHereWith({ kind, attribute: attribute || "-" }), {
    enabled: isAllowed && attribute !== "",
    retry: false,
  });
