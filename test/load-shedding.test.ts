/* A server that has too much to do says so, and goes on with what it has begun. */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { describe, test } from "node:test";
import { startServer } from "./harness.ts";

const server = await startServer({ maxRequests: 3 });
const workspace = await server.workspace();

const { hostname, port } = new URL(server.url);

const EVENT = { events: [{ external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" }] };
const BODY = JSON.stringify(EVENT);

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket));
    socket.once("error", reject);
  });
}

/** A request that the server works on until it is finished: its last byte has yet to come. */
async function unfinished() {
  const socket = await open();
  let heard = "";
  const isTaken = new Promise<void>((resolve) => {
    socket.on("data", (chunk) => {
      heard += chunk;
      if (heard.includes("100 Continue")) resolve();
    });
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.write(
    `POST /users/track HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${workspace.key}\r\n` +
      "Content-Type: application/json\r\nConnection: close\r\nExpect: 100-continue\r\n" +
      `Content-Length: ${BODY.length}\r\n\r\n${BODY.slice(0, -1)}`,
  );
  await isTaken;
  return {
    async finish(): Promise<number> {
      socket.write(BODY.slice(-1));
      await closed;
      return Number(/HTTP\/1\.1 ([2-5]\d\d)/.exec(heard)?.[1]);
    },
    async goAway(): Promise<void> {
      socket.destroy();
      await closed;
    },
  };
}

/** Sends an event until there is room for it. */
async function untilTaken(): Promise<void> {
  for (;;) {
    const { status } = await workspace.track(EVENT);
    if (status === 201) return;
    assert.equal(status, 503);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe("a server that works on as many requests as it can", () => {
  test("refuses the next with 503 and Retry-After, says that it is not ready, and finishes the others", async () => {
    const begun = await Promise.all([unfinished(), unfinished(), unfinished()]);
    const refused = await workspace.track(EVENT);
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get("retry-after"), "1");
    assert.match(refused.body.message, /too much to do/);
    assert.ok(refused.headers.get("x-request-id"));

    const ready = await server.send("GET", "/health/ready");
    assert.deepEqual([ready.status, ready.body.message], [503, "The server has too much to do."]);
    assert.equal((await server.send("GET", "/health/live")).status, 200);

    assert.deepEqual(await Promise.all(begun.map((each) => each.finish())), [201, 201, 201]);
    await untilTaken();
    assert.equal((await server.send("GET", "/health/ready")).status, 200);
  });

  test("has room again when callers go away without an answer", async () => {
    const begun = await Promise.all([unfinished(), unfinished(), unfinished()]);
    assert.equal((await workspace.track(EVENT)).status, 503);
    for (const each of begun) await each.goAway();
    await untilTaken();
  });

  test("has room again when callers go away who sent many requests and read no answer", async () => {
    const many = await startServer({ maxRequests: 20 });
    const { hostname, port } = new URL(many.url);
    const requests = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(200);
    for (let caller = 0; caller < 40; caller++) {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {}).pause();
      await new Promise<void>((resolve) => socket.write(requests, () => resolve()));
      await new Promise((resolve) => setTimeout(resolve, 20));
      socket.destroy();
    }
    for (;;) {
      const { status } = await many.send("GET", "/docs");
      if (status === 200) return;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });

  test("takes no room for a body that it will not read", async () => {
    const raw = " ".repeat(4_194_305);
    const statuses = [];
    for (let turn = 0; turn < 5; turn++) statuses.push((await workspace.track(0, { raw })).status);
    assert.deepEqual(statuses, Array(5).fill(413));
    await untilTaken();
  });
});

describe("many connections", () => {
  test("a thousand idle ones do not keep a request from its answer", async () => {
    const idle = await Promise.all(Array.from({ length: 1_000 }, open));
    assert.equal((await workspace.track(EVENT)).status, 201);
    assert.equal((await server.send("GET", "/health/ready")).status, 200);
    assert.ok(idle.every((socket) => !socket.closed));
    for (const socket of idle) socket.destroy();
  });
});
