import type { FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../base/problem.ts";
import { refuseUnstorableText } from "../base/values/plain-json.ts";
import { ambiguousHost, baseUrlOf } from "./base-url.ts";
import { presentedByBrowser, refuseOtherSites } from "./browser.ts";
import type { Authenticator, Caller, Presented, RateLimits } from "./callers.ts";
import { LONGEST_URL, MOST_HEADERS } from "./connections.ts";
import { type Access, type Contract, pathsOf } from "./endpoint.ts";
import type { Load, LoadOwner } from "./load.ts";
import { tooMuchLoad } from "./respond.ts";

/* Admission: every check of a request before a byte of its body is read. */

/**
 * Responses for administrators are kept by no cache, and are removed from the browser when they
 * sign out.
 */
const NO_STORE = { "cache-control": "no-store" };

export interface AdmissionServices {
  readonly authenticator: Authenticator;
  readonly rateLimits: RateLimits;
  readonly load: Load;
}

/** Checks that need only the head of a request. @returns why it is refused, if it is. */
export const refusalOfHead = (request: FastifyRequest): Problem | undefined =>
  manyHeaders(request) ?? longUrl(request) ?? otherTarget(request) ?? ambiguousHost(request);

function manyHeaders({ raw }: FastifyRequest): Problem | undefined {
  if (raw.rawHeaders.length <= MOST_HEADERS * 2) return undefined;
  return new Problem("HEADERS_TOO_LARGE", `The request has more than ${MOST_HEADERS} headers.`);
}

function longUrl({ url }: FastifyRequest): Problem | undefined {
  if (url.length <= LONGEST_URL) return undefined;
  const sentence = `The path and query are longer than ${LONGEST_URL} characters.`;
  return new Problem("URL_TOO_LONG", sentence);
}

/**
 * A target that reaches an endpoint but is not written as its path: proxies match paths as sent, so
 * `/%61dmin` and `http://host/admin` would pass a rule about `/admin`.
 */
function otherTarget({ url, is404, routeOptions }: FastifyRequest): Problem | undefined {
  if (!url.startsWith("/")) {
    return new Problem("INVALID_REQUEST", "The target of the request must begin with /.");
  }
  if (is404 || !url.includes("%")) return undefined;
  const sent = (url.split(/[?#]/, 1)[0] ?? "").split("/");
  const declared = (routeOptions.url ?? "").split("/");
  const isWritten = declared.every((part, index) => /[:*]/.test(part) || part === sent[index]);
  if (isWritten) return undefined;
  return new Problem(
    "INVALID_REQUEST",
    "The fixed parts of a path must be written without escapes.",
  );
}

/**
 * Identifies the caller, admits the request and applies the rate limit, before a byte of the body
 * is read. No one takes room that others share before the caller is known.
 */
export async function admit(
  services: AdmissionServices,
  contract: Contract,
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string | undefined,
): Promise<void> {
  const { access } = contract;
  refuseOtherSites(contract, request, publicUrl);
  const caller = await identify(services, contract, request, publicUrl);
  request.context = {
    ...caller,
    call: `${contract.method} ${pathsOf(contract)[0]}`,
    requestId: request.id,
    address: request.ip,
  };
  admitRequest(services.load, contract, request);
  if (access.by === "administrator" || access.by === "session") reply.headers(NO_STORE);
  const limit = await services.rateLimits.count(access, caller);
  if (!limit) return;
  reply.header("x-ratelimit-limit", limit.limit);
  reply.header("x-ratelimit-remaining", limit.remaining);
  reply.header("x-ratelimit-reset", limit.resetAt);
  if (limit.retryAfterSeconds === 0) return;
  throw new Problem(
    "RATE_LIMITED",
    "You have exceeded the maximum number of requests. Please try again later.",
    { retryAfterSeconds: limit.retryAfterSeconds },
  );
}

/** Who calls. @throws Problem as the authenticator does. */
const identify = (
  { authenticator }: Pick<AdmissionServices, "authenticator">,
  contract: Contract,
  request: FastifyRequest,
  publicUrl: string | undefined,
): Promise<Caller> =>
  authenticator.identify(contract.access, presentedBy(contract, request, publicUrl));

/** Whether a request that lasts may still be made. @throws Problem as the authenticator does. */
export function confirm(
  { authenticator }: Pick<AdmissionServices, "authenticator">,
  contract: Contract,
  request: FastifyRequest,
  publicUrl: string | undefined,
): Promise<Caller> {
  const presented = presentedBy(contract, request, publicUrl);
  // That a response lasts does not show that somebody is there.
  const browser = presented.browser && { ...presented.browser, isUse: false };
  return authenticator.confirm(contract.access, { ...presented, browser });
}

function presentedBy(
  contract: Contract,
  request: FastifyRequest,
  publicUrl: string | undefined,
): Presented {
  const { access } = contract;
  const namesServer = access.by === "key" && access.refuseWithout !== undefined;
  return {
    authorization: request.headers.authorization,
    origin: request.headers["x-request-origin"],
    address: request.ip,
    workspaceName: workspaceNameIn(access, request),
    baseUrl: namesServer ? baseUrlOf(request, publicUrl) : "",
    browser: presentedByBrowser(contract, request, publicUrl),
  };
}

/** @throws Problem UNAVAILABLE if there is none; health is served all the same. */
function admitRequest(load: Load, contract: Contract, request: FastifyRequest): void {
  if (contract.isEssential) return;
  const room = load.admit(ownerOf(request));
  if (typeof room === "string") throw tooMuchLoad();
  request.room = room;
}

function ownerOf({ context, ip }: FastifyRequest): LoadOwner {
  if (context?.actor === "anybody") return { name: ip, isAnonymous: true };
  return { name: context?.workspace?.name ?? context?.actor ?? "", isAnonymous: false };
}

function workspaceNameIn(access: Access, { params }: FastifyRequest): string | undefined {
  if (access.by !== "administrator" || access.of !== "workspace") return undefined;
  refuseUnstorableText(params, "path");
  return (params as { name: string }).name;
}
