import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../../harness.ts";
import { until } from "../../../until.ts";

const server = await startServer();

const EVENT = { events: [{ external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" }] };

/** Whether a secret lets an event through. */
const opens = async (key: string): Promise<boolean> =>
  (await server.send("POST", "/users/track", EVENT, { key })).status === 201;

const keysOf = (workspace: TestWorkspace | string, path = ""): string =>
  `/admin/v1/workspaces/${typeof workspace === "string" ? workspace : workspace.name}/api-keys${path}`;

async function listed(workspace: TestWorkspace, name: string) {
  const { body } = await server.admin("GET", keysOf(workspace));
  return body.api_keys.find((key: { name: string }) => key.name === name);
}

async function created(workspace: TestWorkspace, name: string, grant: object = {}) {
  const wanted = { name, permissions: ["users.track"], ...grant };
  const answer = await server.admin("POST", keysOf(workspace), wanted);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.key as string;
}

/** A manifest of one workspace with the given keys. */
const manifest = (workspace: TestWorkspace, api_keys: readonly object[]) => ({
  company: { name: "Test" },
  workspaces: [
    { name: workspace.name, settings: { rate_limits: { "users.track": "off" } }, api_keys },
  ],
});

const apply = async (workspace: TestWorkspace, keys: readonly object[]) =>
  server.admin("POST", "/admin/v1/apply", manifest(workspace, keys));

describe("API keys of the admin API", () => {
  test("a name with control characters, . and .. are refused for keys, workspaces, groups and syncs", async () => {
    const workspace = await server.workspace();
    const names = ["a\nkey=x", "a\r", "\u001b[2J", "a\u0085b", "a\u2028b", ".", ".."];
    for (const name of names) {
      const group = { id: "7a1f8c52-0000-4000-8000-00000000000a", name, channel: "email" };
      const sync = {
        id: "7a1f8c52-0000-4000-8000-00000000000b",
        name,
        type: "attributes",
        warehouse: { type: "files", path: "/nowhere" },
      };
      for (const manifest of [
        { company: { name: "Test" }, workspaces: [{ name }] },
        {
          company: { name: "Test" },
          workspaces: [{ name: workspace.name, subscription_groups: [group] }],
        },
        { company: { name: "Test" }, workspaces: [{ name: workspace.name, integrations: [sync] }] },
      ]) {
        const { status, body } = await server.admin("POST", "/admin/v1/apply", manifest);
        assert.equal(status, 400, JSON.stringify([manifest, body]));
        assert.match(body.message, /name/);
      }
      const key = { name, permissions: ["users.track"] };
      assert.equal((await server.admin("POST", keysOf(workspace), key)).status, 400);
    }
    for (const name of ["...", ".env", "..x", "Zoë’s key"]) await created(workspace, name);
  });

  test("a created key opens only what its permissions allow, and its secret is never shown again", async () => {
    const workspace = await server.workspace();
    const answer = await server.admin("POST", keysOf(workspace), {
      name: "ci",
      permissions: ["users.track"],
    });
    assert.equal(answer.headers.get("cache-control"), "no-store");
    const key = answer.body.key as string;
    assert.ok(await opens(key));
    const refused = await workspace.call("POST", "/users/export/ids", {}, { key });
    assert.equal(refused.status, 403);
    const list = await server.admin("GET", keysOf(workspace));
    const { body: audit } = await server.admin("GET", "/admin/v1/audit");
    for (const shown of [list.body, audit]) assert.ok(!JSON.stringify(shown).includes(key));
  });

  test("a listed key has the time of its creation and of its last use", async () => {
    const workspace = await server.workspace();
    const key = await created(workspace, "ci");
    const before = await listed(workspace, "ci");
    assert.equal(before.last_seen_at, null);
    assert.ok(await opens(key));
    const after = await listed(workspace, "ci");
    assert.ok(Date.parse(after.last_seen_at) >= Date.parse(before.created_at));
    assert.equal(after.created_at, before.created_at);
  });

  test("a second use of a key within a minute writes nothing", async () => {
    const workspace = await server.workspace();
    const key = await created(workspace, "ci");
    assert.ok(await opens(key));
    const first = await listed(workspace, "ci");
    assert.ok(await opens(key));
    assert.deepEqual(await listed(workspace, "ci"), first);
  });

  test("both secrets of a rotated key are valid during the overlap", async () => {
    const workspace = await server.workspace();
    const older = await created(workspace, "ci");
    const { status, body } = await server.admin("POST", keysOf(workspace, "/ci/rotate"), {});
    assert.equal(status, 200);
    assert.deepEqual([await opens(older), await opens(body.key)], [true, true]);
    assert.equal((await listed(workspace, "ci")).previous_key_until, body.previous_key_until);
    assert.ok(Date.parse(body.previous_key_until) > Date.now() + 23 * 3_600_000);
  });

  test("a rotation with an overlap of 0 seconds invalidates the older secret at once", async () => {
    const workspace = await server.workspace();
    const older = await created(workspace, "ci");
    const { body } = await server.admin("POST", keysOf(workspace, "/ci/rotate"), {
      overlap_seconds: 0,
    });
    assert.deepEqual([await opens(older), await opens(body.key)], [false, true]);
  });

  test("the older secret of a rotated key becomes invalid when the overlap ends", async () => {
    const workspace = await server.workspace();
    const older = await created(workspace, "ci");
    await server.admin("POST", keysOf(workspace, "/ci/rotate"), { overlap_seconds: 1 });
    await until(async () => !(await opens(older)));
    assert.equal((await listed(workspace, "ci")).previous_key_until, null);
  });

  test("a key that is rotated twice has two valid secrets, not three", async () => {
    const workspace = await server.workspace();
    const first = await created(workspace, "ci");
    const second = (await server.admin("POST", keysOf(workspace, "/ci/rotate"), {})).body.key;
    const third = (await server.admin("POST", keysOf(workspace, "/ci/rotate"), {})).body.key;
    assert.deepEqual(
      [await opens(first), await opens(second), await opens(third)],
      [false, true, true],
    );
  });

  test("concurrent rotations all return a secret, and only two of the secrets stay valid", async () => {
    const workspace = await server.workspace();
    await created(workspace, "ci");
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => server.admin("POST", keysOf(workspace, "/ci/rotate"), {})),
    );
    assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200]));
    const good = await Promise.all(answers.map((answer) => opens(answer.body.key)));
    assert.equal(good.filter(Boolean).length, 2);
  });

  test("changed permissions of a key apply at once, and its secret stays valid", async () => {
    const workspace = await server.workspace();
    const key = await created(workspace, "ci");
    const grant = { permissions: ["users.export.ids"], ip_allowlist: [] };
    const answer = await server.admin("PUT", keysOf(workspace, "/ci"), grant);
    assert.equal(answer.status, 200);
    assert.equal(await opens(key), false);
    const exported = await workspace.call(
      "POST",
      "/users/export/ids",
      { external_ids: ["ada"], fields_to_export: ["external_id"] },
      { key },
    );
    assert.equal(exported.status, 201);
  });

  test("revoking a key invalidates both of its secrets at once", async () => {
    const workspace = await server.workspace();
    const older = await created(workspace, "ci");
    const newer = (await server.admin("POST", keysOf(workspace, "/ci/rotate"), {})).body.key;
    assert.equal((await server.admin("DELETE", keysOf(workspace, "/ci"))).status, 200);
    assert.deepEqual([await opens(older), await opens(newer)], [false, false]);
    assert.ok((await listed(workspace, "ci")).revoked_at);
  });

  test("a revoked key cannot be rotated or changed, and its name can be used for a new key", async () => {
    const workspace = await server.workspace();
    const revoked = await created(workspace, "ci");
    await server.admin("DELETE", keysOf(workspace, "/ci"));
    const rotated = await server.admin("POST", keysOf(workspace, "/ci/rotate"), {});
    assert.deepEqual([rotated.status, rotated.body.message], [409, "The API key 'ci' is revoked."]);
    const grant = { permissions: ["all"], ip_allowlist: [] };
    assert.equal((await server.admin("PUT", keysOf(workspace, "/ci"), grant)).status, 409);
    const next = await created(workspace, "ci");
    assert.deepEqual([await opens(revoked), await opens(next)], [false, true]);
  });

  test("an existing key name, an unknown key and an unknown workspace are refused", async () => {
    const workspace = await server.workspace();
    await created(workspace, "ci");
    const again = { name: "ci", permissions: [] };
    assert.equal((await server.admin("POST", keysOf(workspace), again)).status, 409);
    for (const [method, path] of [
      ["POST", keysOf(workspace, "/nobody/rotate")],
      ["DELETE", keysOf(workspace, "/nobody")],
      ["POST", keysOf("nowhere", "/ci/rotate")],
      ["GET", keysOf("nowhere")],
    ] as const) {
      const answer = await server.admin(method, path, method === "POST" ? {} : undefined);
      assert.equal(answer.status, 404, `${method} ${path}`);
    }
  });

  test("an invalid permission, address or name of a new key is refused with the reason", async () => {
    const workspace = await server.workspace();
    for (const [body, message] of [
      [
        { name: "a", permissions: ["users.fly"] },
        /^'permissions\[0\]' must be one of all, users\./,
      ],
      [
        { name: "a", permissions: ["user.track"] },
        /^'permissions\[0\]' must be one of \d+ values; did you mean 'users\.track'\?$/,
      ],
      [{ name: "a", permissions: [], ip_allowlist: ["10.0.0.0/33"] }, /IP address or CIDR/],
      [{ name: "a\0", permissions: [] }, /^'name' in the body holds a NUL character$/],
      [{ name: "a\ud800", permissions: [] }, /lone surrogate/],
      [{ name: "", permissions: [] }, /^'name'/],
      [{ name: "a", permissions: [], key: "my-own" }, /unknown key: 'key'/],
    ] as const) {
      const answer = await server.admin("POST", keysOf(workspace), body);
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.match(answer.body.message, message);
    }
  });

  test("revoking a key does not affect a key of the same name in another workspace", async () => {
    const [one, other] = [await server.workspace(), await server.workspace()];
    const keyOfOne = await created(one, "ci");
    const keyOfOther = await created(other, "ci");
    await server.admin("DELETE", keysOf(one, "/ci"));
    assert.deepEqual([await opens(keyOfOne), await opens(keyOfOther)], [false, true]);
  });
});

describe("API keys of a manifest", () => {
  const dev = (key: string, more: object = {}) => ({
    name: "dev",
    key,
    permissions: ["all"],
    ...more,
  });

  test("the previous key of a manifest is valid until its declared time", async () => {
    const workspace = await server.workspace();
    const until = (ms: number) => new Date(Date.now() + ms).toISOString();
    const rotating = (previous_key_until: string) =>
      dev(`${workspace.name}-b`, { previous_key: `${workspace.name}-a`, previous_key_until });
    await apply(workspace, [dev(`${workspace.name}-a`)]);
    const answer = await apply(workspace, [rotating(until(60_000))]);
    assert.deepEqual(answer.body.changes, [
      { action: "updated", kind: "api_key", workspace: workspace.name, name: "dev" },
    ]);
    assert.deepEqual(
      [await opens(`${workspace.name}-a`), await opens(`${workspace.name}-b`)],
      [true, true],
    );
    await apply(workspace, [rotating(until(-1_000))]);
    assert.deepEqual(
      [await opens(`${workspace.name}-a`), await opens(`${workspace.name}-b`)],
      [false, true],
    );
  });

  test("previous_key and previous_key_until are refused without each other", async () => {
    const workspace = await server.workspace();
    for (const more of [{ previous_key: "a" }, { previous_key_until: "2030-01-01T00:00:00Z" }]) {
      const answer = await apply(workspace, [dev("b", more)]);
      assert.equal(answer.status, 400);
      assert.match(answer.body.message, /both 'previous_key' and 'previous_key_until', or neither/);
    }
    const local = { previous_key: "a", previous_key_until: "2030-01-01 00:00" };
    assert.match((await apply(workspace, [dev("b", local)])).body.message, /with a zone/);
  });

  test("a rotation through the admin API is kept when the same manifest is applied again", async () => {
    const workspace = await server.workspace();
    await apply(workspace, [dev(`${workspace.name}-a`)]);
    const { body } = await server.admin("POST", keysOf(workspace, "/dev/rotate"), {
      overlap_seconds: 0,
    });
    const answer = await apply(workspace, [dev(`${workspace.name}-a`)]);
    assert.deepEqual(answer.body.changes, []);
    assert.deepEqual([await opens(`${workspace.name}-a`), await opens(body.key)], [false, true]);
  });

  test("a revoked key stays revoked while the manifest declares the same secret", async () => {
    const workspace = await server.workspace();
    await apply(workspace, [dev(`${workspace.name}-a`)]);
    await server.admin("DELETE", keysOf(workspace, "/dev"));
    await apply(workspace, [dev(`${workspace.name}-a`, { permissions: ["users.track"] })]);
    assert.equal(await opens(`${workspace.name}-a`), false);
    await apply(workspace, [dev(`${workspace.name}-b`)]);
    assert.equal(await opens(`${workspace.name}-b`), true);
    assert.equal((await listed(workspace, "dev")).revoked_at, null);
  });

  test("a revoked secret is refused under another name", async () => {
    const workspace = await server.workspace();
    await apply(workspace, [dev(`${workspace.name}-a`)]);
    await server.admin("DELETE", keysOf(workspace, "/dev"));
    const renamed = { ...dev(`${workspace.name}-a`), name: "other" };
    const answer = await apply(workspace, [renamed]);
    assert.equal(answer.status, 409);
    assert.match(answer.body.message, /'other' has a secret that is already in use/);
  });

  test("a secret of another key is refused, and nothing is applied", async () => {
    const [one, other] = [await server.workspace(), await server.workspace()];
    const answer = await apply(other, [
      dev(`${other.name}-a`),
      { ...dev(one.key), name: "stolen" },
    ]);
    assert.equal(answer.status, 409);
    assert.equal(await opens(`${other.name}-a`), false);
    assert.equal(await opens(one.key), true);
  });

  test("a key that the manifest drops is removed, and one created through the admin API stays", async () => {
    const workspace = await server.workspace();
    const made = await created(workspace, "ci");
    await apply(workspace, [dev(`${workspace.name}-a`)]);
    await apply(workspace, []);
    assert.deepEqual([await opens(`${workspace.name}-a`), await opens(made)], [false, true]);
    await apply(workspace, [dev(`${workspace.name}-a`)]);
    assert.equal(await opens(`${workspace.name}-a`), true);
  });
});
