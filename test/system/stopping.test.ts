/* A server that is told to stop completes its work, and waits for no client for long. */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { describe, test } from "node:test";
import { startOwnServer, type TestServer } from "../harness.ts";

const EVENT = { events: [{ external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" }] };
const BODY = JSON.stringify(EVENT);

function open({ url }: TestServer): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket));
    socket.once("error", reject);
  });
}

const headOf = (key: string, path: string, length: number): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
  `Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;

/** A request whose head the server has read and whose body has not arrived yet. */
async function begun(server: TestServer, key: string, length = BODY.length) {
  const socket = await open(server);
  const state = { heard: "" };
  const isTaken = new Promise<void>((resolve) => {
    socket.on("data", (chunk) => {
      state.heard += chunk;
      if (state.heard.includes("100 Continue")) resolve();
    });
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => {});
  socket.write(headOf(key, "/users/track", length));
  await isTaken;
  return { socket, state, closed };
}

const TIMEOUT = { timeout: 30_000 };

describe("a server that is stopping", () => {
  test("a stopping server completes a request that has begun", TIMEOUT, async () => {
    const server = await startOwnServer();
    const { key } = await server.workspace();
    const { socket, state, closed } = await begun(server, key);
    const stopped = server.stop();
    socket.write(BODY);
    await closed;
    await stopped;
    assert.match(state.heard, /HTTP\/1\.1 201/);
  });

  test("a stopping server does not wait for a body that arrives slowly", TIMEOUT, async () => {
    const server = await startOwnServer({ requestTimeoutSeconds: 1 });
    const { key } = await server.workspace();
    const { socket, state, closed } = await begun(server, key, 1_000_000);
    const trickle = setInterval(() => socket.write(" "), 20);
    await server.stop();
    await closed;
    clearInterval(trickle);
    assert.doesNotMatch(state.heard, /HTTP\/1\.1 2\d\d OK/);
  });

  test(
    "a stopping server does not wait for headers that arrive slowly, or for silent connections",
    TIMEOUT,
    async () => {
      const server = await startOwnServer();
      const [slow, silent] = await Promise.all([open(server), open(server)]);
      for (const socket of [slow, silent]) socket.on("error", () => {});
      slow.write("GET /health/live HTTP/1.1\r\nHost: x\r\n");
      const trickle = setInterval(() => slow.write("X-A: a\r\n"), 20);
      await server.stop();
      clearInterval(trickle);
    },
  );

  test(
    "a stopping server does not wait for a client that does not read its responses",
    TIMEOUT,
    async () => {
      const server = await startOwnServer({ requestTimeoutSeconds: 1 });
      const socket = await open(server);
      socket.on("error", () => {});
      const page = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";
      socket.pause();
      socket.write(page.repeat(500));
      await new Promise((resolve) => setTimeout(resolve, 200));
      await server.stop();
    },
  );
});
