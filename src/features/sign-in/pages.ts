import { createHmac, timingSafeEqual } from "node:crypto";
import Type from "typebox";
import type { FailedAttempts } from "../../core/admin/access/failed-attempts.ts";
import type { Clock } from "../../core/base/clock.ts";
import type { Context } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { Text } from "../../core/base/values/schemas.ts";
import type { Database } from "../../core/database/database.ts";
import { attemptCookie, readAttemptCookie, sessionCookie } from "../../core/http/browser.ts";
import { byAnybody, endpoint } from "../../core/http/endpoint.ts";
import { PAGE_HEADERS } from "../../core/http/page-headers.ts";
import { sentencePage } from "../../core/http/sentence-page.ts";
import { checkStoredEmail } from "../../core/people/profiles/addresses.ts";
import { findActiveUser, type Sessions } from "../dashboard-users/feature.ts";
import { UserAgent } from "./credentials-view.ts";
import type { IdentityProvider, SignInAttempt } from "./identity-provider.ts";
import { followSignInLink, type LinkServices } from "./links.ts";

/*
 * The attempt in the browser's cookie: signed, so that only sign-ins that the server began are
 * accepted, and only for ten minutes. Any server on the database can check it.
 */

const VALID_MS = 600_000;

interface Content extends SignInAttempt {
  readonly until: number;
}

/** @param keySource of a secret that all servers on the database have. */
function signAttempt(attempt: SignInAttempt, keySource: string, now: Date): string {
  const content: Content = { ...attempt, until: now.getTime() + VALID_MS };
  const text = Buffer.from(JSON.stringify(content)).toString("base64url");
  return `${text}.${signatureOf(text, keySource).toString("base64url")}`;
}

/** @returns undefined for what no server signed, or too long ago. */
function readAttempt(cookie: string, keySource: string, now: Date): SignInAttempt | undefined {
  const [text = "", signature = ""] = cookie.split(".");
  const given = Buffer.from(signature, "base64url");
  const wanted = signatureOf(text, keySource);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
  const { until, ...attempt } = JSON.parse(Buffer.from(text, "base64url").toString()) as Content;
  return now.getTime() <= until ? attempt : undefined;
}

const signatureOf = (text: string, keySource: string): Buffer =>
  createHmac("sha256", `sign-in attempts ${keySource}`).update(text).digest();

/* The address after sign-in. */

const DASHBOARD = "/dashboard/";

/** A host that is never contacted: it only shows whether an address leaves this server. */
const NOWHERE = "http://local.invalid";

/**
 * A path of the dashboard, with query and fragment. Everything else becomes the dashboard itself,
 * so that no link to the sign-in sends a person to another site.
 */
function localPath(wanted: unknown): string {
  if (typeof wanted !== "string" || !wanted.startsWith("/")) return DASHBOARD;
  if (!URL.canParse(wanted, NOWHERE)) return DASHBOARD;
  // Parsed as browsers parse it: they take \ for / and leave out tabs and line breaks.
  const { origin, pathname, search, hash } = new URL(wanted, NOWHERE);
  const isOurs =
    origin === NOWHERE && (pathname.startsWith(DASHBOARD) || pathname === "/dashboard");
  return isOurs ? pathname + search + hash : DASHBOARD;
}

/** A path, not an address: a proxy may serve Rapport under several hosts, and the cookie is of this one. */
const dashboardPath = (baseUrl: string, path = DASHBOARD): string =>
  new URL(baseUrl).pathname.replace(/\/$/, "") + path;

/* The pages that a browser opens to sign in: each redirects to the dashboard, or shows why it does not. */

const PAGE = { method: "GET", access: byAnybody, dialect: "page" } as const;

const LINK = "/dashboard/sign-in";

/** Where a colleague who was invited chooses how to sign in from now on. */
const OWN_SIGN_IN = "/dashboard/account?welcome=1";

const NOT_KEPT = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

const Token = Type.Object({
  token: Text("The secret of the link.", "x", { maxLength: 128 }),
});

/* A preview of the link, or a program that only looks, signs nobody in: signing in takes a click. */
const showLink = endpoint({
  name: "showSignInLink",
  ...PAGE,
  path: LINK,
  summary: "Shows the button that signs in with a link which works once.",
  produces: "text/html",
  query: Token,
  replies: { 200: Type.String() },
}).handledBy(async (_services: object, _context, { query }) => {
  const page = {
    heading: "Sign in to Rapport",
    text: "This link works once, in this browser, and signs in the person whom it was made for.",
    locale: "en",
    direction: "ltr",
  } as const;
  const form = { action: `?token=${encodeURIComponent(query.token)}`, button: "Sign in" };
  const body = sentencePage(page.heading, page, form);
  // With no-referrer the browser would not say that the form is one of this page.
  const headers = { ...NOT_KEPT, ...PAGE_HEADERS, "referrer-policy": "same-origin" };
  return { status: 200, body, headers };
});

const followLink = endpoint({
  name: "followSignInLink",
  ...PAGE,
  method: "POST",
  path: LINK,
  summary: "Signs in with a one-time link, and opens the dashboard.",
  fromOwnPages: true,
  refusals: ["UNAUTHENTICATED", "FORBIDDEN", "RATE_LIMITED"],
  accepts: ["application/x-www-form-urlencoded"],
  query: Token,
  headers: UserAgent,
  body: Type.String(),
  replies: { 303: Type.Undefined() },
}).handledBy(async (services: LinkServices, context, { query, headers, baseUrl }) => {
  const userAgent = headers["user-agent"];
  const { secret, expiresAt, isInvitation } = await followSignInLink(
    services,
    context,
    query.token,
    userAgent,
  );
  const location = dashboardPath(baseUrl, isInvitation ? OWN_SIGN_IN : DASHBOARD);
  const cookie = { "set-cookie": sessionCookie(baseUrl, secret, expiresAt) };
  return { status: 303, body: undefined, headers: { ...NOT_KEPT, location, ...cookie } };
});

interface ProviderServices {
  readonly database: Database;
  readonly sessions: Sessions;
  readonly identityProvider: IdentityProvider | undefined;
  readonly failedAttempts: FailedAttempts;
  readonly clock: Clock;
  /** Derived from a secret that all servers on the database have. */
  readonly adminTokenHash: string;
}

const CALLBACK = "/dashboard/sign-in/callback";

const begin = endpoint({
  name: "beginSignIn",
  ...PAGE,
  path: "/dashboard/sign-in/oidc",
  summary: "Redirects to the identity provider.",
  refusals: ["NOT_FOUND"],
  query: Type.Object({
    return_to: Type.Optional(
      Text("The page of the dashboard that is opened afterwards.", DASHBOARD, { maxLength: 2_048 }),
    ),
  }),
  replies: { 303: Type.Undefined() },
}).handledBy(async (services: ProviderServices, _context, { query, baseUrl }) => {
  const { adminTokenHash, clock } = services;
  const provider = providerOf(services);
  const { url, attempt } = await provider.begin(baseUrl + CALLBACK, localPath(query.return_to));
  const headers = {
    ...NOT_KEPT,
    location: url,
    "set-cookie": attemptCookie(baseUrl, signAttempt(attempt, adminTokenHash, clock.now())),
  };
  return { status: 303, body: undefined, headers };
});

const Parameter = Type.Optional(
  Text("What the identity provider says, as OpenID Connect defines it.", "x", { maxLength: 4_096 }),
);

const callback = endpoint({
  name: "finishSignIn",
  ...PAGE,
  path: CALLBACK,
  summary: "The identity provider sends the browser back here.",
  refusals: ["FORBIDDEN", "NOT_FOUND", "RATE_LIMITED"],
  query: Type.Object({
    code: Parameter,
    state: Parameter,
    iss: Parameter,
    error: Parameter,
    error_description: Parameter,
  }),
  headers: Type.Object({
    cookie: Type.Optional(Text("With the attempt that began the sign-in.", "x=y")),
    ...UserAgent.properties,
  }),
  replies: { 303: Type.Undefined() },
}).handledBy(async (services: ProviderServices, context, { query, headers, baseUrl }) => {
  const { adminTokenHash, clock, failedAttempts } = services;
  const from = context.address ?? "";
  failedAttempts.refuseLocked("sign_in", from);
  const cookie = readAttemptCookie(baseUrl, headers.cookie);
  const attempt = cookie && readAttempt(cookie, adminTokenHash, clock.now());
  if (!attempt) throw staleAttempt();
  const address = new URL(baseUrl + CALLBACK);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) address.searchParams.set(name, value);
  }
  const email = await providerOf(services)
    .finish(address, attempt)
    .catch((error: unknown) => {
      // Each one makes the server ask the provider, which a stranger must not do at will. An outage is nobody's fault:
      // it must not lock out the office behind one address.
      const isOutage = error instanceof Problem && error.code === "UNAVAILABLE";
      if (!isOutage) failedAttempts.note("sign_in", from);
      throw error;
    });
  const { secret, expiresAt } = await startFor(services, context, email, headers["user-agent"]);
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

/** The person is the active dashboard user who has the address as user name. */
async function startFor(
  services: ProviderServices,
  context: Context,
  email: string,
  userAgent: string | undefined,
) {
  // An address that cannot be a user name is neither looked up nor repeated.
  const isUserName = !("fault" in checkStoredEmail(email));
  const user = isUserName ? await findActiveUser(services, email) : undefined;
  if (user) return services.sessions.start(context, user.id, { way: "oidc", userAgent });
  const who = isUserName ? email : "with the name that the identity provider gives you";
  throw new Problem(
    "FORBIDDEN",
    `There is no dashboard user ${who}, or the user is not active. Ask an administrator for access.`,
  );
}

function providerOf({ identityProvider }: ProviderServices): IdentityProvider {
  if (identityProvider) return identityProvider;
  throw new Problem("NOT_FOUND", "No identity provider is set up. Sign in with the admin token.");
}

const staleAttempt = () =>
  new Problem("FORBIDDEN", "This sign-in has expired, or began in another browser. Begin again.");

export const signInPages = [showLink, followLink, begin, callback];
