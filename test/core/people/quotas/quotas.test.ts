/* Limits of a workspace: names of custom attributes, names of events, users. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../../harness.ts";

const server = await startServer();

const limited = (settings: Record<string, number>) =>
  server.workspace({ settings: { rate_limits: { "users.track": "off" }, ...settings } });

const event = (name: string, external_id = "ada") => ({ external_id, name, time: "2026-01-01" });

const faultsOf = async (workspace: TestWorkspace, body: object): Promise<unknown[]> => {
  const answer = await workspace.track(body);
  assert.ok([201, 400].includes(answer.status), JSON.stringify(answer.body));
  return (answer.body.errors ?? []).map(({ input_array, index, code }) => [
    input_array,
    index,
    code,
  ]);
};

describe("a workspace that has used all its names", () => {
  test("at the quota, only the object with a new attribute is refused, and the error names quota and setting", async () => {
    const workspace = await limited({ max_attribute_names: 2 });
    const set = (external_id: string, values: object) => ({ external_id, ...values });
    const first = [set("ada", { plan: "pro", age: 3 })];
    assert.deepEqual(await faultsOf(workspace, { attributes: first }), []);
    const answer = await workspace.track({
      attributes: [
        set("ada", { plan: "free" }),
        set("bob", { color: "red" }),
        set("eve", { age: 1 }),
      ],
    });
    assert.equal(answer.body.attributes_processed, 2);
    assert.deepEqual(answer.body.errors, [
      {
        type: "'color' is a new name, and the workspace already has 2 names of custom attributes, its 'max_attribute_names'",
        message:
          "'color' is a new name, and the workspace already has 2 names of custom attributes, its 'max_attribute_names'",
        code: "ATTRIBUTE_QUOTA_EXCEEDED",
        input_array: "attributes",
        index: 1,
      },
    ]);
    assert.deepEqual(await workspace.profiles({ external_ids: ["bob"] }), []);
    // Standard attributes have fixed names, and removing one sets none.
    const others = [set("ada", { first_name: "Ada", nothing: null })];
    assert.deepEqual(await faultsOf(workspace, { attributes: others }), []);
  });

  test("at the quota, only the event with a new name is refused, and purchases have no such quota", async () => {
    const workspace = await limited({ max_event_names: 2 });
    const body = { events: [event("a"), event("b"), event("c"), event("a", "bob")] };
    assert.deepEqual(await faultsOf(workspace, body), [["events", 2, "EVENT_QUOTA_EXCEEDED"]]);
    assert.deepEqual(await faultsOf(workspace, body), [["events", 2, "EVENT_QUOTA_EXCEEDED"]]);
    const purchases = ["x", "y", "z"].map((product_id) => ({
      external_id: "ada",
      product_id,
      currency: "USD",
      price: 1,
      time: "2026-01-01",
    }));
    assert.deepEqual(await faultsOf(workspace, { purchases }), []);
  });

  test("a raised quota accepts a new name", async () => {
    const workspace = await limited({ max_event_names: 1 });
    const path = `/admin/v1/workspaces/${workspace.name}`;
    assert.deepEqual(await faultsOf(workspace, { events: [event("a")] }), []);
    const refused = [["events", 0, "EVENT_QUOTA_EXCEEDED"]];
    assert.deepEqual(await faultsOf(workspace, { events: [event("b")] }), refused);
    await server.admin("PUT", `${path}/settings`, { max_event_names: 2 });
    assert.deepEqual(await faultsOf(workspace, { events: [event("b")] }), []);
    assert.deepEqual(await faultsOf(workspace, { events: [event("c")] }), refused);
  });

  test("concurrent requests with new names fill a quota exactly", async () => {
    const workspace = await limited({ max_event_names: 20 });
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => workspace.track({ events: [event(`e${index}`)] })),
    );
    assert.equal(answers.filter(({ status }) => status === 201).length, 20);
  });
});

describe("a workspace that has all the users it may have", () => {
  test("at the quota of users, an object that would create a user is refused, and existing users can change", async () => {
    const workspace = await limited({ max_users: 2 });
    const user = (external_id: string) => ({ external_id, plan: "pro" });
    assert.deepEqual(await faultsOf(workspace, { attributes: [user("ada"), user("bob")] }), []);
    const attributes = [user("ada"), user("bob"), user("eve")];
    const refused = [["attributes", 2, "USER_QUOTA_EXCEEDED"]];
    assert.deepEqual(await faultsOf(workspace, { attributes }), refused);
    assert.deepEqual(await faultsOf(workspace, { events: [event("came", "eve")] }), [
      ["events", 0, "USER_QUOTA_EXCEEDED"],
    ]);
    assert.deepEqual(await faultsOf(workspace, { events: [event("came", "bob")] }), []);
    await workspace.call("POST", "/users/delete", { external_ids: ["ada"] });
    // Deleted users free their places within a second.
    const until = Date.now() + 10_000;
    let faults: unknown[] = refused;
    while (faults.length > 0 && Date.now() < until) {
      faults = await faultsOf(workspace, { events: [event("came", "eve")] });
    }
    assert.deepEqual(faults, []);
  });

  test("a workspace without a quota has no limit", async () => {
    const workspace = await server.workspace();
    const attributes = Array.from({ length: 50 }, (_, index) => ({ external_id: `u${index}` }));
    assert.deepEqual(await faultsOf(workspace, { attributes }), []);
  });
});
