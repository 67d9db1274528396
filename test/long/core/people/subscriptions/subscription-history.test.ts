import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertAbout } from "../../../../about-time.ts";
import {
  emailStatus,
  historyOf,
  setV1,
  setV2,
  users,
  workspaceWithGroups,
} from "../../../../core/people/subscriptions/subscription-calls.ts";
import { ALERTS, NEWSLETTER, startServer, type TestWorkspace } from "../../../../harness.ts";

const server = await startServer();

const newWorkspace = () => workspaceWithGroups(server);

const pathOf = (name: string, query = "") =>
  `/admin/v1/workspaces/${name}/subscription-history?${query}`;

const inGroup = (groupId: string, state: string) => [
  { subscription_group_id: groupId, subscription_state: state },
];

/** The changes as short lines, the oldest first. */
async function linesOf(workspace: TestWorkspace, query: Record<string, string> = {}) {
  const changes = await historyOf(server, workspace, query);
  return changes.reverse().map((change) => {
    const identifier = change.external_id ?? change.email;
    const what = change.subscription_group_id === NEWSLETTER ? "newsletter" : "email";
    return `${identifier} ${what} ${change.subscription_state}`;
  });
}

describe("subscription history entries", () => {
  test("every subscription history entry holds the user or address, the new state, the time and the API call", async () => {
    const workspace = await newWorkspace();
    const requestIds = new Map<string, string | null>();
    await users(workspace, { external_id: "ada", email: "Ada@example.com" });
    const ada = await workspace.profile({ external_ids: ["ada"] });
    const calls: [path: string, body: Record<string, unknown>][] = [
      [
        "/v2/subscription/status/set",
        {
          subscription_groups: [
            {
              subscription_group_id: NEWSLETTER,
              subscription_state: "subscribed",
              external_ids: ["ada"],
            },
          ],
        },
      ],
      [
        "/subscription/status/set",
        {
          subscription_group_id: NEWSLETTER,
          subscription_state: "unsubscribed",
          external_id: "ada",
        },
      ],
      ["/email/status", { email: "ada@example.com", subscription_state: "opted_in" }],
      [
        "/users/track",
        {
          attributes: [
            {
              external_id: "ada",
              subscription_groups: inGroup(NEWSLETTER, "subscribed"),
              email_subscribe: "unsubscribed",
            },
          ],
        },
      ],
    ];
    for (const [path, body] of calls) {
      const answer = await workspace.call("POST", path, body);
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      requestIds.set(`POST ${path}`, answer.headers.get("x-request-id"));
    }
    const changes = await historyOf(server, workspace);
    for (const { id, changed_at } of changes) {
      assertAbout(changed_at);
      assert.match(id, /^[0-9a-f-]{36}$/);
    }
    const by = (call: string) => ({ call, key_name: "test", request_id: requestIds.get(call) });
    const group = (state: string) => ({
      subscription_group_id: NEWSLETTER,
      subscription_state: state,
      platform_id: ada.platform_id,
      external_id: "ada",
      email: null,
    });
    const address = (state: string) => ({
      subscription_group_id: null,
      subscription_state: state,
      platform_id: null,
      external_id: null,
      email: "ada@example.com",
    });
    const withoutOrder = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).sort();
    assert.deepEqual(
      withoutOrder(changes.map(({ id: _id, changed_at: _at, ...rest }) => rest)),
      withoutOrder([
        { ...group("subscribed"), ...by("POST /v2/subscription/status/set") },
        { ...group("unsubscribed"), ...by("POST /subscription/status/set") },
        { ...address("opted_in"), ...by("POST /email/status") },
        { ...group("subscribed"), ...by("POST /users/track") },
        { ...address("unsubscribed"), ...by("POST /users/track") },
      ]),
    );
  });

  test("a subscription change adds a history entry for every user it affects", async () => {
    const workspace = await newWorkspace();
    await users(
      workspace,
      { external_id: "ada", email: "home@example.com" },
      { external_id: "bob", email: "home@example.com" },
    );
    await setV2(workspace, NEWSLETTER, "subscribed", { external_ids: ["ada"] });
    const lines = ["ada newsletter subscribed", "bob newsletter subscribed"];
    assert.deepEqual((await linesOf(workspace)).sort(), lines);
  });

  test("setting a subscription state that already holds adds no history entry", async () => {
    const workspace = await newWorkspace();
    await users(workspace, { external_id: "ada", email: "ada@example.com" });
    for (let round = 0; round < 2; round++) {
      await setV1(workspace, NEWSLETTER, "subscribed", { external_ids: ["ada"] });
      await setV2(workspace, NEWSLETTER, "subscribed", { emails: ["ada@example.com"] });
      await emailStatus(workspace, "ada@example.com", "subscribed");
      await users(workspace, {
        external_id: "ada",
        email_subscribe: "subscribed",
        subscription_groups: inGroup(NEWSLETTER, "subscribed"),
      });
    }
    const lines = ["ada newsletter subscribed", "ada@example.com email subscribed"];
    assert.deepEqual(await linesOf(workspace), lines);
  });

  test("a request that changes one subscription state several times adds a history entry for each change", async () => {
    const workspace = await newWorkspace();
    const steps = ["unsubscribed", "subscribed", "subscribed", "unsubscribed"];
    await users(
      workspace,
      ...steps.map((state) => ({
        external_id: "ada",
        email: "ada@example.com",
        email_subscribe: state,
        subscription_groups: inGroup(NEWSLETTER, state),
      })),
    );
    const changes = ["unsubscribed", "subscribed", "unsubscribed"];
    assert.deepEqual(
      await linesOf(workspace, { subscription_group_id: NEWSLETTER }),
      changes.map((state) => `ada newsletter ${state}`),
    );
    const emails = (await linesOf(workspace)).filter((line) => line.includes("email"));
    assert.deepEqual(
      emails,
      changes.map((state) => `ada@example.com email ${state}`),
    );
    // The last state stands, so that the first one of the same request again is a change.
    await users(
      workspace,
      ...["unsubscribed", "subscribed"].map((state) => ({
        external_id: "ada",
        subscription_groups: inGroup(NEWSLETTER, state),
      })),
    );
    assert.deepEqual(await linesOf(workspace, { subscription_group_id: NEWSLETTER }), [
      "ada newsletter unsubscribed",
      "ada newsletter subscribed",
      "ada newsletter unsubscribed",
      "ada newsletter subscribed",
    ]);
  });

  test("a pending email state is recorded in the history when its user gets an address", async () => {
    const workspace = await newWorkspace();
    await users(workspace, { external_id: "ada", email_subscribe: "opted_in" });
    assert.deepEqual(await linesOf(workspace), []);
    await users(workspace, { external_id: "ada", email: "ada@example.com" });
    assert.deepEqual(await linesOf(workspace), ["ada@example.com email opted_in"]);
  });

  test("a refused subscription change adds no history entry", async () => {
    const workspace = await newWorkspace();
    await users(workspace, { external_id: "ada" });
    await setV2(workspace, "1234", "subscribed", { external_ids: ["ada"] });
    await workspace.track({
      attributes: [
        {
          external_id: "ada",
          subscription_groups: inGroup(NEWSLETTER, "subscribed"),
          email_subscribe: "never",
        },
      ],
    });
    assert.deepEqual(await linesOf(workspace), []);
  });
});

describe("GET /admin/v1/workspaces/{name}/subscription-history", () => {
  /** Ada and Bob share an address; Cy has only one. */
  async function told() {
    const workspace = await newWorkspace();
    await users(
      workspace,
      { external_id: "ada", email: "home@example.com" },
      { external_id: "bob", email: "Home@example.com" },
      { external_id: "cy", email: "cy@example.com" },
    );
    await setV1(workspace, NEWSLETTER, "subscribed", { external_ids: ["cy"] });
    await emailStatus(workspace, "home@example.com", "unsubscribed");
    await setV1(workspace, NEWSLETTER, "subscribed", { external_ids: ["ada"] });
    await setV1(workspace, ALERTS, "subscribed", { external_ids: ["cy"] });
    await emailStatus(workspace, "nobody@example.com", "opted_in");
    return workspace;
  }

  test("the subscription history of an external_id includes the changes of the user's address", async () => {
    const workspace = await told();
    assert.deepEqual(await linesOf(workspace, { external_id: "ada" }), [
      "home@example.com email unsubscribed",
      "ada newsletter subscribed",
    ]);
    assert.deepEqual(await linesOf(workspace, { external_id: "nobody" }), []);
  });

  test("the subscription history of an email includes the changes of all users with that address", async () => {
    const workspace = await told();
    const found = await linesOf(workspace, { email: "HOME@example.com" });
    assert.deepEqual(found.sort(), [
      "ada newsletter subscribed",
      "bob newsletter subscribed",
      "home@example.com email unsubscribed",
    ]);
    const alone = await linesOf(workspace, { email: "nobody@example.com" });
    assert.deepEqual(alone, ["nobody@example.com email opted_in"]);
  });

  test("the subscription history can be filtered by subscription_group_id", async () => {
    const workspace = await told();
    const query = { subscription_group_id: NEWSLETTER };
    assert.equal((await linesOf(workspace, query)).length, 3);
    const cy = await linesOf(workspace, { ...query, external_id: "cy" });
    assert.deepEqual(cy, ["cy newsletter subscribed"]);
    assert.deepEqual(await linesOf(workspace, { subscription_group_id: "1234" }), []);
  });

  test("since is inclusive and until is exclusive in a subscription history query", async () => {
    const workspace = await told();
    const all = await historyOf(server, workspace);
    const times = [...new Set(all.map((change) => change.changed_at))].sort();
    for (const time of times) {
      const since = await historyOf(server, workspace, { since: time });
      const until = await historyOf(server, workspace, { until: time });
      assert.deepEqual([...since, ...until], all);
      assert.ok(since.every((change) => change.changed_at >= time));
    }
    const here = new Date(Date.parse(times[0] ?? "") + 7_200_000).toISOString().slice(0, -1);
    const zoned = await server.admin("GET", pathOf(workspace.name, `until=${here}+02:00`));
    assert.deepEqual(zoned.body.changes, []);
  });

  test("the pages of the subscription history contain every change once, newest first", async () => {
    const workspace = await told();
    const all = await historyOf(server, workspace);
    assert.equal(all.length, 6);
    const times = all.map((change) => change.changed_at);
    assert.deepEqual(times, [...times].sort().reverse());
    for (const limit of [1, 2, 4, 6]) {
      const seen: unknown[] = [];
      let cursor = "";
      do {
        const page = await server.admin(
          "GET",
          pathOf(workspace.name, `limit=${limit}${cursor && `&cursor=${cursor}`}`),
        );
        assert.ok(page.body.changes.length <= limit && page.body.changes.length > 0);
        seen.push(...page.body.changes);
        cursor = page.body.next_cursor ?? "";
      } while (cursor);
      assert.deepEqual(seen, all);
    }
  });

  test("an invalid subscription history query gets 400, and an unknown workspace gets 404", async () => {
    const { name } = await newWorkspace();
    const bad = [
      "cursor=x",
      "cursor=",
      "since=yesterday",
      "until=",
      "limit=0",
      "limit=501",
      "external_id=a&email=a@example.com",
      "external_id=%00",
    ];
    for (const query of bad) {
      const answer = await server.admin("GET", pathOf(name, query));
      assert.equal(answer.status, 400, query);
      assert.equal(typeof answer.body.message, "string");
    }
    for (const unknown of ["nowhere", "x".repeat(255)]) {
      assert.equal((await server.admin("GET", pathOf(unknown))).status, 404);
    }
  });

  test("each workspace has its own subscription history, which only the admin token can read", async () => {
    const workspace = await told();
    const other = await newWorkspace();
    assert.deepEqual(await linesOf(other), []);
    assert.equal((await workspace.call("GET", pathOf(workspace.name))).status, 401);
  });

  test("a reset deletes the subscription history of its workspace", async () => {
    const workspace = await told();
    await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/reset`);
    assert.deepEqual(await linesOf(workspace), []);
  });
});
