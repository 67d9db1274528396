import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Lets a server stop as soon as it has answered what it is working on.
 *
 * A server that closes waits for its connections, and Node closes only those that are idle at that
 * moment: one whose answer is on its way would stay open for as long as its client likes, and one
 * that never sent a request for ever. So the connections are counted here by their requests.
 *
 * @returns what to call when the server begins to close.
 */
export function countConnections(server: Server): () => void {
  const working = new Map<Socket, number>();
  let isStopping = false;

  server.on("connection", (socket: Socket) => {
    working.set(socket, 0);
    socket.once("close", () => working.delete(socket));
  });
  server.on("request", ({ socket }, response) => {
    working.set(socket, (working.get(socket) ?? 0) + 1);
    response.once("close", () => {
      const left = (working.get(socket) ?? 1) - 1;
      if (working.has(socket)) working.set(socket, left);
      if (isStopping && left === 0) end(socket);
    });
  });

  return () => {
    isStopping = true;
    for (const [socket, requests] of working) if (requests === 0) end(socket);
  };
}

/** Sends what is still to be sent, and does not wait for the other side. */
const end = (socket: Socket): void => void socket.end(() => socket.destroy());
