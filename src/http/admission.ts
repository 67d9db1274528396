import type { FastifyReply, FastifyRequest } from "fastify";
import type { Authenticator } from "../access/authenticate.ts";
import type { LimitName, RateLimits } from "../access/rate-limits.ts";
import { Problem } from "../problem.ts";
import { LONGEST_URL } from "./connections.ts";
import type { Access, Contract } from "./endpoint.ts";
import { BODY_LIMIT_BYTES } from "./json-body.ts";
import type { Load } from "./load.ts";
import { contractOf } from "./request-state.ts";
import { tooMuchLoad } from "./respond.ts";

/* Who gets in: everything that is asked of a request before a byte of its body is read. */

export interface AdmissionServices {
  readonly authenticator: Authenticator;
  readonly rateLimits: RateLimits;
  readonly load: Load;
}

/** Makes room for a request of whatever path. @returns why it is refused, if it is. */
export const makeRoom = (
  { load }: AdmissionServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Problem | undefined => longUrl(request) ?? takeRoom(load, request, reply);

function longUrl({ url }: FastifyRequest): Problem | undefined {
  if (url.length <= LONGEST_URL) return undefined;
  const sentence = `The path and query are longer than ${LONGEST_URL} characters.`;
  return new Problem("URL_TOO_LONG", sentence);
}

/** Refuses a request that the server has no room for; health is asked when that matters most. */
function takeRoom(load: Load, request: FastifyRequest, reply: FastifyReply): Problem | undefined {
  if (contractOf(request)?.isEssential) return undefined;
  const announced = Number(request.headers["content-length"] ?? 0);
  // A body over the limit is never read: it gets its 413, and takes no room.
  const room = load.admit(announced > BODY_LIMIT_BYTES ? 0 : announced);
  if (typeof room === "string") return tooMuchLoad();
  request.room = room;
  reply.raw.once("close", room.hold());
  return undefined;
}

/** Checks who calls and whether the limit lets it through, before a byte of the body is read. */
export async function admit(
  services: AdmissionServices,
  { access }: Contract,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const name = await authenticate(services, access, request);
  const subject = request.workspace ?? request.company;
  if (!name || !subject) return;
  const limit = await services.rateLimits.count(subject, name);
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

/** Finds out who calls. @returns what the request is counted by. */
async function authenticate(
  { authenticator }: AdmissionServices,
  access: Access,
  request: FastifyRequest,
): Promise<LimitName | undefined> {
  const { authorization, "x-request-origin": origin } = request.headers;
  switch (access.by) {
    case "key": {
      const { permission } = access;
      const holder = await authenticator.keyHolder(authorization, permission, request.ip);
      request.workspace = holder.workspace;
      request.keyName = holder.keyName;
      return permission;
    }
    case "scim": {
      const holder = await authenticator.tokenHolder(authorization, origin);
      request.company = holder.company;
      request.keyName = holder.tokenName;
      return "scim";
    }
    case "administrator":
      authenticator.administrator(authorization);
      return undefined;
    case "anybody":
      return undefined;
  }
}
