/* The effects of changes to resources; resources.test.ts has the common behaviour of all resources. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NEWSLETTER, startOwnServer, type TestWorkspace, WEB_APP } from "../../../../harness.ts";
import { declare, newUser, scimClient, WORKSPACE } from "../../../../scim-client.ts";

const server = await startOwnServer();

const pathOf = ({ name }: TestWorkspace, rest = "") => `/admin/v1/workspaces/${name}${rest}`;

/** Sends a request that must succeed. */
async function admin(method: string, path: string, body?: unknown): Promise<any> {
  const answer = await server.admin(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

describe("a workspace", () => {
  test("a workspace created through the admin API accepts keys, and then requests", async () => {
    const name = `keyed-${process.pid}`;
    await admin("PUT", `/admin/v1/workspaces/${name}`, {});
    const body = { name: "ci", permissions: ["users.track"] };
    const { key } = await admin("POST", `/admin/v1/workspaces/${name}/api-keys`, body);
    const event = { external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" };
    const answer = await server.send("POST", "/users/track", { events: [event] }, { key });
    assert.equal(answer.status, 201);
  });

  test("changed settings apply to the next request and leave allow_reset unchanged", async () => {
    const workspace = await server.workspace();
    const two = { attributes: [{ external_id: "a" }, { external_id: "b" }] };
    assert.equal((await workspace.track(two)).status, 201);
    const { settings } = await admin("PUT", pathOf(workspace, "/settings"), {
      track_max_updates: 1,
      blocked_external_ids: ["dummy"],
    });
    assert.deepEqual([settings.track_max_updates, settings.multi_language], [1, false]);
    assert.equal((await workspace.track(two)).status, 400);
    const blocked = await workspace.track({ attributes: [{ external_id: "dummy" }] });
    assert.match(JSON.stringify(blocked.body), /blocked/);
    assert.deepEqual((await admin("GET", pathOf(workspace, "/settings"))).settings, settings);
    assert.equal((await admin("GET", pathOf(workspace))).allow_reset, true);
    await admin("PUT", pathOf(workspace, "/settings"), {});
    assert.equal((await workspace.track(two)).status, 201);
  });

  test("a workspace and its settings are validated by the rules of a manifest", async () => {
    const workspace = await server.workspace();
    for (const [path, body, message] of [
      ["", { settings: { track_max_updates: 0 } }, /'settings.track_max_updates'/],
      ["", { allow_reset: "yes" }, /'allow_reset' must be true or false/],
      ["", { name: "other" }, /unknown key: 'name'/],
      ["/settings", { track_max: 5 }, /unknown key: 'track_max'/],
      ["/settings", { rate_limits: { "users.fly": "off" } }, /unknown key: 'users.fly'/],
      ["/settings", { blocked_external_ids: ["a\0"] }, /NUL character/],
    ] as const) {
      const answer = await server.admin("PUT", pathOf(workspace, path), body);
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.match(answer.body.message, message);
    }
    const long = `/admin/v1/workspaces/${"x".repeat(256)}`;
    assert.equal((await server.admin("PUT", long, {})).status, 400);
    const unknown = await server.admin("PUT", "/admin/v1/workspaces/nowhere/settings", {});
    assert.deepEqual(
      [unknown.status, unknown.body.message],
      [404, "There is no workspace 'nowhere'."],
    );
  });
});

describe("changes to resources take effect before the response", () => {
  test("requests can use an app and a subscription group until these are removed", async () => {
    const workspace = await server.workspace();
    const token = { push_tokens: [{ app_id: "app-2", token: "t" }] };
    const track = async () =>
      (await workspace.track({ attributes: [{ external_id: "ada", ...token }] })).status;
    const set = async () =>
      (
        await workspace.call("POST", "/subscription/status/set", {
          subscription_group_id: "group-2",
          subscription_state: "subscribed",
          external_id: "ada",
        })
      ).status;
    const app = pathOf(workspace, "/apps/app-2");
    const group = pathOf(workspace, "/subscription-groups/group-2");
    assert.deepEqual([await track(), await set()], [400, 400]);
    await admin("PUT", app, { name: "Two", platform: "web" });
    await admin("PUT", group, { name: "Two", channel: "email" });
    assert.deepEqual([await track(), await set()], [201, 201]);
    await admin("DELETE", app);
    await admin("DELETE", group);
    assert.deepEqual([await track(), await set()], [400, 400]);
    const { apps } = await admin("GET", pathOf(workspace, "/apps"));
    assert.deepEqual(
      apps.map((each: { id: string }) => each.id),
      [WEB_APP],
    );
    const groups = await admin("GET", pathOf(workspace, "/subscription-groups"));
    assert.ok(groups.subscription_groups.some((each: { id: string }) => each.id === NEWSLETTER));
  });

  test("SCIM requests can use teams, permission sets and defaults until these are removed", async () => {
    await declare(server);
    const scim = scimClient(server);
    const permissions = {
      appGroup: [
        {
          appGroupName: WORKSPACE.name,
          team: [{ teamName: "Green" }],
          appGroupPermissionSets: [{ appGroupPermissionSetName: "Writers" }],
        },
      ],
    };
    const create = async (members: object) =>
      (await scim.users("POST", "", newUser({ permissions, ...members }))).status;
    assert.equal(await create({}), 400);
    const team = `/admin/v1/workspaces/${WORKSPACE.name}/teams/Green`;
    const { id } = await admin("PUT", team, {});
    assert.ok(id, "a team without an id is given one");
    assert.equal((await admin("PUT", team, {})).id, id, "a team keeps its generated id");
    const writers = "/admin/v1/permission-sets/Writers";
    await admin("PUT", writers, { permissions: ["basic_access"] });
    assert.equal(await create({}), 201);
    const { permission_sets } = await admin("GET", "/admin/v1/permission-sets");
    const own = permission_sets.filter((each: { ready: boolean }) => !each.ready);
    assert.deepEqual(own, [
      { name: "Marketers", permissions: ["basic_access"], declared: true, ready: false },
      { name: "Writers", permissions: ["basic_access"], declared: false, ready: false },
    ]);

    assert.equal(await create({ department: undefined }), 400);
    const defaults = { department: "marketing", permissions };
    const set = await admin("PUT", "/admin/v1/scim-defaults", defaults);
    assert.equal(set.department, "marketing");
    assert.deepEqual(await admin("GET", "/admin/v1/scim-defaults"), set);
    assert.equal(await create({ department: undefined }), 201);
    await admin("PUT", "/admin/v1/scim-defaults", {});
    assert.equal(await create({ department: undefined }), 400);

    await admin("DELETE", writers);
    assert.equal(await create({}), 400);
    const fly = await server.admin("PUT", writers, { permissions: ["fly"] });
    assert.equal(fly.status, 400);
    const unknown = { permissions: { appGroup: [{ appGroupName: "nowhere" }] } };
    assert.equal((await server.admin("PUT", "/admin/v1/scim-defaults", unknown)).status, 400);
  });

  test("a team id that another team has is refused, by the admin API and in a manifest", async () => {
    const workspace = await server.workspace();
    await admin("PUT", pathOf(workspace, "/teams/One"), { id: "same" });
    const answer = await server.admin("PUT", pathOf(workspace, "/teams/Two"), { id: "same" });
    assert.deepEqual(
      [answer.status, answer.body.message],
      [409, "Another team already has the id 'same'."],
    );
    const applied = await server.admin("POST", "/admin/v1/apply", {
      company: { name: "Test" },
      workspaces: [{ name: workspace.name, teams: [{ name: "Three", id: "same" }] }],
    });
    assert.equal(applied.status, 409);
  });

  test("concurrent changes to apps and workspaces are all applied", async () => {
    const workspace = await server.workspace();
    const ids = Array.from({ length: 12 }, (_, index) => `app-${index}`);
    const app = { name: "App", platform: "web" };
    await Promise.all(ids.map((id) => admin("PUT", pathOf(workspace, `/apps/${id}`), app)));
    const { apps } = await admin("GET", pathOf(workspace, "/apps"));
    assert.deepEqual(
      new Set(apps.map((each: { id: string }) => each.id)),
      new Set([...ids, WEB_APP]),
    );
    const names = Array.from({ length: 6 }, (_, index) => `at-once-${process.pid}-${index}`);
    await Promise.all(names.map((name) => admin("PUT", `/admin/v1/workspaces/${name}`, {})));
    for (const name of names) await admin("GET", `/admin/v1/workspaces/${name}`);
  });
});
