/* How existing clients name users, in every call that names one. docs/conformance.md#names-that-clients-use */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  alias,
  byAlias,
  countsOf,
  id,
  makeUsers,
  TIME,
  userOf,
} from "../../../core/people/identity/identity-calls.ts";
import { NEWSLETTER, startServer, type TestWorkspace } from "../../../harness.ts";

const server = await startServer();

const GROUP = { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" };

const imports = (workspace: TestWorkspace, user: object) =>
  server.admin("POST", `/admin/v1/workspaces/${workspace.name}/import`, { users: [user] });

describe("an external_id that is sent as a number is read as a string", () => {
  const NUMBER = { external_id: 17 };
  const isSubscribed = async (workspace: TestWorkspace) =>
    (await userOf(workspace, "17"))?.subscription_groups[0]?.status === "subscribed";
  const isGone = async (workspace: TestWorkspace) => !(await userOf(workspace, "17"));
  const post = (path: string, body: object) => (workspace: TestWorkspace) =>
    workspace.call("POST", path, body);

  const cases: [
    where: string,
    send: (workspace: TestWorkspace) => Promise<{ status: number }>,
    isDone: (workspace: TestWorkspace) => Promise<boolean>,
  ][] = [
    [
      "in an attributes object",
      post("/users/track", { attributes: [{ ...NUMBER, first_name: "Ada" }] }),
      async (workspace) => (await userOf(workspace, "17"))?.first_name === "Ada",
    ],
    [
      "in an event",
      post("/users/track", { events: [{ ...NUMBER, name: "e", time: TIME }] }),
      async (workspace) => countsOf(await userOf(workspace, "17")).e === 1,
    ],
    [
      "in a purchase",
      post("/users/track", {
        purchases: [{ ...NUMBER, product_id: "p", currency: "USD", price: 1, time: TIME }],
      }),
      async (workspace) => (await userOf(workspace, "17"))?.purchases.length === 1,
    ],
    [
      "in a new alias",
      post("/users/alias/new", { user_aliases: [{ ...NUMBER, ...alias("new") }] }),
      async (workspace) => (await userOf(workspace, "17"))?.user_aliases[0].alias_name === "new",
    ],
    [
      "in identify",
      post("/users/identify", { aliases_to_identify: [{ ...NUMBER, ...byAlias("a") }] }),
      async (workspace) => (await userOf(workspace, "17"))?.user_aliases.length === 1,
    ],
    [
      "as the one that is merged",
      post("/users/merge", {
        merge_updates: [{ identifier_to_merge: NUMBER, identifier_to_keep: id("eve") }],
      }),
      isGone,
    ],
    [
      "as the one that is kept",
      post("/users/merge", {
        merge_updates: [{ identifier_to_merge: id("eve"), identifier_to_keep: NUMBER }],
      }),
      async (workspace) => !(await userOf(workspace, "eve")),
    ],
    ["in a deletion", post("/users/delete", { external_ids: [17] }), isGone],
    [
      "in a set of version 1",
      post("/subscription/status/set", { ...GROUP, external_id: [17] }),
      isSubscribed,
    ],
    [
      "in a set of version 2",
      post("/v2/subscription/status/set", {
        subscription_groups: [{ ...GROUP, external_ids: [17] }],
      }),
      isSubscribed,
    ],
    [
      "in an export",
      (workspace) => workspace.call("POST", "/users/export/ids", { external_ids: [17] }),
      async (workspace) => (await workspace.profiles({ external_ids: [17] })).length === 1,
    ],
    [
      "in an import",
      (workspace) => imports(workspace, { ...NUMBER, cards_clicked: [{ name: "card" }] }),
      async (workspace) => (await userOf(workspace, "17"))?.cards_clicked.length === 1,
    ],
  ];
  for (const [where, send, isDone] of cases) {
    test(where, async () => {
      const workspace = await server.workspace();
      await makeUsers(workspace, id("17"), id("eve"), byAlias("a"));
      const { status } = await send(workspace);
      assert.ok(status < 300, `${status}`);
      assert.ok(await isDone(workspace));
    });
  }
});

test("a product_id and an alias_name that are sent as numbers are read as strings", async () => {
  const workspace = await server.workspace();
  const answer = await workspace.track({
    attributes: [{ ...byAlias("17"), first_name: "Ada", _update_existing_only: false }],
    events: [{ user_alias: { ...alias("x"), alias_name: 17 }, name: "e", time: TIME }],
    purchases: [{ ...id("ada"), product_id: 42, currency: "USD", price: 1, time: TIME }],
  });
  assert.deepEqual([answer.body.errors, answer.body.skipped], [undefined, undefined]);
  const user_aliases = [{ ...id("ada"), ...alias("x"), alias_name: 18 }];
  await workspace.call("POST", "/users/alias/new", { user_aliases });
  const ada = await userOf(workspace, "ada");
  assert.equal(ada?.purchases[0].name, "42");
  assert.equal(ada?.user_aliases[0].alias_name, "18");
});

test("a subscription group id that is sent as a number is read as a string", async () => {
  const group = { id: "42", name: "Answers", channel: "email" };
  const workspace = await server.workspace({ subscription_groups: [group] });
  await makeUsers(workspace, id("ada"));
  const stateOf = async () => (await userOf(workspace, "ada"))?.subscription_groups[0]?.status;
  const set = (subscription_state: string) => ({ subscription_group_id: 42, subscription_state });

  const v1 = { ...set("subscribed"), external_id: "ada" };
  assert.equal((await workspace.call("POST", "/subscription/status/set", v1)).status, 201);
  assert.equal(await stateOf(), "subscribed");
  const v2 = { subscription_groups: [{ ...set("unsubscribed"), external_ids: ["ada"] }] };
  assert.equal((await workspace.call("POST", "/v2/subscription/status/set", v2)).status, 201);
  assert.equal(await stateOf(), "unsubscribed");
  const attributes = [{ ...id("ada"), subscription_groups: [set("subscribed")] }];
  assert.equal((await workspace.track({ attributes })).body.errors, undefined);
  assert.equal(await stateOf(), "subscribed");
});

describe("braze_id is read as platform_id, and braze_ids as platform_ids", () => {
  test("track, export, import and delete accept braze_id as platform_id, and braze_ids as platform_ids", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("ada"));
    const braze_id = (await userOf(workspace, "ada"))?.platform_id;
    const { body } = await workspace.track({
      attributes: [{ braze_id, first_name: "Ada" }],
      events: [{ braze_id, name: "e", time: TIME }],
      purchases: [{ braze_id, product_id: "p", currency: "USD", price: 1, time: TIME }],
    });
    assert.deepEqual([body.errors, body.skipped], [undefined, undefined]);
    const imported = await imports(workspace, { braze_id, cards_clicked: [{ name: "card" }] });
    assert.deepEqual([imported.body.errors, imported.body.skipped], [undefined, undefined]);
    for (const names of [{ braze_id }, { braze_ids: [braze_id] }, { platform_ids: [braze_id] }]) {
      const ada = await workspace.profile(names);
      assert.deepEqual([ada.external_id, ada.first_name, countsOf(ada).e], ["ada", "Ada", 1]);
      assert.deepEqual([ada.purchases.length, ada.cards_clicked.length], [1, 1]);
    }
    const deletion = { braze_ids: [braze_id] };
    const { body: deleted } = await workspace.call("POST", "/users/delete", deletion);
    assert.deepEqual(deleted, { deleted: 1, message: "success" });
    assert.equal(await userOf(workspace, "ada"), undefined);
  });

  test("a braze_id next to a different platform_id is refused", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("ada"), id("eve"));
    const platform_id = (await userOf(workspace, "ada"))?.platform_id;
    const braze_id = (await userOf(workspace, "eve"))?.platform_id;
    const { status } = await workspace.track({
      events: [{ platform_id, braze_id, name: "e", time: TIME }],
    });
    assert.equal(status, 400);
    const same = await workspace.track({
      events: [{ platform_id, braze_id: platform_id, name: "e", time: TIME }],
    });
    assert.equal(same.status, 201);
  });
});
