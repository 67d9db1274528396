import type { AuthenticationResponseJSON } from "@simplewebauthn/server";
import Type from "typebox";
import type { FailedAttempts } from "../../core/admin/access/failed-attempts.ts";
import { adminPrintOf, hasHash } from "../../core/admin/secrets/secrets.ts";
import type { Context } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import {
  ClosedObject,
  OnlySuccess,
  Success,
  succeeding,
  Text,
} from "../../core/base/values/schemas.ts";
import type { Database } from "../../core/database/database.ts";
import { endedCookie, sessionCookie } from "../../core/http/browser.ts";
import {
  byAdministrator,
  byAnybody,
  bySession,
  endpoint,
  success,
} from "../../core/http/endpoint.ts";
import type { Sessions, StartedSession } from "../dashboard-users/feature.ts";
import { colleagueEndpoints } from "./colleague-endpoints.ts";
import { UserAgent } from "./credentials-view.ts";
import { createSignInLink, type LinkServices } from "./links.ts";
import { ownEndpoints } from "./own-endpoints.ts";
import { PasskeyOptions, UsedPasskey } from "./passkey-schemas.ts";
import { beginPasskeySignIn, type PasskeyServices, signInWithPasskey } from "./passkeys.ts";
import { signInWithPassword } from "./passwords.ts";
import { SessionView, viewSession } from "./session-view.ts";

interface AdminTokenServices {
  readonly sessions: Sessions;
  readonly failedAttempts: FailedAttempts;
  readonly adminTokenHashes: readonly string[];
}

/**
 * Begins a session of the administrator.
 *
 * @throws Problem UNAUTHENTICATED for another token; RATE_LIMITED after too many of them.
 */
async function signInWithAdminToken(
  { sessions, failedAttempts, adminTokenHashes }: AdminTokenServices,
  context: Context,
  given: string,
  userAgent: string | undefined,
): Promise<StartedSession> {
  failedAttempts.refuseLocked("administrator", context.address ?? "");
  const hash = adminTokenHashes.find((each) => hasHash(given, each));
  if (!hash) throw failedAttempts.refuse("administrator", context.address ?? "");
  const adminPrint = adminPrintOf(hash);
  return sessions.start(context, null, { way: "admin_token", adminPrint, userAgent });
}

/* The session of the dashboard, for its scripts. Pages that a browser opens are in pages.ts. */

interface Services {
  readonly database: Database;
  readonly sessions: Sessions;
}

const PATH = "/dashboard/session";

const NotSignedIn = Type.Object(
  {
    message: Type.String(),
    sign_in: Type.Object(
      {
        oidc: Type.Union(
          [
            Type.Object({
              name: Type.String({ description: "The provider's name." }),
              url: Type.String({ description: "The address that starts a sign-in." }),
            }),
            Type.Null(),
          ],
          { description: "The identity provider; null if none is set up." },
        ),
        local: Type.Boolean({
          description: "Whether people may sign in with invitations, passwords and passkeys.",
        }),
      },
      { description: "How to sign in." },
    ),
  },
  { title: "NotSignedIn", description: "There is no session, or it has ended." },
);

const readEndpoint = endpoint({
  name: "getSession",
  method: "GET",
  path: PATH,
  summary: "Returns the person signed in to the dashboard and their permissions.",
  access: bySession,
  replies: { 200: SessionView, 401: NotSignedIn },
}).handledBy(async (services: Services, { session }) => ({
  status: 200,
  body: await viewSession(services, session),
}));

const startEndpoint = endpoint({
  name: "signIn",
  method: "POST",
  path: PATH,
  summary: "Signs in to the dashboard with the admin token.",
  description: "Sets a cookie. Browsers may send this request only from the dashboard's own pages.",
  access: byAnybody,
  fromOwnPages: true,
  refusals: ["UNAUTHENTICATED", "FORBIDDEN", "RATE_LIMITED"],
  headers: UserAgent,
  body: ClosedObject({
    admin_token: Text(
      "ADMIN_TOKEN, or the content of the file admin-token in the data folder.",
      "admin_9f86d081884c7d659a2feaa0c55ad015",
      { maxLength: 1_024 },
    ),
  }),
  replies: { 200: SessionView },
}).handledBy(async (services: AdminTokenServices & Services, context, { body, ...input }) => {
  const userAgent = input.headers["user-agent"];
  const started = await signInWithAdminToken(services, context, body.admin_token, userAgent);
  return begun(services, input.baseUrl, started);
});

async function begun(services: Services, baseUrl: string, { secret, expiresAt }: StartedSession) {
  const session = await services.sessions.find(secret, true);
  if (!session) throw new Problem("UNAUTHENTICATED", "The session has ended meanwhile.");
  return {
    status: 200,
    body: await viewSession(services, session),
    headers: {
      "set-cookie": sessionCookie(baseUrl, secret, expiresAt),
      "cache-control": "no-store",
    },
  } as const;
}

/** Signing in is a request of the dashboard's own pages, by anybody. */
const SIGNING_IN = {
  method: "POST",
  access: byAnybody,
  fromOwnPages: true,
  headers: UserAgent,
  refusals: ["UNAUTHENTICATED", "FORBIDDEN", "RATE_LIMITED"],
} as const;

const passwordEndpoint = endpoint({
  ...SIGNING_IN,
  name: "signInWithPassword",
  path: `${PATH}/password`,
  summary: "Signs in to the dashboard with a password.",
  description:
    "Sets a cookie. The refusal is the same for a wrong password, an unknown address and a deactivated person.",
  body: ClosedObject({
    user_name: Text("The email address.", "grace@acme.example", { maxLength: 254 }),
    password: Text("The password.", "correct horse battery staple", { maxLength: 256 }),
  }),
  replies: { 200: SessionView },
}).handledBy(async (services: PasskeyServices, context, { body, headers, baseUrl }) => {
  const given = { userName: body.user_name, password: body.password };
  const userAgent = headers["user-agent"];
  return begun(services, baseUrl, await signInWithPassword(services, context, given, userAgent));
});

const passkeyOptionsEndpoint = endpoint({
  ...SIGNING_IN,
  name: "beginPasskeySignIn",
  path: `${PATH}/passkey/options`,
  summary: "Returns what a browser needs to sign in with a passkey. It names no person.",
  refusals: ["FORBIDDEN", "CONFLICT"],
  replies: succeeding({ options: PasskeyOptions }),
}).handledBy(async (services: PasskeyServices, _context, { baseUrl }) => {
  const begun = await beginPasskeySignIn(services, baseUrl);
  return success({ options: { ...begun, userVerification: "required" } });
});

const passkeyEndpoint = endpoint({
  ...SIGNING_IN,
  name: "signInWithPasskey",
  path: `${PATH}/passkey`,
  summary: "Signs in to the dashboard with a passkey.",
  description: "Sets a cookie.",
  refusals: [...SIGNING_IN.refusals, "CONFLICT"],
  body: ClosedObject({ response: UsedPasskey }),
  replies: { 200: SessionView },
}).handledBy(async (services: PasskeyServices, context, { body, headers, baseUrl }) => {
  const response = body.response as AuthenticationResponseJSON;
  const userAgent = headers["user-agent"];
  return begun(
    services,
    baseUrl,
    await signInWithPasskey(services, context, baseUrl, response, userAgent),
  );
});

const signOut = (name: string, path: string, where: string, end: "end" | "endAll") =>
  endpoint({
    name,
    method: "DELETE",
    path,
    summary: `Signs out of the dashboard in ${where}.`,
    access: bySession,
    replies: { 200: OnlySuccess },
  }).handledBy(async ({ sessions }: Services, context, { baseUrl }) => {
    await sessions[end](context, context.session);
    const headers = { "set-cookie": endedCookie(baseUrl) };
    return { status: 200, body: { message: "success" }, headers };
  });

const linkEndpoint = endpoint({
  name: "createSignInLink",
  method: "POST",
  path: "/admin/v1/sign-in-links",
  summary: "Creates a one-time link that signs in to the dashboard.",
  description:
    "It signs in its maker: with the admin token the administrator, within a session of a dashboard user that " +
    "user; removing the user ends the link's session.",
  access: byAdministrator("admin"),
  secrets: ["url"],
  replies: {
    201: Type.Object({
      url: Text(
        "The link; the first person to open it and confirm is signed in.",
        "https://rapport.example/dashboard/sign-in?token=link_Zm9v",
      ),
      expires_at: Text("Until when it works.", "2026-01-01T12:15:00.000Z"),
      message: Success,
    }),
  },
}).handledBy(async (services: LinkServices, context, { baseUrl }) => {
  const { url, expiresAt } = await createSignInLink(services, context, baseUrl);
  return {
    status: 201,
    body: { url, expires_at: expiresAt.toISOString(), message: "success" },
  };
});

export const signInEndpoints = [
  readEndpoint,
  startEndpoint,
  passwordEndpoint,
  passkeyOptionsEndpoint,
  passkeyEndpoint,
  signOut("signOut", PATH, "this browser", "end"),
  signOut("signOutEverywhere", "/dashboard/sessions", "every browser", "endAll"),
  ...ownEndpoints,
  linkEndpoint,
  ...colleagueEndpoints,
];
