import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createPool } from "../base/pool.ts";

/*
 * One request at a time per connection.
 *
 * A client may send many requests at once without reading a response (pipelining). Node hands all of them
 * over; here the next one starts when the response before it was sent, so a connection never holds more
 * than one slot. Knowing which connection works on what also lets a server stop: Node closes only
 * connections that are idle at that moment, and enforces no timeout while it closes.
 *
 * Many connections or requests that arrive at once start over several turns of the event loop, so that
 * everything else gets its turn between them.
 */

/** Requests start for no longer than this in one turn of the event loop. */
const REQUESTS_MS = 5;

/** Opening and closing connections has its own queue, so that requests do not wait behind thousands of them. */
const CONNECTIONS_MS = 2;

/** Beyond that new connections are closed at once: each takes some kilobytes, and a descriptor. */
export const MOST_CONNECTIONS = 10_000;

/** Requests of one connection that wait. A client that sends more is disconnected. */
const MOST_WAITING = 256;

/** Requests of all connections of the process that wait. */
const MOST_WAITING_IN_TOTAL = 10_000;

/** How often a stopping server looks for clients that it need not wait for any more. */
const LOOK_EVERY_MS = 100;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Connection {
  readonly socket: Socket;
  current: Exchange | undefined;
  waiting: Exchange[];
}

export type ConnectionQueue = ReturnType<typeof createConnectionQueue>;

/**
 * @param patienceMs how long a stopping server waits for clients.
 * @param isBehindProxy connections come from proxies, so one address may have all of them.
 */
export function createConnectionQueue(patienceMs: number, { isBehindProxy = false } = {}) {
  const addresses = createPool(MOST_CONNECTIONS);
  const connections = new Map<Socket, Connection>();
  const openAndClose = createTimeSlicedQueue(CONNECTIONS_MS);
  const startRequest = createTimeSlicedQueue(REQUESTS_MS);
  let isStopping = false;
  let waiting = 0;

  /** Node reads from the connection, and so sees its requests, from its turn on. */
  function open(socket: Socket, read: () => void): void {
    const address = isBehindProxy ? "" : (socket.remoteAddress ?? "");
    if (!isBehindProxy && !addresses.take(address, 1)) return void socket.destroy();
    const connection: Connection = { socket, current: undefined, waiting: [] };
    connections.set(socket, connection);
    socket.once("close", () => {
      connections.delete(socket);
      if (!isBehindProxy) addresses.give(address, 1);
      waiting -= connection.waiting.length;
      connection.waiting = [];
    });
    openAndClose(() => {
      if (!socket.destroyed) read();
    });
  }

  function enter(connection: Connection, exchange: Exchange, handle: RequestListener): void {
    if (!connection.current) {
      start(connection, exchange, handle);
    } else if (connection.waiting.length < MOST_WAITING && waiting < MOST_WAITING_IN_TOTAL) {
      connection.waiting.push(exchange);
      waiting++;
    } else {
      connection.socket.destroy();
    }
  }

  function start(connection: Connection, exchange: Exchange, handle: RequestListener): void {
    connection.current = exchange;
    exchange.response.once("close", () => {
      connection.current = undefined;
      if (isStopping) return end(connection.socket);
      const next = connection.waiting.shift();
      if (!next) return;
      waiting--;
      start(connection, next, handle);
    });
    startRequest(() => {
      if (!connection.socket.destroyed) handle(exchange.request, exchange.response);
    });
  }

  return {
    /** Passes the requests of a server on to `handle`, one at a time per connection. */
    attach(server: Server, handle: RequestListener) {
      takeOver(server, open, (exchange) => {
        const connection = connections.get(exchange.request.socket);
        if (connection && !connection.socket.destroyed) enter(connection, exchange, handle);
      });
    },
    /** Closes a connection whose client has left: thousands may leave at once. */
    drop: (socket: Socket) => openAndClose(() => socket.destroy()),
    /**
     * Closes every connection once its current request is answered. A client that has not sent its whole
     * request, or not read its response, within the patience is disconnected: a request that has not
     * arrived has changed nothing, and can be sent again.
     */
    close() {
      isStopping = true;
      for (const { socket, current } of connections.values()) if (!current) end(socket);
      disconnectAfter(connections, patienceMs);
    },
  };
}

/** Passes on the connections and requests of a server. Node has a connection once `read` is called. */
function takeOver(
  server: Server,
  open: (socket: Socket, read: () => void) => void,
  enter: (exchange: Exchange) => void,
): void {
  const nodes = server.listeners("connection");
  server.removeAllListeners("connection");
  // Otherwise Node would at once read everything that the socket has received.
  Object.assign(server, { pauseOnConnect: true });
  server.on("connection", (socket: Socket) =>
    open(socket, () => {
      for (const listener of nodes) listener.call(server, socket);
      socket.resume();
    }),
  );
  server.on("request", (request: IncomingMessage, response: ServerResponse) =>
    enter({ request, response }),
  );
  // An expectation other than 100-continue is ignored (RFC 9110, 10.1.1): Node would respond by
  // itself, without what every other request goes through.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
}

/** Disconnects, from then on, every client that is idle or that the server waits for. */
function disconnectAfter(connections: ReadonlyMap<Socket, Connection>, patienceMs: number): void {
  const stoppingSince = performance.now();
  const look = setInterval(() => {
    if (connections.size === 0) clearInterval(look);
    if (performance.now() - stoppingSince < patienceMs) return;
    for (const { socket, current } of connections.values()) {
      if (!current || waitsForClient(current)) socket.destroy();
    }
  }, LOOK_EVERY_MS).unref();
}

/** Runs a function now, or in a later turn of the event loop if this turn has used up its time. */
function createTimeSlicedQueue(mostMs: number): (start: () => void) => void {
  const line: (() => void)[] = [];
  let turnStartedAt: number | undefined;

  const isOver = (): boolean =>
    turnStartedAt !== undefined && performance.now() - turnStartedAt > mostMs;

  function nextTurn(): void {
    turnStartedAt = undefined;
    if (line.length === 0) return;
    beginTurn();
    let started = 0;
    while (started < line.length && !isOver()) line[started++]?.();
    line.splice(0, started);
  }

  function beginTurn(): void {
    turnStartedAt = performance.now();
    setImmediate(nextTurn);
  }

  return (start) => {
    if (turnStartedAt === undefined) beginTurn();
    if (line.length > 0 || isOver()) line.push(start);
    else start();
  };
}

/** Whether it is the client's turn: the request is not complete, or the response is all written. */
const waitsForClient = ({ request, response }: Exchange): boolean =>
  !request.complete || response.writableEnded;

/** Sends the remaining data, and does not wait for the other side. */
const end = (socket: Socket): void => void socket.end(() => socket.destroy());
