/*
 * A browser that is signed in to the dashboard, as far as tests need one: it keeps the cookie and
 * sends the CSRF token with every change.
 */
import type { Answer, CallOptions, TestServer } from "../harness.ts";

export interface SignedIn {
  /** The browser's cookie, such as `rapport-session=…`. */
  readonly cookie: string;
  readonly csrfToken: string;
  /** The headers of a request that changes something. */
  readonly headers: Readonly<Record<string, string>>;
  call(
    method: string,
    path: string,
    body?: unknown,
    options?: Pick<CallOptions, "headers" | "raw">,
  ): Promise<Answer<any>>;
}

/** The cookie that a response sets, as a browser sends it back. */
export const cookieIn = ({ headers }: { readonly headers: Headers }): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(";", 1)[0])
    .join("; ");

/** Continues the session that a response began. */
export async function continueSession(server: TestServer, cookie: string): Promise<SignedIn> {
  const answer = await server.send("GET", "/dashboard/session", undefined, { headers: { cookie } });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  const headers = { cookie, "x-csrf-token": answer.body.csrf_token };
  return {
    cookie,
    csrfToken: answer.body.csrf_token,
    headers,
    call: (method, path, body, options = {}) =>
      server.send(method, path, body, { ...options, headers: { ...headers, ...options.headers } }),
  };
}

/** Signs in as the administrator, with the admin token. */
export async function signIn(server: TestServer): Promise<SignedIn> {
  const answer = await server.send("POST", "/dashboard/session", {
    admin_token: server.adminToken,
  });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return continueSession(server, cookieIn(answer));
}
