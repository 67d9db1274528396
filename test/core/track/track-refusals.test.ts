/* The responses of POST /users/track when it refuses a request before it looks at an object. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../../harness.ts";

const server = await startServer();

test("a refused track request says why in message, and only a 400 has errors, each with a position", async () => {
  const strict = { requests: 6, per_seconds: 600 };
  const other = `no-track-${process.pid}`;
  const workspace = await server.workspace({
    settings: { rate_limits: { "users.track": strict } },
    api_keys: [
      { name: "test", key: `may-${other}`, permissions: ["all"] },
      { name: "other", key: other, permissions: ["users.merge"] },
    ],
  });
  const good = JSON.stringify({ events: [{ external_id: "ada", name: "e", time: "2026-01-01" }] });
  const send = (raw: string, headers = {}, key = `may-${other}`) =>
    workspace.call<any>("POST", "/users/track", undefined, { raw, headers, key });
  const answers = [
    await send(good, {}, "nobody's"),
    await send(good, {}, other),
    await send("{"),
    await send("[]"),
    await send(good, { "content-type": "text/plain" }),
    await send(good.padEnd(4_194_305)),
    await send(good, { "idempotency-key": "x".repeat(256) }),
    await send(good),
    await send(good),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [401, 403, 400, 400, 415, 413, 400, 201, 429],
  );
  for (const { status, body } of answers) {
    if (status === 201) continue;
    assert.match(body.message, /\w{3}/);
    if (status !== 400) {
      assert.deepEqual(Object.keys(body), ["message"]);
      continue;
    }
    const [{ code, ...error }] = body.errors;
    const place = { input_array: "attributes", index: 0 };
    assert.deepEqual(
      [error, body.errors.length],
      [{ type: body.message, message: body.message, ...place }, 1],
    );
    assert.match(code, /^[A-Z][A-Z_]+$/);
  }
});

test("attributes, events or purchases that are not an array are refused by name", async () => {
  const workspace = await server.workspace();
  for (const input_array of ["attributes", "events", "purchases"]) {
    const { status, body } = await workspace.track({ [input_array]: {} });
    assert.equal(status, 400);
    const message = `'${input_array}' must be an array`;
    const error = { type: message, message, code: "INVALID_REQUEST", input_array, index: 0 };
    assert.deepEqual(body, { message, errors: [error] });
  }
});

test("a track request with a misspelled list gets the right name as a suggestion", async () => {
  const workspace = await server.workspace();
  const { status, body } = await workspace.track({ event: [{ external_id: "ada" }], other: 1 });
  assert.equal(status, 400);
  assert.match(body.message, /^Valid data must be provided/);
  const message = "'event' is not a list of this request: did you mean 'events'?";
  assert.deepEqual(body.errors, [
    { type: message, message, code: "INVALID_REQUEST", input_array: "events", index: 0 },
  ]);
  const unlike = await workspace.track({ evts: [] });
  assert.equal(unlike.body.errors?.[0]?.message, unlike.body.message);
});
