import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** How often a server that stops looks for clients that it need not wait for any more. */
const LOOK_EVERY_MS = 100;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Lets a server stop as soon as it has answered what it is working on.
 *
 * A server that closes waits for its connections, and Node closes only those that are idle at that
 * moment, and enforces no timeout any more: one whose answer is on its way would stay open for as long
 * as its client likes, and one whose request trickles in, or that never sent one, for ever. So the
 * connections are counted here by their requests.
 *
 * @param patienceMs how long a client may still take to send its request, or to read its answer. A
 *   request that has not arrived by then has changed nothing, and can be sent again.
 * @returns what to call when the server begins to close.
 */
export function countConnections(server: Server, patienceMs: number): () => void {
  const connections = new Map<Socket, Set<Exchange>>();
  let isStopping = false;

  server.on("connection", (socket: Socket) => {
    const exchanges = new Set<Exchange>();
    connections.set(socket, exchanges);
    socket.once("close", () => {
      connections.delete(socket);
      setImmediate(closeAll, exchanges);
    });
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const exchange = { request, response };
    const exchanges = connections.get(socket);
    exchanges?.add(exchange);
    response.once("close", () => {
      exchanges?.delete(exchange);
      if (isStopping && exchanges?.size === 0) end(socket);
    });
  });

  return () => {
    isStopping = true;
    for (const [socket, { size }] of connections) if (size === 0) end(socket);
    const stoppingSince = performance.now();
    const look = setInterval(() => {
      if (performance.now() - stoppingSince < patienceMs) return;
      for (const [socket, exchanges] of connections) {
        if ([...exchanges].every(waitsForClient)) socket.destroy();
      }
    }, LOOK_EVERY_MS);
    server.once("close", () => clearInterval(look));
  };
}

/**
 * Tells the answers that were queued behind another one (pipelining) that their connection is gone. Node
 * tells only the one that was being sent; the others would keep what they hold for ever.
 */
function closeAll(exchanges: ReadonlySet<Exchange>): void {
  for (const { response } of exchanges) response.emit("close");
}

/** Whether it is the client's turn: the request is not there yet, or the answer is all written. */
const waitsForClient = ({ request, response }: Exchange): boolean =>
  !request.complete || response.writableEnded;

/** Sends what is still to be sent, and does not wait for the other side. */
const end = (socket: Socket): void => void socket.end(() => socket.destroy());
