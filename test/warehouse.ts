/*
 * A warehouse for tests: a real PostgreSQL that a sync reads from over its protocol. If
 * TEST_DATABASE_URL names a server it is a database there; otherwise it is a second embedded engine
 * behind a socket, so that the suite needs only Node.
 */
import { connect, createServer, type Socket } from "node:net";
import { after } from "node:test";
import type { PGlite } from "@electric-sql/pglite";
import postgres from "postgres";
import { openEngine } from "../src/core/database/embedded/pglite-engine.ts";
import { freshDatabase } from "./core/database/fresh-database.ts";

export interface TestWarehouse {
  readonly url: string;
  /** Runs statements. Not while a sync reads: on the embedded engine both have one connection. */
  run(sql: string): Promise<void>;
}

/** A new, empty warehouse; it goes when the test file ends. */
export async function startWarehouse(): Promise<TestWarehouse> {
  const url = await freshDatabase();
  if (url === undefined) return startEmbeddedWarehouse();
  const sql = postgres(url, { max: 1, onnotice: () => {}, fetch_types: false });
  after(() => sql.end());
  return { url, run: async (text) => void (await sql.unsafe(text)) };
}

/**
 * One on an embedded engine: a separate host on any suite, while others may share Rapport's
 * PostgreSQL.
 */
export async function startEmbeddedWarehouse(): Promise<TestWarehouse> {
  const engine = await openEngine("memory:");
  const sessions = new Set<Promise<void>>();
  const server = createServer((socket) => {
    const session = serveSocket(engine, socket).then(() => void sessions.delete(session));
    sessions.add(session);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(async () => {
    server.close();
    await engine.close();
  });
  const { port } = server.address() as { port: number };
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async run(text) {
      // A sync may have its result before its connection is closed.
      await Promise.all(sessions);
      await engine.exec(text);
    },
  };
}

/**
 * A warehouse that accepts a connection and says nothing: a run waits for it until it is released.
 */
export async function silentWarehouse(): Promise<{ url: string; release(): void }> {
  const sockets: Socket[] = [];
  const listener = createServer((socket) => void sockets.push(socket.on("error", () => {})));
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as { port: number };
  const release = () => {
    listener.close();
    for (const socket of sockets) socket.destroy();
  };
  after(release);
  return { url: `postgres://u@127.0.0.1:${port}/x`, release };
}

/** A proxy to a warehouse that breaks every connection after this many bytes of responses. */
export async function fragileWayTo(url: string, bytes: number): Promise<{ url: string }> {
  const target = new URL(url);
  const listener = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    let left = bytes;
    upstream.on("data", (data) => {
      left -= data.length;
      if (left < 0) end();
      else client.write(data);
    });
    client.on("data", (data) => upstream.write(data));
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  after(() => listener.close());
  const { port } = listener.address() as { port: number };
  const way = new URL(url);
  way.host = `127.0.0.1:${port}`;
  return { url: way.href };
}

const SSL_REQUEST = 80_877_103;
const CANCEL_REQUEST = 80_877_102;

/** Hands every message of the protocol to the engine, one after the other, and its answer back. Resolves at the end. */
function serveSocket(engine: PGlite, socket: Socket): Promise<void> {
  let pending = Buffer.alloc(0);
  let hasStarted = false;
  let last = Promise.resolve();

  /** The next whole message, if there is one; before the start a message has no letter. */
  function take(): Buffer | undefined {
    const head = hasStarted ? 1 : 0;
    if (pending.length < head + 4) return undefined;
    const end = head + pending.readInt32BE(head);
    if (pending.length < end) return undefined;
    const message = pending.subarray(0, end);
    pending = pending.subarray(end);
    return message;
  }

  async function handle(message: Buffer): Promise<void> {
    const answer = await engine.execProtocolRaw(new Uint8Array(message));
    if (socket.writable) socket.write(answer);
  }

  socket.on("data", (data: Buffer) => {
    pending = Buffer.concat([pending, data]);
    for (let message = take(); message; message = take()) {
      const code = hasStarted ? 0 : message.readInt32BE(4);
      if (code === SSL_REQUEST) socket.write("N");
      if (code === SSL_REQUEST || code === CANCEL_REQUEST) continue;
      hasStarted = true;
      const whole = message;
      last = last.then(() => handle(whole)).catch(() => void socket.destroy());
    }
  });
  socket.on("error", () => {});
  return new Promise((resolve) => {
    socket.on("close", () => {
      // Another connection begins with a clean session.
      last = last
        .then(() => engine.exec("rollback"))
        .then(() => {})
        .catch(() => {});
      void last.then(resolve);
    });
  });
}
