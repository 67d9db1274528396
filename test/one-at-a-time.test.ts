/* What a manifest says can also be changed through /admin/v1, one resource at a time. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { COMPANY_SECTIONS, ENDPOINTS, SECTIONS } from "../src/app.ts";
import { pathsOf } from "../src/http/endpoint.ts";
import { NEWSLETTER, startServer, type TestWorkspace, WEB_APP } from "./harness.ts";
import { declare, newUser, scimClient, WORKSPACE } from "./scim-client.ts";

const server = await startServer();

const pathOf = ({ name }: TestWorkspace, rest = "") => `/admin/v1/workspaces/${name}${rest}`;

/** Sends a request that must be taken. */
async function admin(method: string, path: string, body?: unknown): Promise<any> {
  const answer = await server.admin(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

const apply = (name: string, workspace: object) =>
  admin("POST", "/admin/v1/apply", {
    company: { name: "Test" },
    workspaces: [{ name, ...workspace }],
  });

const changesOf = async (query: string) => {
  const { entries } = await admin("GET", `/admin/v1/audit?${query}`);
  return entries.map(({ action, kind, name }: any) => `${action} ${kind} ${name}`);
};

test("every part of a manifest has an endpoint that changes it", () => {
  const writing = ENDPOINTS.map((endpoint) => endpoint.contract)
    .filter(({ method, access }) => method !== "GET" && access.by === "administrator")
    .flatMap(pathsOf);
  const places = [
    "/admin/v1/company",
    "/admin/v1/workspaces/:name",
    "/admin/v1/workspaces/:name/settings",
    ...SECTIONS.map(({ key }) => `/admin/v1/workspaces/:name/${key.replaceAll("_", "-")}`),
    ...COMPANY_SECTIONS.map(({ key }) => `/admin/v1/${key.replaceAll("_", "-")}`),
  ];
  for (const place of places) {
    const has = writing.some((path) => path === place || path.startsWith(`${place}/`));
    assert.ok(has, `Nothing changes ${place}: give the section a resource, or endpoints.`);
  }
});

describe("a workspace", () => {
  test("is made, read, listed and changed; what is left out is as by default", async () => {
    const name = `new-${process.pid}`;
    const path = `/admin/v1/workspaces/${name}`;
    await server.workspace();
    assert.equal((await server.admin("GET", path)).status, 404);
    const settings = { track_max_updates: 75, rate_limits: { "users.track": "off" } };
    const made = await admin("PUT", path, { allow_reset: true, settings });
    assert.deepEqual(made, {
      name,
      allow_reset: true,
      settings: {
        ...settings,
        multi_language: false,
        blocked_external_ids: [],
        redirect_merged_ids: false,
      },
      message: "success",
    });
    assert.deepEqual(await admin("GET", path), made);
    const { message: _message, ...listed } = made;
    const { workspaces } = await admin("GET", "/admin/v1/workspaces");
    assert.deepEqual(
      workspaces.find((each: { name: string }) => each.name === name),
      listed,
    );
    const changed = await admin("PUT", path, {});
    assert.deepEqual([changed.allow_reset, changed.settings.track_max_updates], [false, 50]);
    assert.deepEqual(await changesOf(`workspace=${name}`), [
      `updated workspace ${name}`,
      "created preference_center default",
      `created workspace ${name}`,
    ]);
  });

  test("made so takes keys, and then requests", async () => {
    const name = `keyed-${process.pid}`;
    await admin("PUT", `/admin/v1/workspaces/${name}`, {});
    const body = { name: "ci", permissions: ["users.track"] };
    const { key } = await admin("POST", `/admin/v1/workspaces/${name}/api-keys`, body);
    const event = { external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" };
    const answer = await server.send("POST", "/users/track", { events: [event] }, { key });
    assert.equal(answer.status, 201);
  });

  test("has settings of its own accord, which hold at once, and leave allow_reset alone", async () => {
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

  test("is what the next manifest says, where that says anything", async () => {
    const workspace = await server.workspace();
    await admin("PUT", pathOf(workspace, "/settings"), { track_max_updates: 7 });
    await apply(workspace.name, { settings: { track_max_updates: 8 } });
    const { settings } = await admin("GET", pathOf(workspace, "/settings"));
    assert.equal(settings.track_max_updates, 8);
  });

  test("and its settings are checked as a manifest's are", async () => {
    const workspace = await server.workspace();
    for (const [path, body, message] of [
      ["", { settings: { track_max_updates: 0 } }, /'settings.track_max_updates'/],
      ["", { allow_reset: "yes" }, /'allow_reset' must be true or false/],
      ["", { name: "other" }, /not known: 'name'/],
      ["/settings", { track_max: 5 }, /not known: 'track_max'/],
      ["/settings", { rate_limits: { "users.fly": "off" } }, /not known: 'users.fly'/],
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

test("the company is renamed, and audited only where that changes something", async () => {
  await server.workspace();
  const name = `Company ${process.pid}`;
  assert.equal((await admin("PUT", "/admin/v1/company", { name })).name, name);
  assert.equal((await admin("PUT", "/admin/v1/company", { name })).name, name);
  assert.equal((await admin("GET", "/admin/v1/company")).name, name);
  assert.deepEqual(await changesOf(`kind=company&name=${name}`), [`updated company ${name}`]);
  assert.equal((await server.admin("PUT", "/admin/v1/company", { name: "" })).status, 400);
});

/** Lists of a workspace whose endpoints follow from their sections. */
const LISTS = [
  {
    key: "apps",
    kind: "app",
    id: "app-1",
    identity: "id",
    entry: { name: "Phone", platform: "ios" },
    other: { name: "Phone", platform: "android" },
    faulty: { name: "Phone" },
  },
  {
    key: "subscription_groups",
    kind: "subscription_group",
    id: "group-1",
    identity: "id",
    entry: { name: "News", channel: "email" },
    other: { name: "News", channel: "sms" },
    faulty: { name: "News", channel: "fax" },
  },
  {
    key: "teams",
    kind: "team",
    id: "Europe / West",
    identity: "name",
    entry: { id: "team-1" },
    other: { id: "team-2" },
    faulty: { id: "" },
  },
] as const;

for (const { key, kind, id, identity, entry, other, faulty } of LISTS) {
  describe(`the list ${key}`, () => {
    const listPath = (workspace: TestWorkspace) =>
      pathOf(workspace, `/${key.replaceAll("_", "-")}`);
    const onePath = (workspace: TestWorkspace) =>
      `${listPath(workspace)}/${encodeURIComponent(id)}`;
    const whole = { [identity]: id, ...entry };

    const listed = async (workspace: TestWorkspace) => {
      const entries: Record<string, unknown>[] = (await admin("GET", listPath(workspace)))[key];
      return entries.find((each) => each[identity] === id);
    };

    test("takes an entry, tells it, changes it and lets it go, with a row for each change", async () => {
      const workspace = await server.workspace();
      assert.equal((await server.admin("GET", onePath(workspace))).status, 404);
      const made = await admin("PUT", onePath(workspace), entry);
      assert.deepEqual(made, { ...whole, declared: false, message: "success" });
      assert.deepEqual(await admin("GET", onePath(workspace)), made);
      assert.deepEqual(await listed(workspace), { ...whole, declared: false });
      await admin("PUT", onePath(workspace), entry);
      const changed = await admin("PUT", onePath(workspace), other);
      assert.deepEqual(changed, { ...whole, ...other, declared: false, message: "success" });
      await admin("DELETE", onePath(workspace));
      assert.equal(await listed(workspace), undefined);
      assert.equal((await server.admin("DELETE", onePath(workspace))).status, 404);
      const name = "name" in entry ? entry.name : id;
      assert.deepEqual(
        await changesOf(`workspace=${workspace.name}&kind=${kind}&limit=3`),
        ["removed", "updated", "created"].map((action) => `${action} ${kind} ${name}`),
      );
    });

    test("is checked as a manifest's is", async () => {
      const workspace = await server.workspace();
      assert.equal((await server.admin("PUT", onePath(workspace), faulty)).status, 400);
      const extra = await server.admin("PUT", onePath(workspace), { ...entry, more: 1 });
      assert.match(extra.body.message, /not known: 'more'/);
      const nul = `${listPath(workspace)}/${encodeURIComponent("a\0")}`;
      assert.match((await server.admin("PUT", nul, entry)).body.message, /NUL character/);
      assert.equal(await listed(workspace), undefined);
    });

    test("leaves the last word to the next manifest about what manifests declare", async () => {
      const workspace = await server.workspace();
      await apply(workspace.name, { [key]: [whole] });
      const changed = await admin("PUT", onePath(workspace), other);
      assert.equal(changed.declared, true);
      await apply(workspace.name, {});
      assert.deepEqual(await listed(workspace), { ...whole, ...other, declared: true });
      await apply(workspace.name, { [key]: [whole] });
      assert.deepEqual(await listed(workspace), { ...whole, declared: true });
      await apply(workspace.name, { [key]: [] });
      assert.equal(await listed(workspace), undefined);
    });

    test("keeps what no manifest declares, until one does", async () => {
      const workspace = await server.workspace();
      await admin("PUT", onePath(workspace), entry);
      await apply(workspace.name, { [key]: [] });
      assert.deepEqual(await listed(workspace), { ...whole, declared: false });
      await apply(workspace.name, { [key]: [whole] });
      assert.deepEqual(await listed(workspace), { ...whole, declared: true });
      await apply(workspace.name, { [key]: [] });
      assert.equal(await listed(workspace), undefined);
    });
  });
}

describe("what is changed so holds at once", () => {
  test("an app and a group can be named by requests, and no more once they are gone", async () => {
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

  test("teams, permission sets and defaults for dashboard users", async () => {
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
    assert.ok(id, "a team without an id gets one");
    assert.equal((await admin("PUT", team, {})).id, id, "and keeps it");
    const writers = "/admin/v1/permission-sets/Writers";
    await admin("PUT", writers, { permissions: ["basic_access"] });
    assert.equal(await create({}), 201);
    const { permission_sets } = await admin("GET", "/admin/v1/permission-sets");
    assert.deepEqual(permission_sets, [
      { name: "Marketers", permissions: ["basic_access"], declared: true },
      { name: "Writers", permissions: ["basic_access"], declared: false },
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

  test("an id that another team has is refused, by a call and by a manifest", async () => {
    const workspace = await server.workspace();
    await admin("PUT", pathOf(workspace, "/teams/One"), { id: "same" });
    const answer = await server.admin("PUT", pathOf(workspace, "/teams/Two"), { id: "same" });
    assert.deepEqual(
      [answer.status, answer.body.message],
      [409, "Another team has the id 'same' already."],
    );
    const applied = await server.admin("POST", "/admin/v1/apply", {
      company: { name: "Test" },
      workspaces: [{ name: workspace.name, teams: [{ name: "Three", id: "same" }] }],
    });
    assert.equal(applied.status, 409);
  });

  test("changes at the same time all arrive", async () => {
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
