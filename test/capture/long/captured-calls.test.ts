/*
 * Public calls that Rapport does not serve: a 404 that says so or, if a workspace has
 * capture_unsupported, a success that is stored and listed for the tests of an application.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { PUBLIC_CALLS } from "../../../src/features/capture/public-calls.ts";
import { anyText } from "../../any-text.ts";
import { type CallOptions, startServer, type TestWorkspace } from "../../harness.ts";

const server = await startServer();

const CAPTURING = { capture_unsupported: true };

const capturing = (declared: object = {}): Promise<TestWorkspace> =>
  server.workspace({ settings: CAPTURING, ...declared });

const SEND = {
  external_user_ids: ["ada"],
  messages: { email: { subject: "Hello", body: "<p>Hello</p>" } },
};

const send = (workspace: TestWorkspace, body: unknown = SEND, options?: CallOptions) =>
  workspace.call<any>("POST", "/messages/send", body, options);

async function captured(workspace: TestWorkspace, query = "") {
  const path = `/admin/v1/workspaces/${workspace.name}/captured${query}`;
  const { status, body } = await server.admin("GET", path);
  assert.equal(status, 200, JSON.stringify(body));
  return body as { captured: Record<string, any>[]; next_cursor?: string };
}

/** The path with a value for each parameter, and a body where the call takes one. */
const sampleOf = ([method, path]: (typeof PUBLIC_CALLS)[number]) => ({
  path: path.replaceAll(/:(\w+)/g, "a%20$1"),
  body: method === "GET" || (method === "DELETE" && /:\w+$/.test(path)) ? undefined : { name: "x" },
});

describe("without capture_unsupported", () => {
  test("a public call that Rapport does not serve gets a 404 that says so and links to the list, before its body is read", async () => {
    const key = "a-key-for-tracking-alone";
    const workspace = await server.workspace({
      api_keys: [{ name: "tracking", key, permissions: ["users.track"] }],
    });
    for (const call of PUBLIC_CALLS) {
      const [method, path] = call;
      const { status, body } = await server.send(method, sampleOf(call).path, undefined, {
        key,
        ...(method !== "GET" && { raw: "{" }),
      });
      const name = `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`;
      assert.equal(status, 404, name);
      assert.ok(body.message.startsWith(`${name} is not part of Rapport: see ${server.url}/docs/`));
      assert.equal(body.docs, `${server.url}/docs/guides/compatibility`);
    }
    assert.deepEqual((await captured(workspace)).captured, []);
  });

  test("the setting takes effect with the next request, both ways", async () => {
    const workspace = await server.workspace();
    const settings = `/admin/v1/workspaces/${workspace.name}/settings`;
    assert.equal((await send(workspace)).status, 404);
    await server.admin("PUT", settings, CAPTURING);
    assert.equal((await send(workspace)).status, 201);
    await server.admin("PUT", settings, {});
    assert.equal((await send(workspace)).status, 404);
    assert.equal((await captured(workspace)).captured.length, 1);
  });
});

describe("with capture_unsupported", () => {
  test("a content block whose name is no text is captured like any other", async () => {
    const workspace = await capturing();
    for (const name of [{ toString: 1 }, {}, [], 7, null]) {
      const { status } = await workspace.call("POST", "/content_blocks/create", { name });
      assert.equal(status, 201, JSON.stringify(name));
    }
  });

  test("every public call that Rapport does not serve succeeds and is listed as sent", async () => {
    const workspace = await capturing();
    for (const call of PUBLIC_CALLS) {
      const [method] = call;
      const { path, body } = sampleOf(call);
      const answer = await workspace.call(method, `${path}?page=1`, body);
      assert.ok([200, 201, 202].includes(answer.status), `${method} ${path}: ${answer.status}`);
      const { captured: calls } = await captured(workspace, "?limit=1");
      const { position: _1, captured_at, request_id, ...rest } = calls[0] as Record<string, any>;
      assert.deepEqual(rest, {
        method,
        path,
        query: { page: "1" },
        body: body ?? null,
        status: answer.status,
        response: answer.body,
        api_key: "test",
      });
      assert.ok(Math.abs(Date.parse(captured_at) - Date.now()) < 60_000);
      assert.equal(request_id, answer.headers.get("x-request-id"));
    }
  });

  test("a success has the members that clients read", async () => {
    const workspace = await capturing();
    const call = async (method: string, path: string, body?: unknown) =>
      (await workspace.call<any>(method, path, body)).body;
    const { message, dispatch_id } = await call("POST", "/messages/send", SEND);
    assert.deepEqual([message, /^[0-9a-f]{32}$/.test(dispatch_id)], ["success", true]);
    const schedule = await call("POST", "/campaigns/trigger/schedule/create", {});
    assert.ok(schedule.dispatch_id && schedule.schedule_id);
    const receipt = { external_send_id: "order-1", recipient: { external_user_id: "ada" } };
    const sent = await call("POST", "/transactional/v1/campaigns/c-1/send", receipt);
    assert.deepEqual(
      [sent.status, sent.metadata.external_send_id, sent.metadata.campaign_api_id],
      ["sent", "order-1", "c-1"],
    );
    assert.deepEqual(await call("GET", "/catalogs"), { catalogs: [], message: "success" });
    assert.deepEqual(await call("GET", "/kpi/dau/data_series?length=7"), {
      data: [],
      message: "success",
    });
    const { send_id } = await call("POST", "/sends/id/create", { campaign_id: "c", send_id: "s" });
    assert.equal(send_id, "s");
  });

  test("a wrong key gets 401, a key without the call's permission 403, and neither is stored", async () => {
    const workspace = await capturing({
      api_keys: [
        { name: "sends", key: "a-key-that-sends-alone", permissions: ["messages.send"] },
        { name: "tracks", key: "a-key-that-tracks-alone", permissions: ["users.track"] },
      ],
    });
    for (const [key, status] of [
      [null, 401],
      ["no-such-key", 401],
      [server.adminToken, 401],
      ["a-key-that-tracks-alone", 403],
    ] as const) {
      assert.equal((await send(workspace, SEND, { key })).status, status);
    }
    assert.deepEqual((await captured(workspace)).captured, []);
    assert.equal((await send(workspace, SEND, { key: "a-key-that-sends-alone" })).status, 201);
    assert.equal((await captured(workspace)).captured[0]?.api_key, "sends");
    const { body } = await workspace.call(
      "POST",
      "/canvas/trigger/send",
      {},
      {
        key: "a-key-that-sends-alone",
      },
    );
    assert.equal(body.message, "This API key lacks the permission canvas.trigger.send.");
  });

  test("calls that Rapport serves, and paths that are not public, are not captured", async () => {
    const workspace = await capturing();
    await workspace.track({ attributes: [{ external_id: "ada" }] });
    assert.equal((await workspace.call("POST", "/messages/sends", SEND)).status, 404);
    assert.equal((await workspace.call("GET", "/messages/send")).status, 405);
    assert.deepEqual((await captured(workspace)).captured, []);
  });

  test("a request that is repeated with its Idempotency-Key is captured once and gets the same response", async () => {
    const workspace = await capturing();
    const options = { headers: { "idempotency-key": "once" } };
    const [first, second] = [
      await send(workspace, SEND, options),
      await send(workspace, SEND, options),
    ];
    assert.deepEqual([second.status, second.body], [201, first.body]);
    assert.equal((await captured(workspace)).captured.length, 1);
  });
});

describe("the list of captured calls", () => {
  test("calls are listed newest first, in pages, of one path and those below it", async () => {
    const workspace = await capturing();
    for (const number of [1, 2, 3, 4, 5]) await send(workspace, { number });
    await workspace.call("POST", "/messages/schedule/create", { number: 6 });
    await workspace.call("POST", "/catalogs/messages/items", { items: [] });
    const seen: number[] = [];
    for (let cursor: string | undefined, pages = 0; ; pages++) {
      assert.ok(pages < 4);
      const page = await captured(workspace, `?limit=2&path=/messages${cursor ?? ""}`);
      seen.push(...page.captured.map((each) => each.body.number));
      if (page.next_cursor === undefined) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    assert.deepEqual(seen, [6, 5, 4, 3, 2, 1]);
    const ofPath = async (path: string) =>
      (await captured(workspace, `?path=${path}`)).captured.length;
    assert.deepEqual(
      await Promise.all(["/messages/send", "/messages/", "/mess", "/catalogs", "/"].map(ofPath)),
      [5, 6, 0, 1, 0],
    );
  });

  test("calls of concurrent requests are all listed, each with a different number", async () => {
    const workspace = await capturing();
    await Promise.all(Array.from({ length: 40 }, (_, number) => send(workspace, { number })));
    const { captured: calls } = await captured(workspace);
    assert.deepEqual(
      calls.map(({ position }) => position),
      Array.from({ length: 40 }, (_, index) => 40 - index),
    );
    assert.equal(new Set(calls.map(({ body }) => body.number)).size, 40);
  });

  test("a page ends before it is too large to send, and the next one continues", async () => {
    const workspace = await capturing();
    const text = "x".repeat(3 * 1_048_576);
    for (const number of [1, 2, 3]) await send(workspace, { number, text });
    const first = await captured(workspace);
    assert.deepEqual(
      first.captured.map(({ body }) => body.number),
      [3, 2],
    );
    const second = await captured(workspace, `?cursor=${first.next_cursor}`);
    assert.deepEqual(
      [second.captured.map(({ body }) => body.number), second.next_cursor],
      [[1], undefined],
    );
  });

  test("a deletion empties the list of its workspace alone, says how many there were and is audited", async () => {
    const [workspace, other] = [await capturing(), await capturing()];
    for (const each of [workspace, workspace, other]) await send(each);
    const path = `/admin/v1/workspaces/${workspace.name}/captured`;
    assert.deepEqual((await server.admin("DELETE", path)).body, { deleted: 2, message: "success" });
    assert.deepEqual((await captured(workspace)).captured, []);
    assert.equal((await captured(other)).captured.length, 1);
    await send(workspace);
    assert.equal((await captured(workspace)).captured.length, 1);
    const audit = await server.admin("GET", `/admin/v1/audit?workspace=${workspace.name}`);
    const [entry] = audit.body.entries.filter((each: any) => each.action === "removed");
    assert.deepEqual([entry.kind, entry.details], ["captured_calls", { calls: 2 }]);
  });

  test("a reset of the workspace deletes captured calls", async () => {
    const [workspace, other] = [await capturing(), await capturing()];
    for (const each of [workspace, other]) await send(each);
    await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/reset`);
    assert.deepEqual((await captured(workspace)).captured, []);
    assert.equal((await captured(other)).captured.length, 1);
  });

  test("a query that is not valid is refused with the name of the parameter", async () => {
    const workspace = await capturing();
    const path = `/admin/v1/workspaces/${workspace.name}/captured`;
    for (const [query, name] of [
      ["limit=0", "limit"],
      ["limit=1001", "limit"],
      ["cursor=0", "cursor"],
      ["cursor=x", "cursor"],
      ["cursor=99999999999999999999", "cursor"],
      ["path=%00", "path"],
      ["path=/a&path=/b", "path"],
    ]) {
      const { status, body } = await server.admin("GET", `${path}?${query}`);
      assert.equal(status, 400, query);
      assert.match(body.message, new RegExp(name as string));
    }
  });
});

describe("hostile calls", () => {
  const refused: Record<string, string> = {
    "a NUL character": '{"text":"\\u0000"}',
    "a lone surrogate": '{"text":"\\ud800"}',
    "a key that is no text": '{"\\u0000":1}',
    "5,000 levels": `{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
    "a list": "[1]",
    "no JSON": "{",
    "more than 4 MB": `{"text":"${"x".repeat(4_194_304)}"}`,
    "100,001 values": `{"list":[${"1,".repeat(100_001)}1]}`,
  };
  for (const [what, raw] of Object.entries(refused)) {
    test(`a body with ${what} is refused and not stored`, async () => {
      const workspace = await capturing();
      const { status, body } = await send(workspace, undefined, { raw });
      assert.ok(status === 400 || status === 413, String(status));
      assert.ok(body.message);
      assert.deepEqual((await captured(workspace)).captured, []);
    });
  }

  test("parameters of a path and a query with any text are stored as they were sent, or refused", async () => {
    const workspace = await capturing();
    const texts = [
      "a b",
      "a/b",
      "ä",
      "👩‍👩‍👧",
      "'; drop table x",
      "..%2f",
      "%",
      "__proto__",
      "x".repeat(255),
    ];
    for (const text of texts) {
      const encoded = encodeURIComponent(text);
      const path = `/catalogs/${encoded}/items/${encoded}`;
      const answer = await workspace.call<any>(
        "GET",
        `${path}?${encoded}=${encoded}&constructor=1`,
      );
      assert.equal(answer.status, 200, text);
      assert.deepEqual(answer.body.items, [{ id: text }]);
      const [call] = (await captured(workspace, "?limit=1")).captured;
      assert.equal(decodeURIComponent(call?.path), decodeURIComponent(path));
      assert.equal(call?.query[text], text);
    }
    for (const path of ["/catalogs/%00/items", "/catalogs/%ff/items", "/catalogs/x/items?a=%00"]) {
      assert.equal((await workspace.call("GET", path)).status, 400, path);
    }
  });

  test("no JSON body causes a failure of the server, and accepted bodies are listed as sent", async () => {
    const workspace = await capturing();
    await fc.assert(
      fc.asyncProperty(fc.dictionary(anyText(), fc.jsonValue()), async (sent) => {
        const raw = JSON.stringify(sent);
        const answer = await send(workspace, undefined, { raw });
        assert.ok(answer.status === 201 || answer.status === 400, `${answer.status}: ${raw}`);
        if (answer.status === 400) return;
        const [call] = (await captured(workspace, "?limit=1")).captured;
        assert.deepEqual(call?.body, JSON.parse(raw));
      }),
      { numRuns: 60 },
    );
  });
});
