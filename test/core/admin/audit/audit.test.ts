import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertAbout } from "../../../about-time.ts";
import { startServer } from "../../../harness.ts";

const server = await startServer();

interface Entry {
  readonly id: string;
  readonly action: string;
  readonly kind: string;
  readonly name: string;
  readonly details: Record<string, any> | null;
  readonly [member: string]: unknown;
}

const entriesOf = async (query: string): Promise<Entry[]> =>
  (await server.admin("GET", `/admin/v1/audit?${query}`)).body.entries;

describe("the audit log", () => {
  test("the audit entry of a key change records who did what, when and from where", async () => {
    const workspace = await server.workspace();
    const { headers } = await server.send(
      "POST",
      `/admin/v1/workspaces/${workspace.name}/api-keys`,
      { name: "ci", permissions: ["users.track"], ip_allowlist: ["10.0.0.0/8"] },
      { key: server.adminToken },
    );
    const [entry] = await entriesOf(`workspace=${workspace.name}&kind=api_key&name=ci`);
    assert.ok(entry);
    const { id, at, position, hash, ...rest } = entry;
    assert.match(id, /^[0-9a-f-]{36}$/);
    assertAbout(String(at));
    assert.ok(Number(position) > 0);
    assert.match(String(hash), /^[0-9a-f]{64}$/);
    assert.deepEqual(rest, {
      workspace: workspace.name,
      action: "created",
      kind: "api_key",
      name: "ci",
      label: null,
      details: { permissions: ["users.track"], ip_allowlist: ["10.0.0.0/8"] },
      actor: "administrator",
      actor_name: null,
      call: "POST /admin/v1/workspaces/:name/api-keys",
      request_id: headers.get("x-request-id"),
      address: "127.0.0.1",
    });
  });

  test("the audit names a request by an id that the server made, not by an id from the caller", async () => {
    const workspace = await server.workspace();
    const path = `/admin/v1/workspaces/${workspace.name}/teams`;
    const ids = new Set<unknown>();
    for (const team of ["one", "two"]) {
      const { headers } = await server.send(
        "PUT",
        `${path}/${team}`,
        {},
        {
          key: server.adminToken,
          headers: { "x-request-id": "00000000-0000-4000-8000-000000000000" },
        },
      );
      const [entry] = await entriesOf(`workspace=${workspace.name}&kind=team&name=${team}`);
      assert.equal(entry?.request_id, headers.get("x-request-id"));
      assert.match(String(entry?.request_id), /^[0-9a-f-]{36}$/);
      ids.add(entry?.request_id);
    }
    assert.equal(ids.size, 2);
    assert.ok(!ids.has("00000000-0000-4000-8000-000000000000"));
  });

  test("every change to an API key creates one audit entry, and a call that changes nothing creates none", async () => {
    const workspace = await server.workspace();
    const path = `/admin/v1/workspaces/${workspace.name}/api-keys`;
    await server.admin("POST", path, { name: "ci", permissions: [] });
    await server.admin("POST", path, { name: "ci", permissions: [] });
    await server.admin("PUT", `${path}/ci`, { permissions: ["all"], ip_allowlist: [] });
    await server.admin("POST", `${path}/ci/rotate`, { overlap_seconds: 5 });
    await server.admin("DELETE", `${path}/ci`);
    await server.admin("DELETE", `${path}/ci`);
    await server.admin("POST", `${path}/ci/rotate`, {});
    const entries = await entriesOf(`workspace=${workspace.name}&kind=api_key&name=ci`);
    assert.deepEqual(
      entries.map((entry) => entry.action),
      ["revoked", "rotated", "updated", "created"],
    );
  });

  test("applying a manifest creates an audit entry for each change to a workspace and its lists", async () => {
    const workspace = await server.workspace();
    const manifest = (settings: object, groups: object[]) => ({
      company: { name: "Test" },
      workspaces: [{ name: workspace.name, settings, subscription_groups: groups }],
    });
    const settings = { blocked_external_ids: ["dummy"] };
    await server.admin("POST", "/admin/v1/apply", manifest(settings, []));
    await server.admin("POST", "/admin/v1/apply", manifest(settings, []));
    const entries = await entriesOf(`workspace=${workspace.name}`);
    assert.deepEqual(entries.map(({ action, kind, name }) => `${action} ${kind} ${name}`).sort(), [
      "created api_key test",
      "created app Web",
      "created preference_center default",
      "created subscription_group Alerts",
      "created subscription_group Newsletter",
      `created workspace ${workspace.name}`,
      "removed subscription_group Alerts",
      "removed subscription_group Newsletter",
      `updated workspace ${workspace.name}`,
    ]);
    const updated = entries.find((entry) => entry.action === "updated");
    assert.deepEqual(updated?.details?.settings.blocked_external_ids, ["dummy"]);
  });

  test("resetting a workspace creates an audit entry", async () => {
    const workspace = await server.workspace();
    await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/reset`);
    const [entry] = await entriesOf(`workspace=${workspace.name}`);
    assert.deepEqual(
      [entry?.action, entry?.kind, entry?.actor],
      ["reset", "workspace", "administrator"],
    );
  });

  test("the audit log is paginated with the newest entry first", async () => {
    const workspace = await server.workspace();
    const path = `/admin/v1/workspaces/${workspace.name}/api-keys`;
    for (const name of ["a", "b", "c"]) await server.admin("POST", path, { name, permissions: [] });
    const names: string[] = [];
    let cursor = "";
    do {
      const query = `workspace=${workspace.name}&kind=api_key&limit=2${cursor && `&cursor=${cursor}`}`;
      const { body } = await server.admin("GET", `/admin/v1/audit?${query}`);
      names.push(...body.entries.map((entry: Entry) => entry.name));
      cursor = body.next_cursor ?? "";
    } while (cursor);
    assert.deepEqual(names, ["c", "b", "a", "test"]);
  });

  test("a rejected manifest creates no audit entries", async () => {
    const workspace = await server.workspace();
    const before = await entriesOf(`workspace=${workspace.name}`);
    const answer = await server.admin("POST", "/admin/v1/apply", {
      company: { name: "Test" },
      workspaces: [
        {
          name: workspace.name,
          settings: { track_max_updates: 75 },
          api_keys: [
            { name: "a", key: "same", permissions: [] },
            { name: "b", key: "same", permissions: [] },
          ],
        },
      ],
    });
    assert.equal(answer.status, 409);
    assert.deepEqual(await entriesOf(`workspace=${workspace.name}`), before);
  });

  test("the audit log is readable only by the administrator", async () => {
    const workspace = await server.workspace();
    assert.equal((await workspace.call("GET", "/admin/v1/audit")).status, 401);
    assert.equal((await server.send("GET", "/admin/v1/audit")).status, 401);
  });

  test("an invalid audit query is rejected with the name of the parameter", async () => {
    for (const [query, message] of [
      ["limit=0", /'limit'/],
      ["limit=1001", /'limit'/],
      ["cursor=newest", /'cursor'/],
      ["kind=%00", /'kind' in the query holds a NUL character/],
    ] as const) {
      const answer = await server.admin("GET", `/admin/v1/audit?${query}`);
      assert.equal(answer.status, 400, query);
      assert.match(answer.body.message, message);
    }
  });
});
