import { randomUUID } from "node:crypto";
import { createServer, type RequestListener, type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { Problem } from "../base/problem.ts";
import { type ConnectionQueue, MOST_CONNECTIONS } from "./connection-queue.ts";
import { problemReply } from "./respond.ts";

/** How much patience the server has with a connection. */
export interface ConnectionLimits {
  /** How long a whole request may take to arrive, in seconds; its headers a quarter of that. */
  readonly requestTimeoutSeconds: number;
}

/** The request line and the headers together: fifty long identifiers fit into a query. */
const MOST_HEADER_BYTES = 65_536;

/** How many headers a request may have. Proxies add a few; browsers send about twenty. */
export const MOST_HEADERS = 200;

/** How many characters the path and query may take. */
export const LONGEST_URL = 49_152;

/** Longer than the minute after which most proxies close an idle connection. */
const KEEP_ALIVE_MS = 72_000;

/**
 * A connection without any traffic is closed, for example if its client does not read. Twice
 * the request timeout if that is less.
 */
const SILENCE_MS = 60_000;

/**
 * Runs the work of a request, during which its connection may be silent for as long as the work
 * takes: the client waits for the server.
 */
export async function inSilence<Result>(socket: Socket, work: () => Promise<Result>) {
  const { timeout = 0 } = socket;
  socket.setTimeout(0);
  try {
    return await work();
  } finally {
    socket.setTimeout(timeout);
  }
}

/** A stream of which each piece may take as long as it takes: an export waits for its turn, and for rows that meet its filter. */
export async function* eachInSilence<Piece>(
  socket: Socket,
  stream: AsyncGenerator<Piece>,
): AsyncGenerator<Piece> {
  try {
    for (;;) {
      const next = await inSilence(socket, () => stream.next());
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await stream.return(undefined);
  }
}

/** Framework settings that keep a caller from holding a connection for ever. */
export function connectionOptions(
  { requestTimeoutSeconds }: ConnectionLimits,
  queue: ConnectionQueue,
) {
  const requestMs = requestTimeoutSeconds * 1_000;
  return {
    requestTimeout: requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionTimeout: Math.min(SILENCE_MS, 2 * requestMs),
    http: {
      maxHeaderSize: MOST_HEADER_BYTES,
      headersTimeout: requestMs / 4,
      connectionsCheckingInterval: Math.min(5_000, requestMs / 4),
    },
    clientErrorHandler: (error: Error, socket: Socket) => refuseUnparsed(error, socket, queue),
  };
}

/** How long a server that stops waits for clients at most. */
const LONGEST_PATIENCE_MS = 5_000;

/**
 * How many milliseconds a stopping server waits for clients: the request timeout, at most five
 * seconds.
 */
export const patienceOf = ({ requestTimeoutSeconds }: ConnectionLimits): number =>
  Math.min(LONGEST_PATIENCE_MS, requestTimeoutSeconds * 1_000);

/** The server of the platform; its requests come through the queue. */
export function createHttpServer(
  options: ReturnType<typeof connectionOptions>,
  queue: ConnectionQueue,
  handle: RequestListener,
): Server {
  const server = createServer(options.http);
  // By itself Node drops headers after the first 2,000, such as the address that a proxy appends:
  // `refusalOfHead` counts.
  server.maxHeadersCount = 0;
  server.requestTimeout = options.requestTimeout;
  server.keepAliveTimeout = options.keepAliveTimeout;
  server.setTimeout(options.connectionTimeout);
  server.maxConnections = MOST_CONNECTIONS;
  queue.attach(server, handle);
  return server;
}

/** The other side went away in the middle of a request. */
const GONE = new Set(["ECONNRESET", "HPE_INVALID_EOF_STATE"]);

/** The parser's refusal, before there is a request. No part of the request is repeated. */
function refuseUnparsed(
  error: Error & { code?: string },
  socket: Socket,
  queue: ConnectionQueue,
): void {
  if (GONE.has(error.code ?? "") || socket.destroyed || !socket.writable) {
    queue.drop(socket);
    return;
  }
  const { status, body } = problemReply(problemOf(error.code));
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      "content-type: application/json; charset=utf-8\r\n" +
      `content-length: ${Buffer.byteLength(text)}\r\n` +
      `x-content-type-options: nosniff\r\nx-request-id: ${randomUUID()}\r\nconnection: close\r\n\r\n${text}`,
    () => socket.destroy(),
  );
}

function problemOf(code: string | undefined): Problem {
  if (code === "HPE_HEADER_OVERFLOW") {
    return new Problem("HEADERS_TOO_LARGE", "The path and the headers are larger than 64 KB.");
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new Problem("REQUEST_TIMEOUT", "The request took too long to arrive.");
  }
  return new Problem("INVALID_REQUEST", "This is not a valid HTTP request.");
}
