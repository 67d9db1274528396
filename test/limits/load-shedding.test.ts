/* An overloaded server says so, and completes the work it has begun. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { before, describe, test } from "node:test";
import { startOwnServer } from "../harness.ts";

const server = await startOwnServer({ maxRequests: 3 });
const workspace = await server.workspace();

const { hostname, port } = new URL(server.url);

const EVENT = { events: [{ external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" }] };

function open(toPort = Number(port)): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(toPort, hostname, () => resolve(socket));
    socket.once("error", reject);
  });
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

/** This many sockets that each send only the head of a request. */
async function headsOf(count: number, head: string, toPort = Number(port)): Promise<Socket[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = await open(toPort);
      socket.on("error", () => {}).resume();
      socket.write(head);
      return socket;
    }),
  );
}

const post = (path: string, length: number, key?: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
  `${key ? `Authorization: Bearer ${key}\r\n` : ""}Content-Length: ${length}\r\n\r\n`;

describe("a server at its request limit", () => {
  test("a server at its request limit responds with 503 and Retry-After and completes the accepted requests", async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => workspace.track(EVENT)));
    const refused = answers.filter(({ status }) => status !== 201);
    assert.ok(refused.length > 0 && refused.length < 40, `${refused.length} refused`);
    for (const { status, headers, body } of refused) {
      assert.equal(status, 503);
      assert.equal(headers.get("retry-after"), "1");
      assert.match(body.message, /is overloaded/);
      assert.equal("errors" in body, false);
      assert.ok(headers.get("x-request-id"));
    }
    await untilTaken();
    assert.equal((await server.send("GET", "/health/ready")).status, 200);
  });

  test("a body over the size limit is refused with 413 and keeps no request slot", async () => {
    const raw = " ".repeat(4_194_305);
    const statuses = [];
    for (let turn = 0; turn < 5; turn++) statuses.push((await workspace.track(0, { raw })).status);
    assert.deepEqual(statuses, Array(5).fill(413));
    await untilTaken();
  });
});

describe("requests whose bodies do not arrive", async () => {
  const roomy = await startOwnServer();
  const own = await roomy.workspace();
  const attacks: readonly [what: string, count: number, head: string][] = [
    ["34 large bodies announced to an unknown path", 34, post("/nowhere", 4_194_304)],
    ["2,100 bodies of one byte announced to an unknown path", 2_100, post("/nowhere", 1)],
    ["2,100 bodies of one byte announced without a key", 2_100, post("/users/track", 1)],
    ["300 large bodies announced with a key", 300, post("/users/track", 4_194_304, workspace.key)],
  ];
  for (const [what, count, head] of attacks) {
    test(`${what} do not block other requests`, async () => {
      const withKey = head.replace(workspace.key, own.key);
      const sockets = await headsOf(count, withKey, Number(new URL(roomy.url).port));
      for (let turn = 0; turn < 5; turn++) assert.equal((await own.track(EVENT)).status, 201);
      assert.equal((await roomy.send("GET", "/health/ready")).status, 200);
      for (const socket of sockets) socket.destroy();
    });
  }

  test("a request to an unknown path is refused before its body arrives", async () => {
    const [socket] = (await headsOf(1, post("/nowhere", 1_000_000))) as [Socket];
    const [answer] = await once(socket, "data");
    assert.match(String(answer), /^HTTP\/1\.1 404 /);
    socket.destroy();
  });
});

/** Begun before the tests below, which run meanwhile. */
let stalled: Promise<string> | undefined;

async function stallBody(): Promise<string> {
  const [socket] = (await headsOf(1, post("/users/track", 100_000, workspace.key))) as [Socket];
  const [answer] = await once(socket, "data");
  socket.destroy();
  return String(answer);
}

describe("unread responses", () => {
  before(() => {
    stalled = stallBody();
  });

  test("250 connections with 20 unread responses each do not block a track request", async () => {
    const few = await startOwnServer({ maxRequests: 40 });
    const own = await few.workspace();
    const request =
      `GET /subscription/status/get?external_id=ada HTTP/1.1\r\nHost: x\r\n` +
      `Authorization: Bearer ${own.key}\r\n\r\n`;
    const docs = "GET /docs HTTP/1.1\r\nHost: x\r\n\r\n";
    const sockets: Socket[] = [];
    for (let index = 0; index < 250; index++) {
      const socket = await open(Number(new URL(few.url).port));
      socket.on("error", () => {}).pause();
      socket.write((index % 2 === 0 ? request : docs).repeat(20));
      sockets.push(socket);
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    for (let turn = 0; turn < 20; turn++) assert.equal((await own.track(EVENT)).status, 201);
    for (const socket of sockets) socket.destroy();
    assert.equal((await few.send("GET", "/health/ready")).status, 200);
  });

  test("a connection that pipelines more than 256 requests is closed", async () => {
    const socket = await open();
    socket.on("error", () => {}).resume();
    socket.write("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1_000));
    await once(socket, "close");
    await untilTaken();
  });
});

describe("idle connections", () => {
  test("a thousand idle connections do not block a request", async () => {
    const idle = await Promise.all(Array.from({ length: 1_000 }, () => open()));
    assert.equal((await workspace.track(EVENT)).status, 201);
    assert.equal((await server.send("GET", "/health/ready")).status, 200);
    assert.ok(idle.every((socket) => !socket.closed));
    for (const socket of idle) socket.destroy();
  });
});

test("a request whose body stalls for ten seconds is refused with 408", async () => {
  assert.match((await stalled) ?? "", /^HTTP\/1\.1 408 /);
});
