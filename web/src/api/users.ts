import type { paths } from "../../../client/src/schema.ts";
import { numberText } from "../components/numbers.ts";
import { useMissing } from "../components/permitted.tsx";
import { hooks, http, queryClient, type Received, refresh, type Schemas } from "./client.ts";
import { BY_CURSOR, filled } from "./pages.ts";
import { useHere, useHereWith, useWorkspace } from "./workspace.ts";

/* What the pages about users read and change. */

export const USERS = "/admin/v1/workspaces/{name}/users";
const USER_COUNT = "/admin/v1/workspaces/{name}/user-count";
const USER = `${USERS}/{id}` as const;
const TIMELINE = `${USER}/timeline` as const;

const COUNT_EVERY_MS = 10_000;

export type FoundUser = Schemas["FoundUser"];
export type UsersQuery = NonNullable<paths[typeof USERS]["get"]["parameters"]["query"]>;
export type UserRecord = Schemas["UserRecord"];
export type TimelineEntry = Received<"getUserTimeline">["entries"][number];
export type IdentifierKind = "external_id" | "alias" | "email" | "phone" | "name";

/** How often an event was sent or a product was bought. */
export interface Total {
  readonly name: string;
  readonly count: number;
  readonly first: string;
  readonly last: string;
}

/** The exported profile; the fields that the pages show. */
export interface Profile {
  readonly platform_id: string;
  readonly external_id: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly home_city: string | null;
  /** ISO 3166-1 */
  readonly country: string | null;
  readonly created_at: string;
  readonly user_aliases: readonly { readonly alias_name: string; readonly alias_label: string }[];
  readonly custom_attributes: Readonly<Record<string, unknown>>;
  readonly custom_events: readonly Total[];
  readonly purchases: readonly Total[];
  readonly revenue_by_currency: Readonly<Record<string, number>>;
  readonly devices: readonly Readonly<Record<string, unknown>>[];
  readonly apps: readonly Readonly<Record<string, unknown>>[];
  readonly push_tokens: readonly Readonly<Record<string, unknown>>[];
  readonly [field: string]: unknown;
}

export const profileOf = (record: UserRecord): Profile => record.user as unknown as Profile;

export interface UserSearch {
  readonly query?: string;
  readonly identifier?: IdentifierKind;
  readonly match?: "prefix" | "exact";
  readonly sort?: NonNullable<UsersQuery["sort"]>;
  /** A filter of segments, as JSON. */
  readonly filter?: string;
  readonly columns?: string[];
}

export const useUserSearch = (query: UserSearch) =>
  hooks.useInfiniteQuery("get", USERS, useHereWith({ ...query, limit: 100 }), {
    ...BY_CURSOR,
    placeholderData: (shown) => shown,
  });

/** The names of custom attributes, up to 250. */
export const useAttributeNames = () =>
  hooks.useQuery(
    "get",
    "/admin/v1/workspaces/{name}/catalogue",
    useHereWith({ kind: "attribute", limit: 250 }),
  );

/** How many users a workspace has, in words; undefined until it is known, and for a person who may not see it. */
export function useUserCount(): string | undefined {
  const isForbidden = useMissing("basic_access") !== undefined;
  const { data } = hooks.useQuery("get", USER_COUNT, useHere(), {
    enabled: !isForbidden,
    refetchInterval: COUNT_EVERY_MS,
    placeholderData: (shown) => shown,
  });
  return data && `${data.exact ? "" : "about "}${numberText(data.users)}`;
}

/** The first users of a search, for a choice among few. */
export const useFirstUsers = (name: string, query: string, enabled: boolean) =>
  hooks.useQuery(
    "get",
    USERS,
    { params: { path: { name }, query: { query, limit: 8 } } },
    { enabled, placeholderData: (shown) => shown },
  );

export const useUser = (id: string) => hooks.useQuery("get", USER, useHere({ id }));

/** The segments that a user is in now. */
export const useSegmentsOfUser = (id: string) =>
  hooks.useQuery("get", `${USER}/segments`, useHere({ id }));

export type TimelineKind = TimelineEntry["kind"];

/** The entries of a timeline to show. */
export interface TimelineFilter {
  readonly kind?: TimelineKind | undefined;
  /** Events of this name. */
  readonly event?: string | undefined;
  /** Entries from this time on, in ISO 8601. */
  readonly since?: string | undefined;
  /** Entries before this time. */
  readonly until?: string | undefined;
}

export const useTimeline = (id: string, { kind, ...filter }: TimelineFilter) =>
  hooks.useInfiniteQuery(
    "get",
    TIMELINE,
    useHereWith({ limit: 100, ...filled({ ...filter, kind: kind && [kind] }) }, { id }),
    BY_CURSOR,
  );

/** Sets attributes and states of a user, checked as an attributes object of /users/track is. */
export const useChangeUser = (id: string) => {
  const name = useWorkspace();
  const { mutateAsync } = hooks.useMutation("patch", USER);
  return async (attributes: Record<string, unknown>): Promise<void> => {
    await mutateAsync({ params: { path: { name, id } }, body: { attributes } });
    await refresh(USERS);
  };
};

/** Merges users, or previews that with `dry_run`. */
export const useMergeUser = () =>
  hooks.useMutation("post", `${USER}/merge`, {
    onSuccess: ({ merged }) => (merged ? refresh(USERS) : undefined),
  });

const MERGES = "/admin/v1/workspaces/{name}/merges";

/** The id of the merge of a user into another one. */
export async function mergeOf(name: string, user: string): Promise<string | undefined> {
  const query = { user, limit: 1 };
  const { data } = await http.GET(MERGES, { params: { path: { name }, query } });
  return data?.merges[0]?.id;
}

/** Undoes a merge, or previews that with `dry_run`. */
export const useUndoMerge = () => {
  const undo = hooks.useMutation("post", `${MERGES}/{id}/undo`);
  return {
    ...undo,
    send: async (name: string, id: string, dry_run: boolean) => {
      const done = await undo.mutateAsync({ params: { path: { name, id } }, body: { dry_run } });
      if (!dry_run) await refresh(USERS);
      return done;
    },
  };
};

export const useEraseUser = () =>
  hooks.useMutation("delete", USER, {
    // Data about the user does not stay in memory.
    onSuccess: () => {
      const isOfOne = (path: unknown) => String(path).startsWith(USER);
      queryClient.removeQueries({ predicate: ({ queryKey }) => isOfOne(queryKey[1]) });
      return refresh(USERS);
    },
  });

/** Everything that is stored about a user, with the whole timeline. */
export async function exportUser(name: string, id: string): Promise<unknown> {
  const path = { name, id };
  const { data: record } = await http.GET(USER, { params: { path } });
  const timeline: TimelineEntry[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: 200, ...(cursor && { cursor }) };
    const { data } = await http.GET(TIMELINE, { params: { path, query } });
    timeline.push(...(data?.entries ?? []));
    cursor = data?.next_cursor;
  } while (cursor);
  return { ...record, message: undefined, timeline };
}
