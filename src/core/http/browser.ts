import { parse, type SerializeOptions, serialize } from "cookie";
import type { FastifyRequest } from "fastify";
import { Problem } from "../base/problem.ts";
import { baseUrlOf } from "./base-url.ts";
import type { PresentedByBrowser } from "./callers.ts";
import type { Contract } from "./endpoint.ts";

/* A browser's statements about a request, and the cookie with the session of the dashboard. */

const SESSION = "rapport-session";

/** Sent by the dashboard when nobody has touched the page for a minute. */
const UNATTENDED = "x-rapport-unattended";

/** A sign-in that an identity provider has still to confirm, and how long it may take over that. */
const ATTEMPT = "rapport-sign-in";
const ATTEMPT_SECONDS = 600;

/**
 * Scripts cannot read it, and no other site's forms and scripts send it. A link to the dashboard
 * does. On https, browsers accept this name only with Secure, without Domain and for the whole
 * host: no subdomain sets it.
 */
function cookie(baseUrl: string, name: string, value: string, life: SerializeOptions): string {
  const secure = isSecure(baseUrl);
  const attributes = { path: "/", httpOnly: true, sameSite: "lax", secure, ...life } as const;
  return serialize(nameOn(baseUrl, name), value, attributes);
}

const nameOn = (baseUrl: string, name: string): string =>
  isSecure(baseUrl) ? `__Host-${name}` : name;

const isSecure = (baseUrl: string): boolean => baseUrl.startsWith("https:");

/** The `Set-Cookie` that begins a session. @param baseUrl where the browser reaches the server. */
export const sessionCookie = (baseUrl: string, secret: string, expires: Date): string =>
  cookie(baseUrl, SESSION, secret, { expires });

/** The `Set-Cookie` that makes a browser forget the session. */
export const endedCookie = (baseUrl: string): string => sessionCookie(baseUrl, "", new Date(0));

/**
 * The `Set-Cookie` for a browser that an identity provider sends back; an empty value removes it.
 */
export const attemptCookie = (baseUrl: string, value: string): string =>
  cookie(baseUrl, ATTEMPT, value, { maxAge: value === "" ? 0 : ATTEMPT_SECONDS });

/** @param header the `Cookie` of a request. */
export const readAttemptCookie = (baseUrl: string, header = ""): string | undefined =>
  parse(header)[nameOn(baseUrl, ATTEMPT)];

/** The session data of a request, read only if the endpoint accepts one. */
export function presentedByBrowser(
  contract: Contract,
  request: FastifyRequest,
  publicUrl: string | undefined,
): PresentedByBrowser | undefined {
  if (contract.access.by !== "administrator" && contract.access.by !== "session") return undefined;
  const { headers, method } = request;
  const name = nameOn(baseUrlOf(request, publicUrl), SESSION);
  return {
    sessionSecret: parse(headers.cookie ?? "")[name] || undefined,
    csrfToken: headers["x-csrf-token"],
    isFromOtherSite: isFromOtherSite(request, publicUrl),
    isWrite: method !== "GET" && method !== "HEAD",
    // An open page asks again and again, and a stream lasts, even if nobody is there.
    isUse: !contract.streams && headers[UNATTENDED] === undefined,
  };
}

/** @throws Problem FORBIDDEN for a request that a page of another site made a browser send. */
export function refuseOtherSites(
  { fromOwnPages }: Contract,
  request: FastifyRequest,
  publicUrl: string | undefined,
): void {
  if (fromOwnPages && isFromOtherSite(request, publicUrl)) throw fromOtherSite();
}

/** The refusal of a request that a page of another site sent. */
export const fromOtherSite = (): Problem =>
  new Problem("FORBIDDEN", "This request came from a page of another site.");

/**
 * Browsers say where a request comes from: new ones in `Sec-Fetch-Site` (on https and localhost), all of them
 * in `Origin` with every request that changes something. Other clients say neither.
 */
function isFromOtherSite(request: FastifyRequest, publicUrl: string | undefined): boolean {
  const { origin, "sec-fetch-site": site } = request.headers;
  if (site !== undefined && site !== "same-origin" && site !== "none") return true;
  if (origin === undefined) return false;
  if (!URL.canParse(origin)) return true;
  // A proxy may end TLS without saying so, which leaves the host to compare.
  const { host } = new URL(origin);
  const isPublic = publicUrl !== undefined && new URL(publicUrl).host === host;
  return !isPublic && host !== request.host;
}
