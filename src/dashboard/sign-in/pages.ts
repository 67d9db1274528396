import Type from "typebox";
import type { Context } from "../../base/context/context.ts";
import { Problem } from "../../base/problem.ts";
import type { Database } from "../../database/database.ts";
import { attemptCookie, readAttemptCookie, sessionCookie } from "../../http/browser.ts";
import { byAnybody, endpoint } from "../../http/endpoint.ts";
import { findActiveUser, type Sessions } from "../users/sessions.ts";
import type { IdentityProvider, SignInAttempt } from "./identity-provider.ts";
import { followSignInLink, type LinkServices } from "./links.ts";
import { dashboardPath, localPath } from "./local-path.ts";

/* The pages that a browser opens to sign in: each redirects to the dashboard, or shows why it does not. */

const PAGE = { method: "GET", access: byAnybody, dialect: "page" } as const;

const NOT_KEPT = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

const followLink = endpoint({
  name: "followSignInLink",
  ...PAGE,
  path: "/dashboard/sign-in",
  summary: "Signs in with a link that works once, and leads to the dashboard.",
  refusals: ["UNAUTHENTICATED", "RATE_LIMITED"],
  query: Type.Object({ token: Type.String({ maxLength: 128 }) }),
  replies: { 303: Type.Undefined() },
}).handledBy(async (services: LinkServices, context, { query, baseUrl }) => {
  const { secret, expiresAt } = await followSignInLink(services, context, query.token);
  const headers = {
    ...NOT_KEPT,
    location: dashboardPath(baseUrl),
    "set-cookie": sessionCookie(baseUrl, secret, expiresAt),
  };
  return { status: 303, body: undefined, headers };
});

interface ProviderServices {
  readonly database: Database;
  readonly sessions: Sessions;
  readonly identityProvider: IdentityProvider | undefined;
}

const CALLBACK = "/dashboard/sign-in/callback";

const begin = endpoint({
  name: "beginSignIn",
  ...PAGE,
  path: "/dashboard/sign-in/oidc",
  summary: "Leads to the identity provider.",
  refusals: ["NOT_FOUND"],
  query: Type.Object({ return_to: Type.Optional(Type.String({ maxLength: 2_048 })) }),
  replies: { 303: Type.Undefined() },
}).handledBy(async (services: ProviderServices, _context, { query, baseUrl }) => {
  const provider = providerOf(services);
  const { url, attempt } = await provider.begin(baseUrl + CALLBACK, localPath(query.return_to));
  const headers = {
    ...NOT_KEPT,
    location: url,
    "set-cookie": attemptCookie(baseUrl, JSON.stringify(attempt)),
  };
  return { status: 303, body: undefined, headers };
});

const Parameter = Type.Optional(Type.String({ maxLength: 4_096 }));

const callback = endpoint({
  name: "finishSignIn",
  ...PAGE,
  path: CALLBACK,
  summary: "Where the identity provider sends the browser back to.",
  refusals: ["FORBIDDEN", "NOT_FOUND"],
  query: Type.Object({
    code: Parameter,
    state: Parameter,
    iss: Parameter,
    error: Parameter,
    error_description: Parameter,
  }),
  headers: Type.Object({ cookie: Type.Optional(Type.String()) }),
  replies: { 303: Type.Undefined() },
}).handledBy(async (services: ProviderServices, context, { query, headers, baseUrl }) => {
  const attempt = readAttempt(readAttemptCookie(baseUrl, headers.cookie));
  const address = new URL(baseUrl + CALLBACK);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) address.searchParams.set(name, value);
  }
  const email = await providerOf(services).finish(address, attempt);
  const { secret, expiresAt } = await startFor(services, context, email);
  return {
    status: 303,
    body: undefined,
    headers: {
      ...NOT_KEPT,
      location: dashboardPath(baseUrl, localPath(attempt.returnTo)),
      "set-cookie": [sessionCookie(baseUrl, secret, expiresAt), attemptCookie(baseUrl, "")],
    },
  };
});

/** The person is the active dashboard user whose user name is the address. */
async function startFor(services: ProviderServices, context: Context, email: string) {
  const user = await findActiveUser(services, email);
  if (!user) {
    throw new Problem(
      "FORBIDDEN",
      `There is no dashboard user ${email}, or the user is not active. Ask an administrator for access.`,
    );
  }
  return services.sessions.start(context, user.id, "oidc");
}

function providerOf({ identityProvider }: ProviderServices): IdentityProvider {
  if (identityProvider) return identityProvider;
  throw new Problem("NOT_FOUND", "No identity provider is set up. Sign in with the admin token.");
}

function readAttempt(cookie: string | undefined): SignInAttempt {
  const stale = new Problem(
    "FORBIDDEN",
    "This sign-in has expired, or began in another browser. Begin again.",
  );
  if (cookie === undefined) throw stale;
  try {
    const { state, nonce, verifier, returnTo } = JSON.parse(cookie);
    const isWhole = [state, nonce, verifier].every((part) => typeof part === "string" && part);
    if (isWhole) return { state, nonce, verifier, returnTo };
  } catch {
    // Not a cookie that Rapport set.
  }
  throw stale;
}

export const signInPages = [followLink, begin, callback];
