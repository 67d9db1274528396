import type { FastifyRequest } from "fastify";

/** How much of the rest of a body is read and discarded, and for how long. */
const MOST_BYTES = 64 * 1_048_576;
const LONGEST_MS = 5_000;

const LOOK_EVERY_MS = 100;

/**
 * Lets a client that is still sending its body read why it is refused. A connection that is closed
 * with unread bytes is reset, and a client that is writing then sees a broken pipe instead of the
 * response. The response therefore goes out with the end of our side; the rest of the body is read
 * and discarded within bounds, and then the connection is closed.
 */
export function linger({ raw }: FastifyRequest): void {
  const { socket } = raw;
  if (raw.complete || socket.destroyed) return;
  const closeNow = socket.destroySoon.bind(socket);
  // Node calls this after a response that ends its connection.
  socket.destroySoon = () => {
    const endsAt = performance.now() + LONGEST_MS;
    const mostRead = socket.bytesRead + MOST_BYTES;
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
