import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PERMISSIONS } from "../../../../src/core/base/context/permissions.ts";
import { ALERTS, NEWSLETTER, startServer } from "../../../harness.ts";
import { setV2, statesOf, users, workspaceWithGroups } from "./subscription-calls.ts";

const server = await startServer();

const pathOf = (name: string, id?: string) =>
  `/admin/v1/workspaces/${name}/subscription-groups${id === undefined ? "" : `/${encodeURIComponent(id)}`}`;

describe("subscription groups in the admin API", () => {
  test("a group created through the admin API can be set by the next request", async () => {
    const workspace = await server.workspace();
    await users(workspace, { external_id: "ada" });
    const id = "product/news ü";
    const before = await setV2(workspace, id, "subscribed", { external_ids: ["ada"] });
    assert.equal(before.status, 400);
    const body = { name: "Product news", channel: "whatsapp" };
    const answer = await server.admin("PUT", pathOf(workspace.name, id), body);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, { id, ...body, declared: false, message: "success" });
    const after = await setV2(workspace, id, "subscribed", { external_ids: ["ada"] });
    assert.equal(after.status, 201);
    assert.deepEqual(await statesOf(workspace, id, "ada"), { ada: "Subscribed" });
    const read = await server.admin("GET", pathOf(workspace.name, id));
    assert.deepEqual(read.body, answer.body);
  });

  test("groups are listed by name, including those that the manifest declared", async () => {
    const workspace = await server.workspace();
    await server.admin("PUT", pathOf(workspace.name, "m"), { name: "Magazine", channel: "email" });
    const answer = await server.admin("GET", pathOf(workspace.name));
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body.subscription_groups, [
      { id: ALERTS, name: "Alerts", channel: "sms", declared: true },
      { id: "m", name: "Magazine", channel: "email", declared: false },
      { id: NEWSLETTER, name: "Newsletter", channel: "email", declared: true },
    ]);
  });

  test("applying a manifest keeps groups of the admin API and restores declared groups", async () => {
    const workspace = await server.workspace();
    await server.admin("PUT", pathOf(workspace.name, "own"), { name: "Own", channel: "sms" });
    const renamed = { name: "Renamed", channel: "email" };
    const put = await server.admin("PUT", pathOf(workspace.name, NEWSLETTER), renamed);
    assert.equal(put.body.declared, true);
    await server.admin("DELETE", pathOf(workspace.name, ALERTS));
    const applied = await server.admin("POST", "/admin/v1/apply", {
      company: { name: "Test" },
      workspaces: [
        {
          name: workspace.name,
          allow_reset: true,
          settings: { rate_limits: { "users.track": "off" } },
          subscription_groups: [
            { id: NEWSLETTER, name: "Newsletter", channel: "email" },
            { id: ALERTS, name: "Alerts", channel: "sms" },
          ],
        },
      ],
    });
    const changes = applied.body.changes.map((change: any) => `${change.action} ${change.name}`);
    assert.deepEqual(changes.sort(), ["created Alerts", "updated Newsletter"]);
    const { body } = await server.admin("GET", pathOf(workspace.name));
    assert.deepEqual(
      body.subscription_groups.map((group: any) => [group.name, group.declared]),
      [
        ["Alerts", true],
        ["Newsletter", true],
        ["Own", false],
      ],
    );
  });

  test("a removed group is unknown, and its states are kept until the group is restored", async () => {
    const workspace = await server.workspace();
    await users(workspace, { external_id: "ada" });
    await setV2(workspace, NEWSLETTER, "subscribed", { external_ids: ["ada"] });
    const answer = await server.admin("DELETE", pathOf(workspace.name, NEWSLETTER));
    assert.deepEqual([answer.status, answer.body], [200, { message: "success" }]);
    const set = await setV2(workspace, NEWSLETTER, "subscribed", { external_ids: ["ada"] });
    assert.equal(set.body.message, "Invalid subscription group ID");
    assert.equal((await server.admin("GET", pathOf(workspace.name, NEWSLETTER))).status, 404);
    assert.equal((await server.admin("DELETE", pathOf(workspace.name, NEWSLETTER))).status, 404);
    const group = { name: "Newsletter", channel: "email" };
    await server.admin("PUT", pathOf(workspace.name, NEWSLETTER), group);
    assert.deepEqual(await statesOf(workspace, NEWSLETTER, "ada"), { ada: "Subscribed" });
  });

  test("an invalid group is refused with 400, an unknown workspace with 404 and an API key with 401", async () => {
    const workspace = await server.workspace();
    const good = { name: "News", channel: "email" };
    const bad = [
      {},
      { name: "News" },
      { channel: "email" },
      { ...good, channel: "push" },
      { ...good, name: "" },
      { ...good, name: "x".repeat(256) },
      { ...good, name: "a\u0000b" },
      { ...good, name: "\ud800" },
      { ...good, declared: true },
    ];
    for (const body of bad) {
      const answer = await server.admin("PUT", pathOf(workspace.name, "news"), body);
      assert.equal(answer.status, 400, JSON.stringify(body));
    }
    for (const id of ["a\u0000b", "x".repeat(256)]) {
      const answer = await server.admin("PUT", pathOf(workspace.name, id), good);
      assert.equal(answer.status, 400);
    }
    const longest = await server.admin("PUT", pathOf(workspace.name, "ü".repeat(255)), good);
    assert.equal(longest.status, 200);
    for (const method of ["GET", "PUT", "DELETE"]) {
      const body = method === "PUT" ? good : undefined;
      const nowhere = await server.admin(method, pathOf("nowhere", "news"), body);
      assert.equal(nowhere.status, 404);
      const mine = await workspace.call(method, pathOf(workspace.name, "news"), body);
      assert.equal(mine.status, 401);
    }
  });
});

describe("access to subscription endpoints", () => {
  const set = { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" };
  const CALLS: [permission: string, method: string, path: string, body?: unknown][] = [
    [
      "subscription.status.set",
      "POST",
      "/v2/subscription/status/set",
      { subscription_groups: [{ ...set, external_ids: ["ada"] }] },
    ],
    [
      "subscription.status.set",
      "POST",
      "/subscription/status/set",
      { ...set, external_id: ["ada"] },
    ],
    [
      "subscription.status.get",
      "GET",
      `/subscription/status/get?subscription_group_id=${NEWSLETTER}&external_id=ada`,
    ],
    ["subscription.groups.get", "GET", "/subscription/user/status?external_id=ada"],
    [
      "email.status",
      "POST",
      "/email/status",
      { email: "ada@example.com", subscription_state: "subscribed" },
    ],
  ];

  test("each subscription endpoint requires its own permission and no other", async () => {
    const keyOf = (permission: string, kind: string) => `${kind}-${permission}`;
    const workspace = await workspaceWithGroups(server, {
      api_keys: [...new Set(CALLS.map(([permission]) => permission))].flatMap((permission) => [
        {
          name: keyOf(permission, "only"),
          key: keyOf(permission, "only"),
          permissions: [permission],
        },
        {
          name: keyOf(permission, "without"),
          key: keyOf(permission, "without"),
          permissions: PERMISSIONS.filter((each) => each !== permission),
        },
      ]),
    });
    for (const [permission, method, path, body] of CALLS) {
      const taken = await workspace.call(method, path, body, { key: keyOf(permission, "only") });
      assert.equal(taken.status, method === "GET" ? 200 : 201, path);
      const other = await workspace.call(method, path, body, { key: keyOf(permission, "without") });
      assert.equal(other.status, 403, path);
      assert.equal((await workspace.call(method, path, body, { key: null })).status, 401, path);
    }
  });

  test("both versions of the set share a limit of 5,000 requests per minute", async () => {
    const workspace = await server.workspace();
    const remaining: number[] = [];
    for (const [permission, method, path, body] of CALLS) {
      if (permission !== "subscription.status.set") continue;
      const { headers } = await workspace.call(method, path, body);
      assert.equal(headers.get("x-ratelimit-limit"), "5000");
      remaining.push(Number(headers.get("x-ratelimit-remaining")));
      const reset = Number(headers.get("x-ratelimit-reset")) - Date.now() / 1_000;
      assert.ok(reset > 0 && reset <= 61);
    }
    assert.deepEqual(remaining, [4_999, 4_998]);
  });
});
