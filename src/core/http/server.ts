import { randomUUID } from "node:crypto";
import fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { createFairLine } from "../base/fair-line.ts";
import { Problem } from "../base/problem.ts";
import { budgetsOf } from "../base/work.ts";
import { refusalOfHead } from "./admission.ts";
import { createConnectionQueue } from "./connection-queue.ts";
import {
  type ConnectionLimits,
  connectionOptions,
  createHttpServer,
  patienceOf,
} from "./connections.ts";
import { createDeadlines } from "./deadlines.ts";
import type { Endpoint } from "./endpoint.ts";
import { createLastingRequests } from "./lasting-requests.ts";
import { readBodies } from "./media-types.ts";
import {
  type AnsweredRequest,
  createFailureLog,
  observeRequests,
  type ReceivedRequest,
  reportAnswered,
  reportRequests,
} from "./observe.ts";
import { readPublicTargets } from "./public-paths.ts";
import { contractOf, declareRequestState } from "./request-state.ts";
import { asProblem, MEDIA_TYPE_OF, problemReply, tooMuchLoad } from "./respond.ts";
import { send } from "./send.ts";
import { type HttpServices, serveEndpoint } from "./serve-endpoint.ts";
import { traceRequests } from "./trace-requests.ts";
import { createUnknownRequests, dialectByPath, opensPage } from "./unknown-requests.ts";
import { unpackBodies } from "./unpack.ts";

export interface ServerSettings extends ConnectionLimits {
  /** Whose `X-Forwarded-For` is trusted: addresses and CIDR blocks. */
  readonly trustedProxies: readonly string[];
  /** The address where people reach the server; undefined: the address of the request. */
  readonly publicUrl?: string | undefined;
  /** The share of successful requests that is logged. */
  readonly logSample: number;
  /** Learns of every request of an API key. */
  readonly onAnswered?: ((answered: AnsweredRequest) => void) | undefined;
  /** Learns of every request with its response: for tests that start Rapport themselves. */
  readonly onReceived?: ((received: ReceivedRequest) => void) | undefined;
  /** A request may take three times as long. */
  readonly databaseTimeoutSeconds: number;
}

/** Any declared name or id can be part of a path: 255 characters, encoded. */
const ROUTER = { maxParamLength: 255 * 12 };

/** Browsers must not guess the type of a response from its bytes. */
const EVERY_RESPONSE = { "x-content-type-options": "nosniff" };

/** How many requests of endpoints that are `isHeavy` run at a time, and how many of one owner wait. */
const HEAVY_LINE = { places: 4, mostWaiting: 100, refusal: tooMuchLoad };

/** Builds the server; it does not listen yet. */
export function createServer<Services extends HttpServices>(
  services: Services,
  endpoints: readonly Endpoint<Services>[],
  settings: ServerSettings,
): FastifyInstance {
  const dialectOf = dialectByPath(endpoints);
  const unknown = createUnknownRequests(endpoints, ROUTER);
  const readTarget = readPublicTargets(endpoints, ROUTER);
  const connections = createConnectionQueue(patienceOf(settings), {
    isBehindProxy: settings.trustedProxies.length > 0,
  });
  const options = connectionOptions(settings, connections);
  const server = fastify({
    ...options,
    serverFactory: (handle) => createHttpServer(options, connections, handle),
    // Only these may set the caller's address (X-Forwarded-For).
    trustProxy: settings.trustedProxies.length > 0 ? [...settings.trustedProxies] : false,
    routerOptions: ROUTER,
    rewriteUrl: ({ method = "", url = "" }) => readTarget(method, url),
    requestIdHeader: false,
    // Never the caller's id: the audit and the histories tell requests apart by it.
    genReqId: () => randomUUID(),
    frameworkErrors: (error, request, reply) => {
      reply.headers({ "x-request-id": request.id, ...EVERY_RESPONSE });
      const dialect = dialectOf(request.url);
      void send(
        reply,
        problemReply(asProblem(error, budgetsOf({}).bytesIn), dialect),
        MEDIA_TYPE_OF[dialect],
      );
    },
  });
  declareRequestState(server);
  readBodies(server, endpoints, services.load);
  unpackBodies(server, services.load);
  if (services.tracing.receive) traceRequests(server, services.tracing.receive);
  const deadlines = createDeadlines();
  const lasting = createLastingRequests();
  server.addHook("preClose", async () => connections.close());
  server.addHook("onClose", async () => {
    deadlines.stop();
    lasting.stop();
  });
  server.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    reply.headers(EVERY_RESPONSE);
    done(refusalOfHead(request) ?? unknown.refuse(request, reply));
  });
  observeRequests(server, services, settings.logSample);
  if (settings.onAnswered) reportAnswered(server, settings.onAnswered);
  if (settings.onReceived) reportRequests(server, settings.onReceived);
  const logFailure = createFailureLog(services.log);
  server.setErrorHandler((error, request, reply) => {
    const contract = contractOf(request);
    const { bytesIn } = budgetsOf(contract ?? {});
    const problem = hasGone(request, error) ? goneCaller() : asProblem(error, bytesIn);
    logFailure(request, problem);
    linger(request);
    // A person has mistyped the address of a page.
    const isPage = !contract && problem.details.page !== undefined && opensPage(request);
    if (!contract) reply.header("vary", "accept");
    const dialect = isPage ? "page" : (contract?.dialect ?? dialectOf(request.url));
    return send(reply, problemReply(problem, dialect), MEDIA_TYPE_OF[dialect]);
  });
  const machinery = {
    deadlines,
    lasting,
    heavyLine: createFairLine(HEAVY_LINE),
    publicUrl: settings.publicUrl,
    deadlineMs: settings.databaseTimeoutSeconds * 3_000,
  };
  for (const endpoint of endpoints) serveEndpoint(server, services, endpoint, machinery);
  unknown.serve(server);
  return server;
}

/**
 * Whether the caller left: the body broke off, or the response was not read to its end. The
 * connection has been lost, and it was not the database's.
 */
const hasGone = ({ raw }: FastifyRequest, error: unknown): boolean =>
  !(error instanceof Problem) &&
  raw.destroyed &&
  (!raw.complete || (error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE");

const goneCaller = () =>
  new Problem("INVALID_REQUEST", "The connection closed before the request was complete.");

/** How much of the rest of a body is read and discarded, and for how long. */
const MOST_DISCARDED_BYTES = 64 * 1_048_576;
const LONGEST_LINGER_MS = 5_000;

const LOOK_EVERY_MS = 100;

/**
 * Lets a client that is still sending its body read why it is refused. A connection that is closed
 * with unread bytes is reset, and a client that is writing then sees a broken pipe instead of the
 * response. The response therefore goes out with the end of our side; the rest of the body is read
 * and discarded within bounds, and then the connection is closed.
 */
function linger({ raw }: FastifyRequest): void {
  const { socket } = raw;
  if (raw.complete || socket.destroyed) return;
  const closeNow = socket.destroySoon.bind(socket);
  // Node calls this after a response that ends its connection.
  socket.destroySoon = () => {
    const endsAt = performance.now() + LONGEST_LINGER_MS;
    const mostRead = socket.bytesRead + MOST_DISCARDED_BYTES;
    const look = setInterval(() => {
      if (performance.now() > endsAt || socket.bytesRead > mostRead) socket.destroy();
    }, LOOK_EVERY_MS).unref();
    socket.once("close", () => clearInterval(look));
    raw.once("end", closeNow);
    socket.end();
    raw.unpipe();
    raw.resume();
  };
}
