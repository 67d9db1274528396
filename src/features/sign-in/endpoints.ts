import Type from "typebox";
import type { FailedAttempts } from "../../core/admin/access/failed-attempts.ts";
import { hasHash } from "../../core/admin/secrets/secrets.ts";
import type { Context } from "../../core/base/context/context.ts";
import type { Session } from "../../core/base/context/person.ts";
import { OnlySuccess, Success } from "../../core/base/values/schemas.ts";
import type { Database } from "../../core/database/database.ts";
import { endedCookie, sessionCookie } from "../../core/http/browser.ts";
import { byAdministrator, byAnybody, bySession, endpoint } from "../../core/http/endpoint.ts";
import type { Sessions, StartedSession } from "../dashboard-users/feature.ts";
import { createSignInLink, type LinkServices } from "./links.ts";
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
): Promise<StartedSession & { readonly session: Session }> {
  failedAttempts.refuseLocked("administrator", context.address ?? "");
  if (!adminTokenHashes.some((hash) => hasHash(given, hash))) {
    throw failedAttempts.refuse("administrator", context.address ?? "");
  }
  const started = await sessions.start(context, null, { way: "admin_token" });
  const session = await sessions.find(started.secret, true);
  if (!session) throw new Error("A session that has just begun is not found.");
  return { ...started, session };
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
  body: Type.Object(
    {
      admin_token: Type.String({
        maxLength: 1_024,
        description: "ADMIN_TOKEN, or the content of the file admin-token in the data folder.",
        examples: ["admin_9f86d081884c7d659a2feaa0c55ad015"],
      }),
    },
    { additionalProperties: false },
  ),
  replies: { 200: SessionView },
}).handledBy(async (services: AdminTokenServices & Services, context, { body, baseUrl }) => {
  const { secret, expiresAt, session } = await signInWithAdminToken(
    services,
    context,
    body.admin_token,
  );
  return {
    status: 200,
    body: await viewSession(services, session),
    headers: {
      "set-cookie": sessionCookie(baseUrl, secret, expiresAt),
      "cache-control": "no-store",
    },
  };
});

const endEndpoint = endpoint({
  name: "signOut",
  method: "DELETE",
  path: PATH,
  summary: "Signs out of the dashboard in this browser.",
  access: bySession,
  replies: { 200: OnlySuccess },
}).handledBy(async ({ sessions }: Services, context, { baseUrl }) => {
  await sessions.end(context, context.session);
  const headers = { "set-cookie": endedCookie(baseUrl) };
  return { status: 200, body: { message: "success" }, headers };
});

const endAllEndpoint = endpoint({
  name: "signOutEverywhere",
  method: "DELETE",
  path: "/dashboard/sessions",
  summary: "Signs out of the dashboard in every browser.",
  access: bySession,
  replies: { 200: OnlySuccess },
}).handledBy(async ({ sessions }: Services, context, { baseUrl }) => {
  await sessions.endAll(context, context.session);
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
      url: Type.String({
        description: "The link; the first person to open it and confirm is signed in.",
        examples: ["https://rapport.example/dashboard/sign-in?token=link_Zm9v"],
      }),
      expires_at: Type.String({
        description: "Until when it works.",
        examples: ["2026-01-01T12:15:00.000Z"],
      }),
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
  endEndpoint,
  endAllEndpoint,
  linkEndpoint,
];
