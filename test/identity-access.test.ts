/* Who may call the endpoints of identities, and how often. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "./harness.ts";

const server = await startServer();

const ENDPOINTS: readonly (readonly [path: string, permission: string, body: object])[] = [
  ["/users/alias/new", "users.alias.new", { user_aliases: [] }],
  ["/users/alias/update", "users.alias.update", { alias_updates: [] }],
  ["/users/identify", "users.identify", { aliases_to_identify: [] }],
  ["/users/merge", "users.merge", { merge_updates: [] }],
  ["/users/delete", "users.delete", { external_ids: [] }],
];

describe("each endpoint asks for its own permission", () => {
  for (const [path, permission, body] of ENDPOINTS) {
    test(`${path} asks for ${permission}`, async () => {
      const others = ENDPOINTS.map(([, name]) => name).filter((name) => name !== permission);
      const workspace = await server.workspace({
        api_keys: [
          { name: "with", key: `with-${permission}`, permissions: [permission] },
          {
            name: "without",
            key: `without-${permission}`,
            permissions: [...others, "users.track"],
          },
        ],
      });
      const statusWith = async (key: string | null) =>
        (await workspace.call("POST", path, body, { key })).status;
      assert.ok((await statusWith(`with-${permission}`)) < 300);
      assert.equal(await statusWith(`without-${permission}`), 403);
      assert.equal(await statusWith("nobody's"), 401);
      assert.equal(await statusWith(null), 401);
    });
  }
});

describe("the limit", () => {
  const remaining = async (workspace: TestWorkspace, path: string, body: object) => {
    const { headers } = await workspace.call("POST", path, body);
    return [headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")];
  };

  test("is 20,000 requests a minute, shared by all of them", async () => {
    const workspace = await server.workspace();
    for (const [index, [path, , body]] of ENDPOINTS.entries()) {
      const left = `${20_000 - index - 1}`;
      assert.deepEqual(await remaining(workspace, path, body), ["20000", left]);
    }
  });

  test("holds for /users/identify of every workspace, and can be changed", async () => {
    const rate_limits = { "users.identify": { requests: 2, per_seconds: 60 } };
    const workspace = await server.workspace({ settings: { rate_limits } });
    const send = () => workspace.call("POST", "/users/identify", { aliases_to_identify: [] });
    assert.equal((await send()).status, 201);
    assert.equal((await send()).status, 201);
    const third = await send();
    assert.equal(third.status, 429);
    assert.ok(Number(third.headers.get("retry-after")) >= 1);
  });
});
