/*
 * Events below HTTP: clients that are slow, silent or disconnected, or send something other than a
 * request. They talk to the server through bare sockets.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { eachInSilence } from "../../../src/core/http/connections.ts";
import { startOwnServer } from "../../harness.ts";

const server = await startOwnServer();
const workspace = await server.workspace();

/** One with little patience, so that the tests of slow clients are quick. */
const impatient = await startOwnServer({ requestTimeoutSeconds: 1 });

function open({ url } = server): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket));
    socket.once("error", reject);
  });
}

/** All that the server says on a connection until it closes it. */
async function answerTo(text: string, socket?: Socket): Promise<string> {
  const connection = socket ?? (await open());
  let heard = "";
  connection.on("data", (chunk) => {
    heard += chunk;
  });
  const closed = new Promise<void>((resolve) => {
    connection.once("close", () => resolve());
    connection.once("error", () => resolve());
  });
  connection.write(text);
  await closed;
  return heard;
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

const bodyOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4));

const HEADERS = [
  "Host: rapport",
  `Authorization: Bearer ${workspace.key}`,
  "Content-Type: application/json",
].join("\r\n");

const isAlive = async () => (await server.send("GET", "/health/live")).status === 200;

const EVENT = { events: [{ external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" }] };

const countOf = async (id: string): Promise<number> => {
  const found = await workspace.profiles({ external_ids: [id] });
  return found[0]?.custom_events?.[0]?.count ?? 0;
};

describe("invalid HTTP requests", () => {
  const cases: readonly [what: string, text: string, status: number, message: RegExp][] = [
    ["garbage", "GARBAGE\r\n\r\n", 400, /not a valid HTTP request/],
    ["bytes of another protocol", "\x16\x03\x01\x02\x00\x01\x00", 400, /not a valid HTTP/],
    [
      "two lengths that disagree",
      `POST /users/track HTTP/1.1\r\n${HEADERS}\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
      /not a valid HTTP request/,
    ],
    [
      "a length that is none",
      `POST /users/track HTTP/1.1\r\n${HEADERS}\r\nContent-Length: many\r\n\r\n`,
      400,
      /not a valid HTTP request/,
    ],
    [
      "a header with a line break in it",
      "GET /health/live HTTP/1.1\r\nHost: x\r\nX-A: a\rb\r\n\r\n",
      400,
      /not a valid HTTP request/,
    ],
    [
      "headers of more than 64 KB",
      `GET /health/live HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(66_000)}\r\n\r\n`,
      431,
      /larger than 64 KB/,
    ],
    [
      "twenty thousand headers",
      `GET /health/live HTTP/1.1\r\nHost: x\r\n${"X-A: a\r\n".repeat(20_000)}\r\n`,
      431,
      /larger than 64 KB/,
    ],
    [
      "a path of 50,000 characters",
      `GET /${"a".repeat(50_000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      414,
      /longer than 49152 characters/,
    ],
    [
      "a path that is not encoded as one",
      "GET /users/%ff%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
      400,
      /not a valid URL path/,
    ],
  ];
  for (const [what, text, status, message] of cases) {
    test(`a request with ${what} gets ${status} as JSON with a request id, and the connection is closed`, async () => {
      const answer = await answerTo(text);
      assert.equal(statusOf(answer), status, answer);
      assert.match(bodyOf(answer).message, message);
      assert.match(answer, /^x-request-id: \S+$/im);
      assert.ok(await isAlive());
    });
  }
});

describe("a slow client", async () => {
  const { key } = await impatient.workspace();
  const head =
    `POST /users/track HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
    "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n";

  test("a client that sends its headers too slowly gets 408 and is disconnected", async () => {
    const socket = await open(impatient);
    const answer = await answerTo("GET /health/live HTTP/1.1\r\nHost: x\r\n", socket);
    assert.equal(statusOf(answer), 408);
    assert.match(bodyOf(answer).message, /took too long to arrive/);
  });

  test("a client that sends its body too slowly gets 408 and is disconnected, even without long pauses", async () => {
    const socket = await open(impatient);
    const trickle = setInterval(() => socket.write(" "), 50);
    const answer = await answerTo(`${head}{`, socket).finally(() => clearInterval(trickle));
    assert.equal(statusOf(answer), 408);
  });

  test("a silent client gets 408 and is disconnected", async () => {
    assert.equal(statusOf(await answerTo("", await open(impatient))), 408);
  });

  test("a client may wait for a response for longer than a silent connection stays open", async () => {
    const workspace = await impatient.workspace({ settings: { change_feed: true } });
    const { body } = await workspace.call<any>("GET", "/changes");
    const { status } = await workspace.call("GET", `/changes?cursor=${body.cursor}&wait_s=3`);
    assert.equal(status, 200);
  });
});

describe("a stream to a client", () => {
  test("the pieces of a stream may come later than a silent connection stays open", async () => {
    async function* slowly() {
      for (const piece of ["one ", "two ", "three"]) {
        await sleep(300);
        yield piece;
      }
    }
    const streaming = createServer(({ socket }, response) => {
      Readable.from(eachInSilence(socket, slowly())).pipe(response);
    }).setTimeout(150);
    after(() => streaming.close());
    await once(streaming.listen(0, "127.0.0.1"), "listening");
    const { port } = streaming.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}`);
    assert.equal(await response.text(), "one two three");
  });
});

describe("a client that disconnects", () => {
  test("a client that disconnects within its body leaves nothing behind", async () => {
    const socket = await open();
    const body = JSON.stringify({ events: [{ ...EVENT.events[0], external_id: "gone" }] });
    socket.write(
      `POST /users/track HTTP/1.1\r\n${HEADERS}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
    );
    socket.destroy();
    assert.ok(await isAlive());
    assert.equal(await countOf("gone"), 0);
  });

  test("a hundred clients that disconnect at any point leave the server working", async () => {
    const body = JSON.stringify(EVENT);
    const text = `POST /users/track HTTP/1.1\r\n${HEADERS}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const socket = await open();
        socket.on("error", () => {});
        socket.write(text.slice(0, Math.ceil((text.length * (index + 1)) / 100)));
        socket.destroy();
      }),
    );
    assert.equal((await workspace.track(EVENT)).status, 201);
  });
});

describe("pipelined requests", () => {
  test("pipelined requests get their responses in order", async () => {
    const paths = Array.from({ length: 200 }, (_, index) =>
      index % 2 === 0 ? "/health/live" : `/nowhere-${index}`,
    );
    const text = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join("");
    const last = "GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const answer = await answerTo(text + last);
    const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    assert.deepEqual(statuses, [
      ...paths.map((path) => (path === "/health/live" ? "200" : "404")),
      "200",
    ]);
  });
});

describe("unusual requests", () => {
  const cases: readonly [what: string, text: string, status: number][] = [
    ["expects something unknown", "GET /health/live HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n", 200],
    [
      "wants another protocol",
      "GET /health/live HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n",
      200,
    ],
    ["names its host in the path", "GET http://evil/health/live HTTP/1.1\r\nHost: x\r\n", 400],
    ["asks for everything", "OPTIONS * HTTP/1.1\r\nHost: x\r\n", 400],
    ["wants a tunnel", "CONNECT x:80 HTTP/1.1\r\nHost: x\r\n", Number.NaN],
  ];
  for (const [what, text, status] of cases) {
    test(`a request that ${what} is handled like any other or disconnected`, async () => {
      const answer = await answerTo(`${text}Connection: close\r\n\r\n`);
      if (Number.isNaN(status)) assert.equal(answer, "");
      else {
        assert.equal(statusOf(answer), status, answer);
        assert.match(answer, /^x-request-id: \S+$/im);
      }
      assert.ok(await isAlive());
    });
  }

  test("HEAD requires the same authorization as GET", async () => {
    for (const [path, status] of [
      ["/health/live", 200],
      ["/admin/v1/audit", 401],
      ["/scim/v2/Users", 401],
      ["/subscription/status/get", 401],
    ] as const) {
      assert.equal((await fetch(server.url + path, { method: "HEAD" })).status, status, path);
    }
  });
});

describe("HTML pages", () => {
  test("HTML pages forbid scripts, framing and referrers", async () => {
    const { headers } = await server.send("GET", "/");
    const policy = headers.get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /script/);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("x-frame-options"), "DENY");
  });
});
