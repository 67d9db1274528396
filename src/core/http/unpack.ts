import { pipeline, type Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../base/problem.ts";
import type { Load } from "./load.ts";
import { tooMuchLoad } from "./respond.ts";

const UNPACKERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * The stream that the framework reads a body from; it compares the received length with
 * `Content-Length`.
 */
type BodyStream = Readable & { receivedEncodedLength?: number };

/** A larger body is counted while it arrives, a smaller one when it is complete. */
export const COUNTED_FROM_BYTES = 16_384;

/** Reading a body ends if nothing arrives for this long. */
const BODY_SILENCE_MS = 10_000;

/**
 * Accepts bodies with a `Content-Encoding` of gzip, deflate or br. The limit on the size of a body
 * applies to the uncompressed bytes: the framework stops reading there, so that a small body cannot
 * become a large one. The bytes of large bodies are counted as they arrive; the announced size is
 * ignored.
 */
export function unpackBodies(server: FastifyInstance, load: Load): void {
  // With a callback, not a promise: most bodies are small and go through untouched.
  server.addHook("preParsing", (request, reply, payload, done) => {
    const encoding = request.headers["content-encoding"]?.trim().toLowerCase();
    const isPlain = encoding === undefined || encoding === "identity";
    if (isPlain && isSmall(request)) {
      done(null, payload);
      return;
    }
    try {
      const unpacker = unpackerOf(encoding);
      done(null, counted(load, request, reply, payload as Readable, unpacker));
    } catch (error) {
      done(error as Error);
    }
  });
}

function isSmall({ headers }: FastifyRequest): boolean {
  const announced = Number(headers["content-length"] ?? 0);
  return headers["transfer-encoding"] === undefined && announced <= COUNTED_FROM_BYTES;
}

function unpackerOf(encoding = "identity"): Transform | undefined {
  if (encoding === "identity") return undefined;
  const create = Object.hasOwn(UNPACKERS, encoding) ? UNPACKERS[encoding] : undefined;
  if (create) return create();
  throw new Problem(
    "UNSUPPORTED_MEDIA_TYPE",
    "The Content-Encoding must be gzip, deflate or br, or be omitted.",
  );
}

function counted(
  load: Load,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: Readable,
  unpacker: Transform | undefined,
): BodyStream {
  const { room } = request;
  const body: Transform & BodyStream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      silence.refresh();
      if (room && !load.holdBody(room, chunk.length)) done(tooMuchLoad());
      else done(null, chunk);
    },
  });
  const silence = setTimeout(() => body.destroy(tooSlow()), BODY_SILENCE_MS).unref();
  payload.once("end", () => clearTimeout(silence));
  // If the framework has stopped reading, an error has no other listener.
  body.on("error", () => {});
  reply.raw.once("close", () => {
    clearTimeout(silence);
    body.destroy();
    if (room) load.leave(room);
  });
  if (!unpacker) {
    // Not a pipeline: if hundreds of callers leave at once, its errors would take 140 us for each.
    payload.pipe(body);
    payload.once("error", (error) => body.destroy(error));
    // The rest of a body that is not read to its end.
    body.once("close", () => payload.resume());
    return body;
  }
  payload.on("data", (chunk: Buffer) => {
    body.receivedEncodedLength = (body.receivedEncodedLength ?? 0) + chunk.length;
  });
  // Before the pipeline passes the library's own error on.
  unpacker.on("error", () => body.destroy(notPacked()));
  pipeline(payload, unpacker, body, () => {});
  return body;
}

const tooSlow = () => new Problem("REQUEST_TIMEOUT", "The request took too long to arrive.");

const notPacked = () =>
  new Problem("INVALID_REQUEST", "The body does not match its Content-Encoding.");
