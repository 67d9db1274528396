import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { after } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

/** The shortest time after which Linux sends a lost packet again. */
const RETRANSMITTED_AFTER_MS = 200;

const untilDue = (at: number) =>
  at > performance.now() ? sleep(at - performance.now()) : undefined;

/** A network between a client and a server that a test can cut. */
export interface Proxy {
  /** The server's URL, through the proxy. */
  readonly url: string;
  /** From now on nothing gets through, and connections stay open: as if the server were stopped. */
  pause(): void;
  resume(): void;
  /** From now on every chunk takes this many milliseconds more. */
  delay(ms: number): void;
  /**
   * From now on these shares of the chunks are late as after a lost packet, and reset their
   * connection.
   */
  lose(shares: { readonly packets: number; readonly connections: number }): void;
  /** Resets all connections. */
  reset(): void;
  readonly connections: number;
}

/** Starts a proxy to the server of a URL; it ends with the test file. */
export async function startProxy(server: string): Promise<Proxy> {
  const target = new URL(server);
  const sockets = new Set<Socket>();
  /** Data that arrived while nothing gets through; undefined: everything gets through. */
  let held: (() => void)[] | undefined;
  let delayMs = 0;
  let lost = { packets: 0, connections: 0 };
  const lateness = () => delayMs + (Math.random() < lost.packets ? RETRANSMITTED_AFTER_MS : 0);
  const proxy = createServer((client) => {
    const engine = connect(Number(target.port || 5432), target.hostname);
    for (const [socket, other] of [
      [client, engine],
      [engine, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      // One after the other: a late chunk makes those after it late.
      let last = Promise.resolve();
      socket.on("data", (chunk) => {
        if (held) return void held.push(() => other.write(chunk));
        if (Math.random() < lost.connections) return void socket.resetAndDestroy();
        const dueAt = performance.now() + lateness();
        last = last.then(() => untilDue(dueAt)).then(() => void other.write(chunk));
      });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  after(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const through = new URL(target);
  through.hostname = "127.0.0.1";
  through.port = String((proxy.address() as AddressInfo).port);
  return {
    url: through.href,
    pause() {
      held = [];
    },
    resume() {
      for (const pass of held ?? []) pass();
      held = undefined;
    },
    delay(ms) {
      delayMs = ms;
    },
    lose(shares) {
      lost = shares;
    },
    reset() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    get connections() {
      return sockets.size / 2;
    },
  };
}
