import { type QueryClient, queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import type { components } from "../../../client/src/schema.ts";
import { errorOf } from "./api-error.ts";
import { unattended } from "./unattended.ts";

/** The signed-in person and their permissions. */
export type Session = components["schemas"]["Session"];

export interface SessionState {
  /** Null if nobody is signed in. */
  readonly session: Session | null;
  /** Why not. */
  readonly message?: string;
  /** The address for signing in, if an identity provider is configured. */
  readonly oidc: { readonly name: string; readonly url: string } | null;
  /** Whether passwords and passkeys open the dashboard. */
  readonly local: boolean;
}

const PATH = "/dashboard/session";

export const SESSION_KEY = ["session"] as const;

export const sessionQuery = queryOptions({
  queryKey: SESSION_KEY,
  staleTime: 60_000,
  // Another tab may have signed out, or signed another person in.
  refetchOnWindowFocus: "always",
  networkMode: "always",
  queryFn: async ({ signal }): Promise<SessionState> => {
    const response = await fetch(PATH, { signal, headers: unattended() });
    if (response.ok) {
      return { session: (await response.json()) as Session, oidc: null, local: false };
    }
    const error = await errorOf(response);
    if (response.status !== 401) throw error;
    const { sign_in } = error.body as { sign_in?: Pick<SessionState, "oidc" | "local"> };
    const { oidc = null, local = false } = sign_in ?? {};
    return { session: null, message: error.message, oidc, local };
  },
});

export const csrfToken = (client: QueryClient): string =>
  client.getQueryData<SessionState>(SESSION_KEY)?.session?.csrf_token ?? "";

/** @throws Error outside of the pages, which are only shown to people who are signed in. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery);
  if (!data?.session) throw new Error("Nobody is signed in.");
  return data.session;
}

async function send(method: string, path: string, headers: HeadersInit, body?: unknown) {
  const response = await fetch(path, {
    method,
    headers: { "Content-Type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw await errorOf(response);
  return response;
}

/** A step of signing in, below the address of the session. */
export const sendSignIn = async (step: string, body?: unknown): Promise<unknown> =>
  (await send("POST", `${PATH}/${step}`, {}, body ?? {})).json();

/** Signs in with the admin token, for the first minutes of a server. */
export function useSignInWithToken() {
  const client = useQueryClient();
  return async (adminToken: string): Promise<void> => {
    await send("POST", PATH, {}, { admin_token: adminToken });
    await client.invalidateQueries({ queryKey: SESSION_KEY });
  };
}

/** Signs out of this browser, or of all. */
export function useSignOut() {
  const client = useQueryClient();
  return async (where: "here" | "everywhere"): Promise<void> => {
    const path = where === "here" ? PATH : "/dashboard/sessions";
    await send("DELETE", path, { "X-CSRF-Token": csrfToken(client) });
    // Nothing that was shown stays in memory.
    client.clear();
    location.assign("/dashboard/");
  };
}
