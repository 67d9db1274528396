import { randomUUID } from "node:crypto";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Authenticator } from "../access/authenticate.ts";
import type { Company } from "../access/company.ts";
import type { LimitName, RateLimits } from "../access/rate-limits.ts";
import type { Workspace } from "../access/workspace.ts";
import { type Database, within, withRetries } from "../database/database.ts";
import type { Metrics } from "../metrics.ts";
import { Problem } from "../problem.ts";
import {
  type ConnectionLimits,
  connectionOptions,
  LONGEST_URL,
  limitConnections,
  patienceOf,
} from "./connections.ts";
import {
  type Access,
  type Call,
  type Contract,
  type Dialect,
  type Endpoint,
  type Input,
  pathsOf,
  type Reply,
} from "./endpoint.ts";
import { ANSWERS_OF_COMPANY, type Idempotency } from "./idempotency.ts";
import { BODY_LIMIT_BYTES } from "./json-body.ts";
import type { Load, Room } from "./load.ts";
import { readBodies, refuseForeignBody } from "./media-types.ts";
import { PAGE_HEADERS } from "./page-headers.ts";
import { asProblem, MEDIA_TYPE_OF, problemReply, STATUS_OF, tooMuchLoad } from "./respond.ts";
import { countConnections } from "./stopping.ts";
import { unpackBodies } from "./unpack.ts";
import { compileContract } from "./validate.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** On whose behalf the request runs; set once the key is checked. */
    workspace: Workspace | undefined;
    /** The same where a SCIM token was shown. */
    company: Company | undefined;
    /** The name of the key or the token that was shown. */
    keyName: string | undefined;
    /** The body as it was sent. */
    bytes: Buffer | undefined;
    /** What the request takes of what the server can hold. */
    room: Room | undefined;
  }
}

/** What the HTTP layer itself needs; a handler may ask for more. */
export interface HttpServices {
  readonly database: Database;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly authenticator: Authenticator;
  readonly rateLimits: RateLimits;
  readonly idempotency: Idempotency;
  readonly load: Load;
}

export interface ServerSettings extends ConnectionLimits {
  /** Whose `X-Forwarded-For` is believed: addresses and CIDR blocks. */
  readonly trustedProxies: readonly string[];
}

/** An id a caller may give a request, to find it in the logs again. */
const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Builds the server; it does not listen yet. */
export function createServer<Services extends HttpServices>(
  services: Services,
  endpoints: readonly Endpoint<Services>[],
  settings: ServerSettings,
): FastifyInstance {
  const dialectOf = dialectByPath(endpoints);
  const server = fastify({
    ...connectionOptions(settings),
    // Whose X-Forwarded-For is believed. design: nobody's by default.
    trustProxy: settings.trustedProxies.length > 0 ? [...settings.trustedProxies] : false,
    bodyLimit: BODY_LIMIT_BYTES,
    // Whatever may be declared as a name or an id can stand in a path: 255 characters, encoded.
    routerOptions: { maxParamLength: 255 * 12 },
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers["x-request-id"];
      return typeof given === "string" && REQUEST_ID.test(given) ? given : randomUUID();
    },
    frameworkErrors: (error, request, reply) => {
      reply.header("x-request-id", request.id);
      const dialect = dialectOf(request.url);
      void send(reply, problemReply(asProblem(error), dialect), MEDIA_TYPE_OF[dialect]);
    },
  });
  server.decorateRequest("workspace", undefined);
  server.decorateRequest("company", undefined);
  server.decorateRequest("keyName", undefined);
  server.decorateRequest("bytes", undefined);
  server.decorateRequest("room", undefined);
  limitConnections(server.server);
  readBodies(server, endpoints);
  unpackBodies(server);
  const closeUnusedConnections = countConnections(server.server, patienceOf(settings));
  server.addHook("preClose", async () => closeUnusedConnections());
  server.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    done(longUrl(request) ?? makeRoom(services.load, request, reply));
  });
  observeRequests(server, services);
  server.setErrorHandler((error, request, reply) => {
    const problem = hasGone(request, error) ? goneCaller() : asProblem(error);
    logFailure(services.log, request, problem);
    const dialect = contractOf(request)?.dialect ?? dialectOf(request.url);
    return send(reply, problemReply(problem, dialect), MEDIA_TYPE_OF[dialect]);
  });
  server.setNotFoundHandler(() => {
    throw new Problem("NOT_FOUND", "There is nothing at this path.");
  });
  for (const endpoint of endpoints) addEndpoint(server, services, endpoint);
  refuseOtherMethods(server, endpoints);
  return server;
}

/** Whether the body broke off: the connection is gone, and it was not the database's. */
const hasGone = ({ raw }: FastifyRequest, error: unknown): boolean =>
  !(error instanceof Problem) && raw.destroyed && !raw.complete;

const goneCaller = () =>
  new Problem("INVALID_REQUEST", "The connection ended before the request did.");

function longUrl({ url }: FastifyRequest): Problem | undefined {
  if (url.length <= LONGEST_URL) return undefined;
  const sentence = `The path and query are longer than ${LONGEST_URL} characters.`;
  return new Problem("URL_TOO_LONG", sentence);
}

/** Refuses a request that the server has no room for; health is asked when that matters most. */
function makeRoom(load: Load, request: FastifyRequest, reply: FastifyReply): Problem | undefined {
  if (contractOf(request)?.isEssential) return undefined;
  const announced = Number(request.headers["content-length"] ?? 0);
  // A body over the limit is never read: it gets its 413, and takes no room.
  const room = load.admit(announced > BODY_LIMIT_BYTES ? 0 : announced);
  if (typeof room === "string") return tooMuchLoad();
  request.room = room;
  reply.raw.once("close", room.hold());
  return undefined;
}

const contractOf = (request: FastifyRequest): Contract | undefined =>
  (request.routeOptions.config as { contract?: Contract }).contract;

/**
 * The dialect of an error that belongs to no endpoint (an unknown path or method, a URL that cannot be
 * read): that of the endpoints below the same first step of the path, where they all have one.
 */
function dialectByPath(endpoints: readonly Endpoint<never>[]): (url: string) => Dialect {
  const firstStep = (path: string) => path.split(/[/?]/, 2)[1] ?? "";
  const dialects = new Map<string, Set<Dialect>>();
  for (const { contract } of endpoints) {
    for (const path of pathsOf(contract)) {
      const known = dialects.get(firstStep(path)) ?? new Set();
      dialects.set(firstStep(path), known.add(contract.dialect ?? "message"));
    }
  }
  return (url) => {
    const [only = "message", other] = dialects.get(firstStep(url)) ?? [];
    return other === undefined ? only : "message";
  };
}

function addEndpoint<Services extends HttpServices>(
  server: FastifyInstance,
  services: Services,
  { contract, handler }: Endpoint<Services>,
): void {
  const read = compileContract(contract);
  const mediaType = contract.produces ?? MEDIA_TYPE_OF[contract.dialect ?? "message"];
  for (const url of pathsOf(contract)) {
    server.route({
      method: contract.method,
      url,
      config: { contract },
      onRequest: async (request, reply) => {
        await admit(services, contract, request, reply);
        refuseForeignBody(contract, request.headers["content-type"]);
      },
      handler: async (request, reply) => {
        const run = async (own: Services, idempotency?: Input<Contract>["idempotency"]) => {
          const input = { ...read(request), call: callOf(contract, request), idempotency };
          return handler(own, request.workspace ?? request.company, input as Input<Contract>);
        };
        // A caller who has gone does not make the work smaller.
        const letGo = request.room?.hold();
        try {
          const answer = await answerOnce(services, contract, request, run);
          return send(reply, answer, mediaType);
        } finally {
          letGo?.();
        }
      },
    });
  }
}

const callOf = (contract: Contract, request: FastifyRequest): Call => ({
  name: `${contract.method} ${pathsOf(contract)[0]}`,
  by: contract.access.by,
  keyName: request.keyName ?? null,
  requestId: request.id,
  address: request.ip,
});

/** Checks who calls and whether the limit lets it through, before a byte of the body is read. */
async function admit(
  services: HttpServices,
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
  { authenticator }: HttpServices,
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

/** Runs the handler, with an `Idempotency-Key` at most once. */
async function answerOnce<Services extends HttpServices>(
  services: Services,
  contract: Contract,
  request: FastifyRequest,
  run: (services: Services, claim?: Input<Contract>["idempotency"]) => Promise<Reply>,
): Promise<Reply> {
  const scope = request.workspace ?? (request.company && ANSWERS_OF_COMPANY);
  const onlyReads = contract.method === "GET" || contract.idempotency === "ignored";
  const claim =
    scope && !onlyReads
      ? services.idempotency.claimOf(request.headers["idempotency-key"], {
          method: request.method,
          url: request.url,
          body: request.bytes,
        })
      : undefined;
  if (!scope || !claim) return run(services);
  const { database, idempotency } = services;
  const record = (reply: Reply) =>
    database.transaction((tx) => idempotency.record(tx, scope, [{ claim, reply }]));

  return idempotency.once(scope, claim, async () => {
    try {
      if (contract.idempotency === "handler") return await run(services, claim);
      return await withRetries(database, async (tx) => {
        const reply = await run({ ...services, database: within(database, tx) });
        await idempotency.record(tx, scope, [{ claim, reply }]);
        return reply;
      });
    } catch (error) {
      // A refusal is an answer too. It did nothing, so its record can stand alone.
      if (!(error instanceof Problem) || !isAnswer(error)) throw error;
      const reply = problemReply(error, contract.dialect);
      await record(reply);
      return reply;
    }
  });
}

/** design: 429 and 5xx are no answers. */
const isAnswer = (problem: Problem): boolean =>
  STATUS_OF[problem.code] < 500 && problem.code !== "RATE_LIMITED";

/** A path that exists answers 405 to a method that it does not know. */
function refuseOtherMethods(server: FastifyInstance, endpoints: readonly Endpoint<never>[]): void {
  const known = new Map<string, Set<string>>();
  for (const { contract } of endpoints) {
    for (const path of pathsOf(contract)) {
      const methods = known.get(path) ?? new Set();
      methods.add(contract.method);
      if (contract.method === "GET") methods.add("HEAD");
      known.set(path, methods);
    }
  }
  for (const [url, methods] of known) {
    const others = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].filter(
      (method) => !methods.has(method),
    );
    server.route({
      method: others as ("GET" | "POST")[],
      url,
      onRequest: async (_request, reply) => {
        reply.header("allow", [...methods].join(", "));
        throw new Problem(
          "METHOD_NOT_ALLOWED",
          `This path takes ${[...methods].filter((method) => method !== "HEAD").join(", ")}.`,
        );
      },
      handler: async () => {},
    });
  }
}

/** Sends an answer; a body of the type JSON is a value, any other a text. */
function send(reply: FastifyReply, answer: Reply, mediaType: string): FastifyReply {
  if (mediaType === "text/html") reply.headers(PAGE_HEADERS);
  reply.code(answer.status).headers(answer.headers ?? {});
  if (answer.body === undefined) return reply.send();
  const isJson = mediaType.endsWith("json");
  reply.header("content-type", `${mediaType}; charset=utf-8`);
  return reply.send(isJson ? JSON.stringify(answer.body) : answer.body);
}

/** One line and one count a request: no query, no body, no identifier of a person. */
function observeRequests(server: FastifyInstance, { log, metrics }: HttpServices): void {
  server.addHook("onResponse", async (request, reply) => {
    const labels = {
      method: request.method,
      route: request.routeOptions.url ?? "none",
      status: reply.statusCode,
    };
    metrics.request(labels, reply.elapsedTime / 1_000);
    log.info(
      {
        request_id: request.id,
        ...labels,
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
        workspace: request.workspace?.name,
      },
      "request",
    );
  });
}

/** What went wrong on our side. The message of an engine's error may quote data, so it is left out. */
function logFailure(log: Logger, request: FastifyRequest, problem: Problem): void {
  const cause = problem.details.cause as (Error & { code?: string }) | undefined;
  if (STATUS_OF[problem.code] < 500 || !cause) return;
  log.error(
    {
      request_id: request.id,
      route: request.routeOptions.url,
      error: cause.name,
      code: cause.code,
      stack: cause.stack?.split("\n").filter((line) => /^\s+at /.test(line)),
    },
    "request failed",
  );
}
