import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { mustHold, type Target } from "./target.ts";

/* Connections that send bytes and do not behave as an HTTP client does. */

/** Sockets stay open for so long: enough to see whether they take room from others. */
const HELD_MS = 3_000;

/** A whole request with a body. */
export const requestOf = (path: string, body: object, key: string): string => {
  const text = JSON.stringify(body);
  return `${head(path, Buffer.byteLength(text), key)}${text}`;
};

/** The head of a request whose body never arrives. */
export const head = (path: string, length: number, key?: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
  `${key ? `Authorization: Bearer ${key}\r\n` : ""}Content-Length: ${length}\r\n\r\n`;

export interface SocketAttack {
  readonly count: number;
  /** Sent on each of them; several take turns. */
  readonly bytes: string | readonly string[];
  /** Whether responses are read. */
  readonly reads: boolean;
  /** Is tried while they are held. */
  readonly meanwhile?: () => Promise<void>;
}

/** Holds connections open, and sees that a request of another connection is answered. */
export async function holdSockets(
  target: Target,
  { count, bytes, reads, meanwhile }: SocketAttack,
): Promise<string> {
  const sockets: Socket[] = [];
  let closed = 0;
  for (let index = 0; index < count; index++) {
    const socket = connect(target.port, target.host).on("error", () => {});
    socket.once("close", () => closed++);
    if (reads) socket.resume();
    else socket.pause();
    socket.write([bytes].flat()[index % [bytes].flat().length] ?? "");
    sockets.push(socket);
    if (index % 100 === 99) await pause(1);
  }
  await pause(HELD_MS / Math.min(target.shrink, 3));
  await meanwhile?.();
  const { status } = await target.send("GET", "/health/ready");
  const closedByServer = closed;
  for (const socket of sockets) socket.destroy();
  mustHold(status === 200, `/health/ready is ${status} meanwhile.`);
  return `${count} held, ${closedByServer} closed by the server`;
}

/**
 * Sends bytes and returns the status line of the response, or "" if the connection closes before.
 */
export async function statusLine({ host, port }: Target, bytes: string): Promise<string> {
  const socket = connect(port, host).on("error", () => {});
  socket.write(bytes);
  const [chunk] = await Promise.race([once(socket, "data"), once(socket, "close")]);
  socket.destroy();
  return Buffer.isBuffer(chunk) ? (chunk.toString("latin1").split("\r\n", 1)[0] ?? "") : "";
}
