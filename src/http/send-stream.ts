import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { Reply, TextStream } from "./endpoint.ts";
import { READING_BYTES_PER_MS, READING_TIME_MS, writeHead } from "./send.ts";

/**
 * Sends a body while it is produced, no faster than the client reads. What fails before the first piece is
 * answered like any other error. What fails later breaks the connection off, so that no client takes a part
 * for the whole. Resolves once the connection has ended.
 */
export async function sendStream(
  reply: FastifyReply,
  answer: Reply,
  mediaType: string,
): Promise<void> {
  const stream = answer.body as TextStream;
  const first = await stream.next();
  const { raw } = reply;
  // The client has gone already.
  if (raw.destroyed) return void (await stream.return(undefined));
  const ended = new Promise<void>((resolve) => raw.once("close", resolve));
  writeHead(reply, answer, mediaType);
  reply.send(Readable.from(withPatience(first, stream), { objectMode: false, highWaterMark: 1 }));
  await ended;
}

/** A client that reads too slowly on the whole loses the stream: it would hold a snapshot for ever. */
async function* withPatience(
  first: IteratorResult<string | Uint8Array>,
  stream: TextStream,
): TextStream {
  let bytes = 0;
  let waitedMs = 0;
  try {
    for (let next = first; !next.done; next = await stream.next()) {
      const chunk = typeof next.value === "string" ? Buffer.from(next.value) : next.value;
      bytes += chunk.length;
      const handedAt = performance.now();
      yield chunk;
      waitedMs += performance.now() - handedAt;
      if (waitedMs > READING_TIME_MS + bytes / READING_BYTES_PER_MS) throw new Error(TOO_SLOW);
    }
  } finally {
    await stream.return(undefined);
  }
}

const TOO_SLOW = "The client reads too slowly.";
