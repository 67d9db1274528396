import { QueryClient } from "@tanstack/react-query";
import createFetch, { type Middleware } from "openapi-fetch";
import createHooks from "openapi-react-query";
import type { components, operations, paths } from "../../../client/src/schema.ts";
import { ApiError, errorOf } from "./api-error.ts";
import { csrfToken, SESSION_KEY, type SessionState } from "./session.ts";
import { unattended } from "./unattended.ts";

/*
 * The one way to the API. `hooks.useQuery("get", path, …)` reads and `hooks.useMutation(…)` changes; paths, parameters
 * and bodies are typed by openapi.json. A refusal is thrown as an `ApiError`.
 */

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A server on this machine is reached without a network too.
      networkMode: "always",
      // Only failures that the network or an overloaded server may have caused are worth a retry.
      retry: (failures, error) => failures < 2 && (!isRefusal(error) || error.status >= 500),
    },
    mutations: { networkMode: "always" },
  },
});

const isRefusal = (error: unknown): error is ApiError => error instanceof ApiError;

const session: Middleware = {
  onRequest({ request }) {
    if (request.method !== "GET") request.headers.set("X-CSRF-Token", csrfToken(queryClient));
    for (const [name, value] of unattended()) request.headers.set(name, value);
    return request;
  },
  async onResponse({ response }) {
    if (response.ok) return;
    const error = await errorOf(response);
    if (response.status === 401) showSignIn(error.message);
    if (response.status === 403) void checkPermissions();
    throw error;
  },
};

/** The session has ended: every page gives way to the sign-in. */
function showSignIn(message: string): void {
  queryClient.setQueryData<SessionState>(SESSION_KEY, (state) =>
    state?.session ? { ...state, session: null, message } : state,
  );
  // The ways to sign in come with the refusal.
  void queryClient.invalidateQueries({ queryKey: SESSION_KEY });
}

/**
 * A permission may have been revoked, or another person signed in, while the page was open: the
 * navigation follows, and every page loads its data again.
 */
async function checkPermissions(): Promise<void> {
  const held = () => {
    const session = queryClient.getQueryData<SessionState>(SESSION_KEY)?.session;
    return JSON.stringify([session?.person, session?.administrator, session?.permissions]);
  };
  const before = held();
  await queryClient.refetchQueries({ queryKey: SESSION_KEY });
  if (held() !== before) await queryClient.invalidateQueries();
}

/** What the API sends and takes, by the names that the OpenAPI documents give it. */
export type Schemas = components["schemas"];

type Json = { content: { "application/json": unknown } };
type JsonOf<Body> = Body extends Json ? Body["content"]["application/json"] : never;

/** The body of an operation's response. */
export type Received<Name extends keyof operations> = JsonOf<
  Extract<operations[Name]["responses"][keyof operations[Name]["responses"] & (200 | 201)], Json>
>;

/** The body of an operation's request. */
export type Sent<Name extends keyof operations> = JsonOf<
  NonNullable<operations[Name]["requestBody"]>
>;

export const http = createFetch<paths>({ baseUrl: "" });
http.use(session);

export const hooks = createHooks(http);

/** Reads again everything of the paths that begin so, after a change. */
export const refresh = (...starts: readonly string[]): Promise<void> =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [, path] }) => starts.some((start) => String(path).startsWith(start)),
  });
