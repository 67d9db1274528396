import { pipeline, type Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../problem.ts";
import { tooMuchLoad } from "./respond.ts";

const UNPACKERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** What the framework reads a body from; it compares the received length with `Content-Length`. */
type BodyStream = Readable & { receivedEncodedLength?: number };

/**
 * Takes bodies with a `Content-Encoding` of gzip, deflate or br. The limit on the size of a body holds
 * for what comes out: the framework stops reading there, so that a small body cannot become a large
 * one. What no `Content-Length` has announced is weighed as it comes.
 */
export function unpackBodies(server: FastifyInstance): void {
  // With a callback, not a promise: nearly every body goes through untouched.
  server.addHook("preParsing", (request, reply, payload, done) => {
    const encoding = request.headers["content-encoding"]?.trim().toLowerCase();
    const isAnnounced = request.headers["transfer-encoding"] === undefined;
    if (isAnnounced && (encoding === undefined || encoding === "identity")) {
      done(null, payload);
      return;
    }
    try {
      done(null, weighed(request, reply, payload as Readable, unpackerOf(encoding)));
    } catch (error) {
      done(error as Error);
    }
  });
}

function unpackerOf(encoding = "identity"): Transform | undefined {
  if (encoding === "identity") return undefined;
  const create = Object.hasOwn(UNPACKERS, encoding) ? UNPACKERS[encoding] : undefined;
  if (create) return create();
  throw new Problem(
    "UNSUPPORTED_MEDIA_TYPE",
    "The Content-Encoding must be gzip, deflate or br, or be left out.",
  );
}

function weighed(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: Readable,
  unpacker: Transform | undefined,
): BodyStream {
  const body: Transform & BodyStream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (request.room?.grow(chunk.length) === false) done(tooMuchLoad());
      else done(null, chunk);
    },
  });
  // Where the framework has stopped reading, an error has no other listener.
  body.on("error", () => {});
  reply.raw.once("close", () => body.destroy());
  if (!unpacker) {
    pipeline(payload, body, () => {});
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

const notPacked = () =>
  new Problem("INVALID_REQUEST", "The body is not packed as its Content-Encoding says.");
