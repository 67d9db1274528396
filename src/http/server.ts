import { randomUUID } from "node:crypto";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { Problem } from "../problem.ts";
import { type AdmissionServices, admit, makeRoom } from "./admission.ts";
import { type AnswerServices, answerOnce } from "./answer-once.ts";
import {
  type ConnectionLimits,
  connectionOptions,
  limitConnections,
  patienceOf,
} from "./connections.ts";
import {
  type Call,
  type Contract,
  type Endpoint,
  type Input,
  pathsOf,
  type Reply,
} from "./endpoint.ts";
import { BODY_LIMIT_BYTES } from "./json-body.ts";
import { readBodies, refuseForeignBody } from "./media-types.ts";
import { logFailure, type ObserveServices, observeRequests } from "./observe.ts";
import { PAGE_HEADERS } from "./page-headers.ts";
import { contractOf, declareRequestState } from "./request-state.ts";
import { asProblem, MEDIA_TYPE_OF, problemReply } from "./respond.ts";
import { countConnections } from "./stopping.ts";
import { dialectByPath, refuseOtherMethods } from "./unknown-requests.ts";
import { unpackBodies } from "./unpack.ts";
import { compileContract } from "./validate.ts";

/** What the HTTP layer itself needs; a handler may ask for more. */
export interface HttpServices extends AdmissionServices, AnswerServices, ObserveServices {}

export interface ServerSettings extends ConnectionLimits {
  /** Whose `X-Forwarded-For` is believed: addresses and CIDR blocks. */
  readonly trustedProxies: readonly string[];
  /** Where people reach the server; undefined: where the request did. */
  readonly publicUrl?: string | undefined;
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
  declareRequestState(server);
  limitConnections(server.server);
  readBodies(server, endpoints);
  unpackBodies(server);
  const closeUnusedConnections = countConnections(server.server, patienceOf(settings));
  server.addHook("preClose", async () => closeUnusedConnections());
  server.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    done(makeRoom(services, request, reply));
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
  for (const endpoint of endpoints) addEndpoint(server, services, endpoint, settings);
  refuseOtherMethods(server, endpoints);
  return server;
}

/** Whether the body broke off: the connection is gone, and it was not the database's. */
const hasGone = ({ raw }: FastifyRequest, error: unknown): boolean =>
  !(error instanceof Problem) && raw.destroyed && !raw.complete;

const goneCaller = () =>
  new Problem("INVALID_REQUEST", "The connection ended before the request did.");

function addEndpoint<Services extends HttpServices>(
  server: FastifyInstance,
  services: Services,
  { contract, handler }: Endpoint<Services>,
  { publicUrl }: ServerSettings,
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
          const call = callOf(contract, request);
          const baseUrl = publicUrl ?? `${request.protocol}://${request.host}`;
          const input = { ...read(request), call, baseUrl, idempotency };
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

/** Sends an answer; a body of the type JSON is a value, any other a text. */
function send(reply: FastifyReply, answer: Reply, mediaType: string): FastifyReply {
  if (mediaType === "text/html") reply.headers(PAGE_HEADERS);
  reply.code(answer.status).headers(answer.headers ?? {});
  if (answer.body === undefined) return reply.send();
  const isJson = mediaType.endsWith("json");
  reply.header("content-type", `${mediaType}; charset=utf-8`);
  return reply.send(isJson ? JSON.stringify(answer.body) : answer.body);
}
