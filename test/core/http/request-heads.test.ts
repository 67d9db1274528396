/* Rules about the head of a request, and the headers of every response. */
import assert from "node:assert/strict";
import { request } from "node:http";
import { connect } from "node:net";
import { describe, test } from "node:test";
import { startOwnServer } from "../../harness.ts";

const server = await startOwnServer({ trustedProxies: ["127.0.0.1", "::1"] });
const workspace = await server.workspace();
const EVENT = { events: [{ external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" }] };

const { hostname, port } = new URL(server.url);

function rawAnswer(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = "";
    const socket = connect(Number(port), hostname).on("error", reject);
    socket.on("data", (chunk) => {
      heard += chunk;
    });
    socket.once("close", () => resolve(heard));
    socket.write(text);
  });
}

describe("the host of a request", () => {
  test("a request with two Host headers is refused with 400", async () => {
    const answer = await rawAnswer(
      "GET /docs HTTP/1.1\r\nHost: one\r\nHost: two\r\nConnection: close\r\n\r\n",
    );
    assert.match(answer, /^HTTP\/1\.1 400 /);
    assert.match(answer, /more than one Host header/);
  });

  test("a Host header that is not a host is refused with 400", async () => {
    const answer = await rawAnswer(
      'GET /docs HTTP/1.1\r\nHost: x"><script>\r\nConnection: close\r\n\r\n',
    );
    assert.match(answer, /^HTTP\/1\.1 400 /);
    assert.match(answer, /not a host name or an address/);
  });
});

describe("the number of headers", () => {
  const many = (count: number) => "x:\r\n".repeat(count);

  test("more than 200 headers are refused with 431, and none that a proxy appends is dropped", async () => {
    const answer = await rawAnswer(
      `GET /health/live HTTP/1.1\r\nHost: one\r\nConnection: close\r\n${many(2_500)}X-Forwarded-For: 1.2.3.4\r\n\r\n`,
    );
    assert.match(answer, /^HTTP\/1\.1 431 /);
    assert.match(answer, /more than 200 headers/);
    const fine = await rawAnswer(
      `GET /health/live HTTP/1.1\r\nHost: one\r\nConnection: close\r\n${many(198)}\r\n`,
    );
    assert.match(fine, /^HTTP\/1\.1 200 /);
  });
});

describe("the target of a request", () => {
  test("a target that a proxy would read as another path reaches no endpoint", async () => {
    const token = `Authorization: Bearer ${server.adminToken}`;
    for (const target of [
      "/%61dmin/v1/workspaces",
      "/admin/v%31/workspaces",
      "/admin/v1/workspaces/demo/%61pps",
      "http://127.0.0.1/admin/v1/workspaces",
      "HTTP://elsewhere/admin/v1/workspaces",
      "admin/v1/workspaces",
      "*",
    ]) {
      const method = target === "*" ? "OPTIONS" : "GET";
      const answer = await rawAnswer(
        `${method} ${target} HTTP/1.1\r\nHost: one\r\n${token}\r\nConnection: close\r\n\r\n`,
      );
      assert.match(answer, /^HTTP\/1\.1 40[04] /, `${target}: ${answer}`);
      assert.doesNotMatch(answer, /"workspaces":/, target);
    }
  });

  test("a parameter of a path may be written with escapes", async () => {
    const path = `/admin/v1/workspaces/${workspace.name.replace(/^./, (letter) => `%${letter.charCodeAt(0).toString(16)}`)}/apps`;
    assert.equal((await server.admin("GET", path)).status, 200);
  });
});

describe("every response", () => {
  test("every response with any status carries X-Content-Type-Options: nosniff", async () => {
    for (const path of ["/health/live", "/nowhere", "/users/track", "/openapi.json"]) {
      const { headers } = await server.send("GET", path);
      assert.equal(headers.get("x-content-type-options"), "nosniff", path);
    }
  });

  test("a SCIM response carries Cache-Control: no-store", async () => {
    const { headers } = await server.send("GET", "/scim/v2/Users");
    assert.equal(headers.get("cache-control"), "no-store");
  });
});

describe("slight deviations from the documented requests", () => {
  test("a byte order mark before JSON is ignored", async () => {
    const raw = `\uFEFF${JSON.stringify(EVENT)}`;
    assert.equal((await workspace.track(undefined, { raw })).status, 201);
  });

  test("OPTIONS on a known path gets 405 with Allow, and 404 on an unknown one", async () => {
    const { status, headers } = await server.send("OPTIONS", "/users/track");
    assert.deepEqual([status, headers.get("allow")], [405, "POST"]);
    assert.equal((await server.send("OPTIONS", "/nowhere")).status, 404);
  });

  test("a single-valued query parameter that is given twice is refused by name", async () => {
    const { status, body } = await workspace.call(
      "GET",
      "/subscription/user/status?external_id=ada&limit=1&limit=2",
    );
    assert.equal(status, 400);
    assert.match(String(body.message), /^'\w+' is given more than once, but takes only one value$/);
  });

  test("a 401, 413 or 415 response contains only a message", async () => {
    for (const [options, status] of [
      [{ key: "nobody" }, 401],
      [{ headers: { "content-type": "text/plain" } }, 415],
      [{ raw: " ".repeat(4_194_305) }, 413],
    ] as const) {
      const answer = await workspace.track(EVENT, options);
      assert.equal(answer.status, status);
      assert.deepEqual(Object.keys(answer.body), ["message"]);
    }
  });
});

test("a forwarded protocol other than http or https is refused with 400", async () => {
  const status = await new Promise((resolve, reject) => {
    const sent = request(
      `${server.url}/docs`,
      { headers: { "x-forwarded-proto": "javascript", "x-forwarded-host": 'x"y' } },
      (response) => resolve(response.resume().statusCode),
    );
    sent.once("error", reject).end();
  });
  assert.equal(status, 400);
});
