import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { Problem } from "../base/problem.ts";
import { nextTurn } from "../base/turns.ts";
import { notesIn } from "../base/verdicts.ts";
import { budgetsOf } from "../base/work.ts";
import { isDryRun } from "./answer-once.ts";
import type { Contract, Reply } from "./endpoint.ts";
import type { Load, Room } from "./load.ts";
import { PAGE_HEADERS } from "./page-headers.ts";
import { MEDIA_TYPE_OF, SCIM_HEADERS, tooMuchLoad } from "./respond.ts";

/* Responses: their headers, and how large ones are kept from filling the memory. */

/** Smaller responses fit into the buffers of the operating system and are not counted. */
const COUNTED_FROM_BYTES = 16_384;

/** A larger response goes to the operating system in pieces, one in each turn of the event loop. */
const WHOLE_UP_TO_BYTES = 262_144;
const PIECE_BYTES = 65_536;

/** A client has this long to read a response, and longer the larger the response is. */
export const READING_TIME_MS = 30_000;
export const READING_BYTES_PER_MS = 64;

/** Sends a response; a JSON body is a value, any other a text. */
export function send(reply: FastifyReply, answer: Reply, mediaType: string): FastifyReply {
  writeHead(reply, answer, mediaType);
  const text = textOf(answer, mediaType);
  noteSent(reply, text);
  return reply.send(text);
}

/**
 * Sends the response of an endpoint: within its budget, and counted until the client has read it. It
 * resolves to nothing, because a reply of the framework is itself a promise, which resolves when
 * the client has read it.
 */
export async function sendCounted(
  load: Load,
  contract: Contract,
  room: Room,
  reply: FastifyReply,
  answer: Reply,
  mediaType: string,
): Promise<void> {
  const isPreview = isDryRun(reply.request);
  if (contract.isHeavy || contract.writesInPieces || isPreview) {
    const chunks = await chunksOf(load, contract, room, answer.body);
    watchReader(load, room, reply);
    writeHead(reply, answer, mediaType);
    reply.header("content-length", room.responseBytes);
    reply.send(chunks.length === 1 ? chunks[0] : Readable.from(chunks, { objectMode: false }));
    return;
  }
  const text = textOf(answer, mediaType);
  if (text !== undefined && text.length > COUNTED_FROM_BYTES) {
    const bytes = Buffer.byteLength(text);
    const mayRefuse = contract.method === "GET" || contract.idempotency === "ignored";
    if (mayRefuse && bytes > budgetsOf(contract).bytesOut) throw responseTooLarge(contract);
    if (!load.holdResponse(room, bytes)) {
      if (mayRefuse) throw tooMuchLoad();
      load.mustHoldResponse(room, bytes);
    }
    watchReader(load, room, reply);
    if (bytes > WHOLE_UP_TO_BYTES) {
      writeHead(reply, answer, mediaType);
      reply.header("content-length", bytes);
      const whole = typeof text === "string" ? Buffer.from(text) : text;
      reply.send(Readable.from(inTurns(whole), { objectMode: false }));
      return;
    }
  }
  writeHead(reply, answer, mediaType);
  noteSent(reply, text);
  reply.send(text);
}

/** Copying half a megabyte for each of hundreds of clients at once would block all other requests. */
async function* inTurns(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (at > 0) await nextTurn();
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}

/** For observers of requests: see `observe.ts`. */
function noteSent({ request }: FastifyReply, text: string | Buffer | undefined): void {
  if (typeof text === "string" && text.length <= COUNTED_FROM_BYTES) request.sent = text;
}

function textOf({ body, bytes }: Reply, mediaType: string): string | Buffer | undefined {
  if (bytes) return bytes;
  if (body === undefined) return undefined;
  return /[/+]json$/.test(mediaType) ? JSON.stringify(body) : (body as string);
}

/** Sets the status and headers of a response, and records its notes for observers. */
export function writeHead(reply: FastifyReply, answer: Reply, mediaType: string): void {
  if (mediaType === "text/html") reply.headers(PAGE_HEADERS);
  if (mediaType === MEDIA_TYPE_OF.scim) reply.headers(SCIM_HEADERS);
  reply.code(answer.status);
  reply.request.notes = notesIn(answer.body);
  if (answer.headers) reply.headers(answer.headers);
  if (answer.body !== undefined) reply.header("content-type", `${mediaType}; charset=utf-8`);
}

/** Writes a large body piece by piece, so that the event loop gets to other requests in between. */
async function chunksOf(
  load: Load,
  contract: Contract,
  room: Room,
  body: unknown,
): Promise<Buffer[]> {
  const { bytesOut } = budgetsOf(contract);
  const chunks: Buffer[] = [];
  try {
    for (const piece of piecesOfJson(body)) {
      const chunk = Buffer.from(piece);
      if (room.responseBytes + chunk.length > bytesOut) throw responseTooLarge(contract);
      if (!load.holdResponse(room, chunk.length)) throw tooMuchLoad();
      chunks.push(chunk);
      await nextTurn();
    }
  } catch (error) {
    load.leave(room);
    throw error;
  }
  return chunks;
}

/** Disconnects a client that does not read its response in time. */
function watchReader(load: Load, room: Room, { raw }: FastifyReply): void {
  const patienceMs = READING_TIME_MS + room.responseBytes / READING_BYTES_PER_MS;
  const timer = setTimeout(() => raw.destroy(), patienceMs).unref();
  raw.once("close", () => {
    clearTimeout(timer);
    load.leave(room);
  });
  if (raw.destroyed) raw.emit("close");
}

const responseTooLarge = (contract: Contract): Problem =>
  new Problem(
    "RESPONSE_TOO_LARGE",
    `The response is larger than ${budgetsOf(contract).bytesOut} bytes. Ask for less at a time.`,
    { body: { code: "RESPONSE_TOO_LARGE" } },
  );

const PIECE_CHARACTERS = 65_536;

/**
 * A JSON value as text in pieces, the same in total as `JSON.stringify` gives. The lists in the
 * value are taken apart, so that no piece takes long; a single entry of a list is one piece of any
 * size.
 */
function* piecesOfJson(value: unknown): Generator<string> {
  let piece = "";
  for (const part of partsOf(value)) {
    piece += part;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = "";
  }
  if (piece) yield piece;
}

function* partsOf(value: unknown): Generator<string> {
  if (Array.isArray(value)) yield* partsOfList(value);
  else if (isPlainObject(value)) yield* partsOfObject(value);
  else yield JSON.stringify(value);
}

function* partsOfList(list: readonly unknown[]): Generator<string> {
  yield "[";
  for (const [index, entry] of list.entries()) {
    yield (index > 0 ? "," : "") + (JSON.stringify(entry) ?? "null");
  }
  yield "]";
}

function* partsOfObject(object: Record<string, unknown>): Generator<string> {
  let separator = "{";
  for (const [key, member] of Object.entries(object)) {
    if (member === undefined) continue;
    yield `${separator}${JSON.stringify(key)}:`;
    if (Array.isArray(member)) yield* partsOfList(member);
    else yield JSON.stringify(member);
    separator = ",";
  }
  yield separator === "{" ? "{}" : "}";
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !("toJSON" in value);
