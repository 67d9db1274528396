import { connect, type Socket } from "node:net";
import { PGlite } from "@electric-sql/pglite";
import type { FloorTarget } from "../engines/engine.ts";
import { findError } from "./messages.ts";

/** A way into an engine that takes the protocol's messages as they are. */
export interface FloorConnection {
  /** Sends messages that end in a Sync; resolves when the engine has done them. */
  send(messages: Buffer): Promise<void>;
  close(): Promise<void>;
}

export const openConnection = (target: FloorTarget): Promise<FloorConnection> =>
  target.engine === "postgres" ? openSocket(new URL(target.url)) : openEmbedded(target.folder);

async function openEmbedded(folder: string): Promise<FloorConnection> {
  const database = await PGlite.create(folder);
  return {
    async send(messages) {
      const error = findError(await database.execProtocolRaw(messages));
      if (error) throw new Error(error);
    },
    close: () => database.close(),
  };
}

const PROTOCOL_VERSION = 196_608;

const READY_FOR_QUERY = "Z".charCodeAt(0);
const AUTHENTICATION = "R".charCodeAt(0);

async function openSocket(url: URL): Promise<FloorConnection> {
  const socket = connect(Number(url.port || 5432), url.hostname);
  socket.setNoDelay(true);
  const receive = answersOf(socket);
  const startUp = receive();
  socket.write(startUpMessage(url));
  refusePassword(await startUp);
  return {
    async send(messages) {
      const answer = receive();
      socket.write(messages);
      const error = findError(await answer);
      if (error) throw new Error(error);
    },
    async close() {
      socket.destroy();
    },
  };
}

function startUpMessage(url: URL): Buffer {
  const parameters = ["user", decodeURIComponent(url.username), "database", url.pathname.slice(1)];
  const text = Buffer.from(`${parameters.join("\0")}\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(text.length + 8, 0);
  head.writeInt32BE(PROTOCOL_VERSION, 4);
  return Buffer.concat([head, text]);
}

function refusePassword(answer: Buffer): void {
  const error = findError(answer);
  if (error) throw new Error(error);
  if (answer[0] === AUTHENTICATION && answer.readInt32BE(5) === 0) return;
  throw new Error("The plain-SQL floor connects without a password: let the server trust it.");
}

/** Each call resolves with all messages up to the next ReadyForQuery, an error or the end. */
function answersOf(socket: Socket): () => Promise<Buffer> {
  let received: Buffer = Buffer.alloc(0);
  /** The beginning of the next unread message. */
  let seen = 0;
  let waiting: { resolve(answer: Buffer): void; reject(error: Error): void } | undefined;

  socket.on("data", (chunk) => {
    received = received.length > 0 ? Buffer.concat([received, chunk]) : chunk;
    while (received.length - seen >= 5) {
      const end = seen + 1 + received.readInt32BE(seen + 1);
      if (received.length < end) return;
      const isPasswordWanted = received[seen] === AUTHENTICATION && received[seen + 8] !== 0;
      const isReady = received[seen] === READY_FOR_QUERY;
      seen = end;
      if (!isReady && !isPasswordWanted) continue;
      waiting?.resolve(received.subarray(0, end));
      received = received.subarray(end);
      seen = 0;
    }
  });
  const fail = (error: Error) => waiting?.reject(error);
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("The engine closed the connection.")));
  return () =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
    });
}
