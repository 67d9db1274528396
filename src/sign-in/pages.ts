import Type from "typebox";
import { sessionCookie } from "../http/browser.ts";
import { byAnybody, endpoint } from "../http/endpoint.ts";
import { followSignInLink, type LinkServices } from "./links.ts";

/* What a browser opens to sign in: each leads on to the dashboard, or says in a page why not. */

const followLink = endpoint({
  method: "GET",
  path: "/dashboard/sign-in",
  summary: "Signs in with a link that works once, and leads to the dashboard.",
  access: byAnybody,
  dialect: "page",
  refusals: ["UNAUTHENTICATED", "RATE_LIMITED"],
  query: Type.Object({ token: Type.String({ maxLength: 128 }) }),
  replies: { 303: Type.Undefined() },
}).handledBy(async (services: LinkServices, context, { query, baseUrl }) => {
  const { secret, expiresAt } = await followSignInLink(services, context, query.token);
  return {
    status: 303,
    body: undefined,
    headers: {
      location: dashboardPath(baseUrl),
      "set-cookie": sessionCookie(baseUrl, secret, expiresAt),
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
    },
  };
});

/** A path, not an address: a proxy may serve Rapport under several hosts, and the cookie is of this one. */
export const dashboardPath = (baseUrl: string, path = "/dashboard/"): string =>
  new URL(baseUrl).pathname.replace(/\/$/, "") + path;

export const signInPages = [followLink];
