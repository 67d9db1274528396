/* How often the endpoints of identities may be called. Who may call them is in every-endpoint.test.ts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../../../harness.ts";

const server = await startServer();

const IDENTIFY = {
  aliases_to_identify: [{ external_id: "ada", user_alias: { alias_name: "a", alias_label: "l" } }],
};

const REQUESTS: readonly (readonly [path: string, body: object])[] = [
  ["/users/alias/new", { user_aliases: [] }],
  ["/users/alias/update", { alias_updates: [] }],
  ["/users/identify", IDENTIFY],
  ["/users/merge", { merge_updates: [] }],
  ["/users/delete", { external_ids: [] }],
];

describe("the rate limit of identity endpoints", () => {
  const remaining = async (workspace: TestWorkspace, path: string, body: object) => {
    const { headers } = await workspace.call("POST", path, body);
    return [headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")];
  };

  test("all identity endpoints share a limit of 20,000 requests per minute", async () => {
    const workspace = await server.workspace();
    for (const [index, [path, body]] of REQUESTS.entries()) {
      const left = `${20_000 - index - 1}`;
      assert.deepEqual(await remaining(workspace, path, body), ["20000", left]);
    }
  });

  test("the rate limit of /users/identify can be changed for a workspace", async () => {
    const rate_limits = { "users.identify": { requests: 2, per_seconds: 60 } };
    const workspace = await server.workspace({ settings: { rate_limits } });
    const send = () => workspace.call("POST", "/users/identify", IDENTIFY);
    assert.equal((await send()).status, 201);
    assert.equal((await send()).status, 201);
    const third = await send();
    assert.equal(third.status, 429);
    assert.ok(Number(third.headers.get("retry-after")) >= 1);
  });
});
