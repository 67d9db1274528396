import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { FairLine } from "../base/fair-line.ts";
import { Problem } from "../base/problem.ts";
import { nextTurn } from "../base/turns.ts";
import { budgetsOf, startWork } from "../base/work.ts";
import { type AdmissionServices, admit, confirm } from "./admission.ts";
import { type AnswerServices, answerOnce } from "./answer-once.ts";
import { baseUrlOf } from "./base-url.ts";
import { eachInSilence, inSilence } from "./connections.ts";
import type { Deadlines } from "./deadlines.ts";
import {
  type Contract,
  type Endpoint,
  type Input,
  pathsOf,
  type Reply,
  type TextStream,
} from "./endpoint.ts";
import type { LastingRequests } from "./lasting-requests.ts";
import type { Load } from "./load.ts";
import { holdSmallBody, isLarge, refuseForeignBody } from "./media-types.ts";
import type { ObserveServices } from "./observe.ts";
import type { RequestContext } from "./request-state.ts";
import { MEDIA_TYPE_OF, problemReply, tooMuchLoad } from "./respond.ts";
import { READING_BYTES_PER_MS, READING_TIME_MS, send, sendCounted, writeHead } from "./send.ts";
import { compileContract } from "./validate.ts";

/** A stream that ends by itself once the caller's right is gone has this long to do so. */
const LAST_PIECE_MS = 300;

/**
 * Sends a body while it is produced, no faster than the client reads. A failure before the first
 * piece is answered like any other error. A later failure breaks the connection off, so that no
 * client takes a part for the whole. Resolves once the connection has ended.
 */
async function sendStream(
  reply: FastifyReply,
  answer: Reply,
  mediaType: string,
  signal: AbortSignal,
): Promise<void> {
  const stream = eachInSilence(reply.request.raw.socket, answer.body as TextStream);
  const { raw } = reply;
  const first = await stream.next();
  // The client has gone already.
  if (raw.destroyed) return void (await stream.return(undefined));
  const ended = new Promise<void>((resolve) => raw.once("close", resolve));
  const disconnect = () => setTimeout(() => raw.destroy(), LAST_PIECE_MS).unref();
  if (signal.aborted) disconnect();
  else signal.addEventListener("abort", disconnect);
  writeHead(reply, answer, mediaType);
  const pieces = withPatience(first, stream, () => raw.destroy());
  reply.send(Readable.from(pieces, { objectMode: false, highWaterMark: 1 }));
  await ended;
}

/**
 * A client that reads too slowly overall loses the stream: it would hold a snapshot and a slot for
 * ever. A timer sees to it, because a client that takes a byte now and then asks for no further
 * piece.
 */
async function* withPatience(
  first: IteratorResult<string | Uint8Array>,
  stream: TextStream,
  disconnect: () => void,
): TextStream {
  let bytes = 0;
  let waitedMs = 0;
  let timer: NodeJS.Timeout | undefined;
  try {
    for (let next = first; !next.done; next = await stream.next()) {
      const chunk = typeof next.value === "string" ? Buffer.from(next.value) : next.value;
      bytes += chunk.length;
      const handedAt = performance.now();
      const patienceMs = READING_TIME_MS + bytes / READING_BYTES_PER_MS - waitedMs;
      timer = setTimeout(disconnect, patienceMs).unref();
      yield chunk;
      clearTimeout(timer);
      waitedMs += performance.now() - handedAt;
    }
  } finally {
    clearTimeout(timer);
    await stream.return(undefined);
  }
}

/** The services that the HTTP layer itself needs; a handler may ask for more. */
export interface HttpServices extends AdmissionServices, AnswerServices, ObserveServices {}

export interface Machinery {
  readonly deadlines: Deadlines;
  readonly lasting: LastingRequests;
  readonly heavyLine: FairLine;
  readonly publicUrl: string | undefined;
  /** How long a handler may take, in milliseconds. */
  readonly deadlineMs: number;
}

/** The signal of requests that are over soon anyway. */
const NEVER = new AbortController().signal;

/** Adds the routes of an endpoint: admission, then the handler within its budgets, then the response. */
export function serveEndpoint<Services extends HttpServices>(
  server: FastifyInstance,
  services: Services,
  { contract, handler }: Endpoint<Services>,
  { deadlines, lasting, heavyLine, publicUrl, deadlineMs }: Machinery,
): void {
  const { load } = services;
  // Compiled for the first request: most starts are followed by requests to a few endpoints.
  let read: ReturnType<typeof compileContract> | undefined;
  const dialect = contract.dialect ?? "message";
  const mediaType = contract.produces ?? MEDIA_TYPE_OF[dialect];
  const budgets = budgetsOf(contract);
  const lasts = contract.lasts ?? (contract.streams && contract.access.by !== "anybody");
  const timeMs = contract.takesLong ? Number.POSITIVE_INFINITY : deadlineMs;

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const work = startWork(budgets.work);
    const confirmCaller = () => confirm(services, contract, request, publicUrl);
    const signal = lasts ? lasting.watch(request, reply, confirmCaller) : NEVER;
    const run = async (own: Services, idempotency?: Input<Contract>["idempotency"]) => {
      const baseUrl = baseUrlOf(request, publicUrl);
      read ??= compileContract(contract);
      const input = { ...read(request), baseUrl, idempotency, work, confirmCaller, signal };
      if (isLarge(request)) await nextTurn();
      return handler(own, request.context as RequestContext, input as Input<Contract>);
    };
    const expire = () => void send(reply, problemReply(tooLate(), dialect), MEDIA_TYPE_OF[dialect]);
    const deadline = deadlines.start(timeMs, expire);
    try {
      const result: Reply = await inSilence(request.raw.socket, () =>
        answerOnce(services, contract, request, run),
      );
      deadlines.end(deadline);
      if (deadline.hasExpired) return;
      signal.throwIfAborted();
      if (contract.streams) {
        const { confirm } = result;
        const ends = confirm
          ? lasting.watch(request, reply, () => confirm().then(() => ({})))
          : signal;
        return await sendStream(reply, result, mediaType, ends);
      }
      if (!request.room) return void send(reply, result, mediaType);
      await sendCounted(load, contract, request.room, reply, result, mediaType);
    } catch (error) {
      // After the deadline the caller has its response already.
      if (!deadline.hasExpired) throw error;
    } finally {
      deadlines.end(deadline);
      if (work.spent > 0) services.metrics.work(pathsOf(contract)[0] ?? "", work.spent);
    }
  }

  for (const url of pathsOf(contract)) {
    server.route({
      method: contract.method,
      url,
      config: { contract },
      bodyLimit: budgets.bytesIn,
      onRequest: async (request, reply) => {
        await admit(services, contract, request, reply, publicUrl);
        refuseForeignBody(contract, request.headers["content-type"]);
      },
      handler: async (request, reply) => {
        await withRoom(load, heavyLine, contract, request, () => answer(request, reply));
        return reply;
      },
    });
  }
}

/**
 * Runs the work of a request while its memory is reserved, in the line of heavy work if it is
 * heavy.
 */
async function withRoom(
  load: Load,
  heavyLine: FairLine,
  contract: Contract,
  request: FastifyRequest,
  run: () => Promise<void>,
): Promise<void> {
  const { room } = request;
  if (!room || contract.waits) return run();
  if (!load.startWork(room)) throw tooMuchLoad();
  // A caller who has gone does not make the work smaller: the room is held until the handler ends.
  try {
    if (!holdSmallBody(load, request)) throw tooMuchLoad();
    if (contract.isHeavy) await heavyLine.run(room.owner, run);
    else await run();
  } finally {
    load.endWork(room);
  }
}

const tooLate = (): Problem =>
  new Problem(
    "UNAVAILABLE",
    "The request took too long and may still be carried out. Try again with the same Idempotency-Key.",
    { retryAfterSeconds: 5 },
  );
