/*
 * What happens below HTTP: clients that are slow, silent, gone, or send what is no request. They talk
 * to the server through bare sockets. The server's patience is short here, so that the tests are too.
 */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { describe, test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { startServer } from "./harness.ts";

const server = await startServer({ requestTimeoutSeconds: 1 });
const workspace = await server.workspace();

const { hostname, port } = new URL(server.url);

function open(): Promise<Socket> {
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

describe("what is no request", () => {
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
    test(`${what}: ${status} as JSON, with a request id, and the connection is closed`, async () => {
      const answer = await answerTo(text);
      assert.equal(statusOf(answer), status, answer);
      assert.match(bodyOf(answer).message, message);
      assert.match(answer, /^x-request-id: \S+$/im);
      assert.ok(await isAlive());
    });
  }
});

describe("a client that is slow", () => {
  test("with its headers is told so and let go", async () => {
    const answer = await answerTo("GET /health/live HTTP/1.1\r\nHost: x\r\n");
    assert.equal(statusOf(answer), 408);
    assert.match(bodyOf(answer).message, /took too long to arrive/);
  });

  test("with its body is told so and let go, though it never pauses for long", async () => {
    const socket = await open();
    const trickle = setInterval(() => socket.write(" "), 50);
    const answer = await answerTo(
      `POST /users/track HTTP/1.1\r\n${HEADERS}\r\nContent-Length: 1000\r\n\r\n{`,
      socket,
    ).finally(() => clearInterval(trickle));
    assert.equal(statusOf(answer), 408);
  });

  test("and says nothing at all is let go", async () => {
    assert.equal(statusOf(await answerTo("")), 408);
  });
});

describe("a client that goes away", () => {
  test("within its body leaves nothing behind", async () => {
    const socket = await open();
    const body = JSON.stringify({ events: [{ ...EVENT.events[0], external_id: "gone" }] });
    socket.write(
      `POST /users/track HTTP/1.1\r\n${HEADERS}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
    );
    socket.destroy();
    assert.ok(await isAlive());
    assert.equal(await countOf("gone"), 0);
  });

  test("a hundred times at any moment leaves a server that serves", async () => {
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
  test("are answered in their order, however many come at once", async () => {
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

describe("a packed body", () => {
  const sendPacked = (encoding: string, raw: Uint8Array) =>
    workspace.track(undefined, { raw, headers: { "content-encoding": encoding } });
  const plain = Buffer.from(JSON.stringify(EVENT));
  const PACKERS = {
    gzip: gzipSync,
    "x-gzip": gzipSync,
    deflate: deflateSync,
    br: brotliCompressSync,
  };

  for (const [encoding, pack] of Object.entries(PACKERS)) {
    test(`${encoding} is unpacked`, async () => {
      assert.equal((await sendPacked(encoding, pack(plain))).status, 201);
    });

    test(`${encoding} of more than 4 MB unpacked is refused`, async () => {
      const answer = await sendPacked(encoding, pack(Buffer.alloc(50_000_000, " ")));
      assert.deepEqual(
        [answer.status, answer.body.message],
        [413, "The body is larger than 4 MB."],
      );
    });

    test(`${encoding} that breaks off, or is something else, is refused in words`, async () => {
      for (const raw of [pack(plain).subarray(0, -12), plain]) {
        const answer = await sendPacked(encoding, raw);
        assert.equal(answer.status, 400);
        assert.match(answer.body.message, /not packed as its Content-Encoding says/);
      }
    });
  }

  test("of exactly 4 MB unpacked is taken", async () => {
    const body = Buffer.alloc(4_194_304, " ");
    plain.copy(body);
    assert.equal((await sendPacked("gzip", gzipSync(body))).status, 201);
    const larger = Buffer.alloc(4_194_305, " ");
    plain.copy(larger);
    assert.equal((await sendPacked("gzip", gzipSync(larger))).status, 413);
  });

  test("in a way that is not known is refused by name, and identity is none", async () => {
    for (const encoding of ["zstd", "gzip, br", "__proto__", "constructor"]) {
      const answer = await sendPacked(encoding, plain);
      assert.equal(answer.status, 415, encoding);
      assert.match(answer.body.message, /must be gzip, deflate or br/);
    }
    assert.equal((await sendPacked("identity", plain)).status, 201);
  });

  test("is the same request as its plain form for an Idempotency-Key", async () => {
    const headers = { "idempotency-key": "packed" };
    const body = { events: [{ ...EVENT.events[0], external_id: "packed" }] };
    const first = await workspace.track(body, { headers });
    const again = await workspace.track(undefined, {
      raw: gzipSync(JSON.stringify(body)),
      headers: { ...headers, "content-encoding": "gzip" },
    });
    assert.deepEqual(again.body, first.body);
    assert.equal(again.headers.get("idempotency-replayed"), "true");
    assert.equal(await countOf("packed"), 1);
  });

  test("that comes in chunks is taken, and refused beyond 4 MB", async () => {
    const chunked = async (text: string) => {
      const head = `POST /users/track HTTP/1.1\r\n${HEADERS}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`;
      return statusOf(await answerTo(`${head}${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`));
    };
    assert.equal(await chunked(plain.toString()), 201);
    assert.equal(await chunked(plain.toString().padEnd(4_194_305)), 413);
  });
});

describe("pages", () => {
  test("tell the browser to run nothing, frame nothing and tell nobody", async () => {
    const { headers } = await server.send("GET", "/docs");
    const policy = headers.get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /script/);
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("x-frame-options"), "DENY");
  });
});
