/*
 * Requests that no well-meaning client sends: broken bodies, wrong types and sizes, paths and methods
 * that are not there. The answer is a 4xx that says why, never a 5xx. For values inside a body that
 * is JSON: hostile-values.test.ts.
 */
import assert from "node:assert/strict";
import { METHODS, request } from "node:http";
import { connect } from "node:net";
import { describe, test } from "node:test";
import { pathsOf } from "../../../../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../../../../src/server/assembled.ts";
import { startOwnServer } from "../../../harness.ts";
import { pathOf, sampleRequests, sampleWorkspace } from "../../../sample-requests.ts";

const server = await startOwnServer();
const workspace = await server.workspace();

const TIME = "2026-01-01T12:00:00Z";
const EVENT = { external_id: "ada", name: "opened", time: TIME };
const BODY_PATHS = ["/users/track", "/users/export/ids", "/admin/v1/apply"];

const JSON_HEADERS = {
  authorization: `Bearer ${workspace.key}`,
  "content-type": "application/json",
};

/** Sends bytes as they are, with credentials that the path accepts. */
const raw = (path: string, bytes: string | Uint8Array, headers: Record<string, string> = {}) =>
  workspace.call<any>("POST", path, undefined, {
    raw: bytes,
    headers,
    ...(path.startsWith("/admin") && { key: server.adminToken }),
  });

describe("a body that is not a JSON object is refused with an explanation", () => {
  const malformed: Record<string, string | Uint8Array> = {
    nothing: "",
    "an object that ends too early": '{"events":[',
    "a trailing comma": '{"events":[],}',
    "single quotes": "{'events':[]}",
    "a comment": '{"events":[]} // done',
    "two values": "{}{}",
    "NaN as a number": '{"events":[NaN]}',
    "a raw control character in a string": '{"partner":"a\u0001b"}',
    "10,000 levels that are not closed": "[".repeat(10_000),
    "bytes that are not UTF-8": Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
    "a surrogate in UTF-8": Uint8Array.of(0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d),
  };
  for (const [what, bytes] of Object.entries(malformed)) {
    test(`a malformed body (${what}) is refused with the same text in message and error`, async () => {
      for (const path of BODY_PATHS) {
        const { status, body } = await raw(path, bytes);
        assert.equal(status, 400);
        assert.match(body.message, /^Error while parsing request body: it is not .*syntax\.$/);
        assert.equal(body.error, body.message);
      }
    });
  }

  for (const text of ["[]", '"text"', "5", "true", "null", '[{"external_id":"a"}]']) {
    test(`the body ${text} is refused because it is not an object`, async () => {
      for (const path of BODY_PATHS) {
        const { status, body } = await raw(path, text);
        assert.equal(status, 400);
        assert.match(body.message, /^The (body|manifest) must be an object$/);
      }
    });
  }
});

describe("the size and the Content-Type of a body", () => {
  const LIMIT = 4_194_304;
  const sized = (bytes: number) => JSON.stringify({ events: [EVENT] }).padEnd(bytes);

  test("a body of 4,194,304 bytes is accepted and one byte more is refused with 413, with and without Content-Length", async () => {
    assert.equal((await raw("/users/track", sized(LIMIT))).status, 201);
    for (const path of BODY_PATHS) {
      const { status, body } = await raw(path, sized(LIMIT + 1));
      assert.deepEqual([status, body.message], [413, "The body is larger than 4 MB."]);
    }
    const chunked = await new Promise<number | undefined>((resolve, reject) => {
      const sent = request(
        `${server.url}/users/track`,
        { method: "POST", headers: { ...JSON_HEADERS, "transfer-encoding": "chunked" } },
        (response) => resolve(response.resume().statusCode),
      );
      sent.once("error", reject).end(sized(LIMIT + 1));
    });
    assert.equal(chunked, 413);
  });

  test("a client that sends the whole body over the limit reads the 413, and one that never ends is disconnected", async () => {
    const { hostname, port } = new URL(server.url);
    const head = (bytes: number) =>
      `POST /users/track HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${workspace.key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`;
    const send = (announced: number, body: Buffer) =>
      new Promise<{ text: string; error: string | undefined }>((resolve) => {
        const socket = connect(Number(port), hostname);
        let text = "";
        let error: string | undefined;
        socket.on("data", (chunk) => {
          text += chunk;
        });
        socket.on("error", ({ message }) => {
          error = message;
        });
        socket.on("close", () => resolve({ text, error }));
        socket.write(head(announced));
        socket.write(body);
      });
    const large = Buffer.alloc(16 * 1_048_576, " ");
    for (let round = 0; round < 5; round++) {
      const { text, error } = await send(large.length, large);
      assert.match(text, /^HTTP\/1\.1 413 /);
      assert.equal(error, undefined);
    }
    const endless = await send(1_000_000_000, large);
    assert.match(endless.text, /^HTTP\/1\.1 413 /);
  });

  const types: Record<string, number> = {
    "application/json": 201,
    "application/json; charset=utf-8": 201,
    "Application/JSON": 201,
    "application/vnd.api+json": 201,
    "text/plain": 415,
    "application/x-www-form-urlencoded": 415,
    "multipart/form-data; boundary=x": 415,
    "application/jsonx": 415,
    "text/json": 415,
    ";": 415,
  };
  for (const [type, expected] of Object.entries(types)) {
    test(`the Content-Type ${type} is ${expected === 201 ? "accepted" : "refused with 415"}`, async () => {
      const body = JSON.stringify({ events: [EVENT] });
      const answer = await raw("/users/track", body, { "content-type": type });
      assert.equal(answer.status, expected);
      if (expected === 415) assert.match(answer.body.message, /Content-Type/);
    });
  }

  test("an endpoint that takes no body refuses one with members, and does nothing", async () => {
    const own = await server.workspace(sampleWorkspace());
    const samples = await sampleRequests(server, own);
    const bodiless = ENDPOINTS.filter(
      ({ contract: { access, body, method } }) =>
        !body && method !== "GET" && (access.by === "key" || access.by === "administrator"),
    );
    assert.ok(bodiless.length > 30);
    for (const { contract } of bodiless) {
      const [declaredPath = ""] = pathsOf(contract);
      const name = `${contract.method} ${declaredPath}`;
      const sample = (await samples[name]?.()) ?? {};
      const path = pathOf(declaredPath, own.name, sample);
      const key = contract.access.by === "administrator" ? server.adminToken : own.key;
      for (const body of [{ user_name: "grace@acme.example" }, ["x"], "x", 7, null]) {
        const { status, body: answer } = await server.send(contract.method, path, body, { key });
        assert.equal(status, contract.accepts ? 415 : 400, `${name} ${JSON.stringify(body)}`);
        if (!contract.accepts) assert.match(answer.message, /takes no body|JSON object/, name);
      }
      if (contract.accepts) continue;
      const empty = await server.send(contract.method, path, {}, { key });
      assert.doesNotMatch(empty.body?.message ?? "", /takes no body/, name);
    }
  });

  test("every endpoint with a body accepts JSON and no other type", async () => {
    const own = await server.workspace(sampleWorkspace());
    const samples = await sampleRequests(server, own);
    for (const { contract } of ENDPOINTS) {
      const { by } = contract.access;
      const takesJson = contract.body && !contract.accepts;
      if (!takesJson || (by !== "key" && by !== "administrator")) continue;
      const [declaredPath = ""] = pathsOf(contract);
      const name = `${contract.method} ${declaredPath}`;
      const sample = (await samples[name]?.()) ?? {};
      const path = pathOf(declaredPath, own.name, sample);
      const key = by === "administrator" ? server.adminToken : own.key;
      const send = (text: string, type: string) =>
        server.send(contract.method, path, undefined, {
          key,
          raw: text,
          headers: { "content-type": type },
        });
      const good = JSON.stringify(sample.body);
      assert.ok((await send(good, "application/json")).status < 300, name);
      assert.equal((await send(good, "text/plain")).status, 415, name);
      assert.equal((await send(`${good},`, "application/json")).status, 400, name);
      assert.equal((await send("[]", "application/json")).status, 400, name);
    }
  });

  test("a body without a Content-Type is refused with 415", async () => {
    const response = await fetch(`${server.url}/users/track`, {
      method: "POST",
      headers: { authorization: `Bearer ${workspace.key}` },
      body: new TextEncoder().encode(JSON.stringify({ events: [EVENT] })),
    });
    assert.equal(response.status, 415);
  });
});

describe("unknown paths and methods", () => {
  test("a path with one misspelled step gets a 404 that suggests the right path", async () => {
    const meant = {
      "/users/trak": "/users/track",
      "/admin/v1/workspaces/demo/segmnets": "/admin/v1/workspaces/:name/segments",
      "/subscription/status/gett?a=b": "/subscription/status/get",
    };
    for (const [path, right] of Object.entries(meant)) {
      const { status, body } = await server.send("POST", path);
      assert.equal(status, 404);
      assert.equal(body.message, `There is nothing at this path. Did you mean ${right}?`);
    }
    for (const path of ["/users/xxxxx", `/users/${"t".repeat(500)}`, "/nowhere", "/"]) {
      const { body } = await server.send("POST", path);
      assert.doesNotMatch(JSON.stringify(body), /Did you mean/);
    }
  });

  test("an unknown path gets a 404 response in JSON", async () => {
    for (const path of ["/nope", "/users", "/users/track/x", "//", "/admin/v1", "/%F0%9F"]) {
      for (const method of ["GET", "POST", "PUT", "DELETE"]) {
        const { status, body } = await server.send(method, path, undefined, { key: workspace.key });
        assert.ok(status === 404 || (status === 400 && path.includes("%")), `${method} ${path}`);
        assert.equal(typeof body.message, "string");
      }
    }
  });

  test("a path is served under any host name", async () => {
    for (const host of ["localhost", "rest.example.com", "rest.iad-01.example.com:8443", "[::1]"]) {
      const status = await new Promise((resolve, reject) => {
        const options = { method: "POST", headers: { ...JSON_HEADERS, host } };
        const sent = request(`${server.url}/users/track`, options, (response) =>
          resolve(response.resume().statusCode),
        );
        sent.once("error", reject).end(JSON.stringify({ events: [EVENT] }));
      });
      assert.equal(status, 201, host);
    }
  });

  test("a path that cannot be decoded gets a 400 response in JSON", async () => {
    for (const path of ["/%", "/users/%zz", "/admin/v1/workspaces/%ff/reset", "/%ED%A0%80"]) {
      const { status, body } = await server.send("POST", path);
      assert.deepEqual([status, body.message], [400, "The path is not a valid URL path."]);
    }
  });

  test("a query that cannot be decoded never causes a 5xx", async () => {
    for (const query of ["?%zz=%", "?a[b]=c&a[0]=%ff", "?__proto__=1", `?${"a&".repeat(2_000)}`]) {
      assert.equal((await server.send("GET", `/health/live${query}`)).status, 200);
    }
  });

  test("an unsupported method on a known path gets 405 with the allowed methods", async () => {
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
      const answer = await workspace.call(method, "/users/track");
      assert.equal(answer.status, 405);
      assert.equal(answer.headers.get("allow"), "POST");
      assert.deepEqual(answer.body, { message: "This path takes POST." });
    }
    assert.equal((await server.send("POST", "/health/live")).status, 405);
  });

  test("no HTTP method causes a 5xx", async () => {
    for (const method of METHODS.filter((each) => each !== "CONNECT")) {
      for (const path of ["/users/track", "/nope"]) {
        const status = await new Promise<number>((resolve, reject) => {
          const sent = request(server.url + path, { method }, (response) => {
            response.resume();
            resolve(response.statusCode ?? 0);
          });
          sent.once("error", reject).end();
        });
        assert.ok(status >= 400 && status < 500, `${method} ${path}: ${status}`);
      }
    }
  });
});
