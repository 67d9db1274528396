/* The undo of merges that share something: one request, one address, one group. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { id, merge, succeeds, userOf } from "../core/people/identity/identity-calls.ts";
import { NEWSLETTER, startServer, type TestWorkspace } from "../harness.ts";
import { mergesOf, rowsOf, undone } from "./undo-calls.ts";
import { consistentIdentifiers } from "./undo-histories.ts";

const server = await startServer();

type Pair = readonly [merged: string, kept: string];

/** Merges users in one request. @returns undoes the merge of a user. */
async function together(workspace: TestWorkspace, ...pairs: readonly Pair[]) {
  await succeeds(
    merge(
      workspace,
      pairs.map(([merged, kept]) => [id(merged), id(kept)]),
    ),
  );
  const merges = await mergesOf(server, workspace);
  return async (name: string): Promise<void> => {
    const one = merges.find(({ merged }) => merged.external_id === name);
    await undone(server, workspace, one?.id ?? "");
    await consistentIdentifiers(server, workspace, `after the undo of ${name}`);
  };
}

/** The states of an address, the newest first. */
async function historyOf({ name }: TestWorkspace, email: string): Promise<string[]> {
  const path = `/admin/v1/workspaces/${name}/subscription-history?email=${encodeURIComponent(email)}`;
  const { status, body } = await server.admin("GET", path);
  assert.equal(status, 200, JSON.stringify(body));
  return body.changes.map((each: any) => each.subscription_state);
}

const X = "x@example.com";
const [Y, Z] = ["y@example.com", "z@example.com"];

/** Users by name with their addresses; X has a history. */
async function withAddresses(users: Readonly<Record<string, string | null>>) {
  const workspace = await server.workspace();
  const attributes = Object.entries(users).map(([name, email]) => ({ ...id(name), email }));
  await workspace.track({ attributes });
  for (const subscription_state of ["unsubscribed", "opted_in"]) {
    await workspace.call("POST", "/email/status", { email: X, subscription_state });
  }
  assert.deepEqual(await historyOf(workspace, X), ["opted_in", "unsubscribed"]);
  return { workspace, before: await rowsOf(server, workspace) };
}

test("the merges of a user are found by every spelling of an address that the merged user had", async () => {
  const workspace = await server.workspace();
  const names = { eve: "K@MÜNCHEN.example", eva: "νΙΚΟΣ@example.com", ann: "Ann@example.com" };
  for (const [name, email] of Object.entries(names)) {
    await workspace.track({
      attributes: [
        { ...id(name), email },
        { ...id(`of-${name}`), email: `of-${name}@example.com` },
      ],
    });
    await together(workspace, [name, `of-${name}`]);
  }
  for (const [name, spellings] of Object.entries({
    eve: ["k@münchen.example", "k@xn--mnchen-3ya.example", "k@MU\u0308NCHEN.example"],
    eva: ["νικος@example.com", "ΝΙΚΟΣ@EXAMPLE.com"],
    ann: ["ann@example.com", "ANN@example.com"],
  })) {
    for (const user of spellings) {
      const found = await mergesOf(server, workspace, { user });
      assert.deepEqual(
        found.map(({ merged }) => merged.external_id),
        [name],
        user,
      );
    }
  }
});

suite("the history of an address that several merges took away", () => {
  test("is back after the undo of a chain of merges in one request", async () => {
    const { workspace, before } = await withAddresses({ a: X, b: null, c: Z });
    const undoOf = await together(workspace, ["a", "b"], ["b", "c"]);
    assert.deepEqual(await historyOf(workspace, X), []);
    await undoOf("b");
    assert.deepEqual(await historyOf(workspace, X), ["opted_in", "unsubscribed"]);
    await undoOf("a");
    assert.deepEqual(await rowsOf(server, workspace), before);
  });

  for (const order of [
    ["a1", "a2"],
    ["a2", "a1"],
  ] as const) {
    test(`is back with the first of two users of one request who return: ${order.join(", ")}`, async () => {
      const { workspace, before } = await withAddresses({ a1: X, a2: X, b: Y });
      const undoOf = await together(workspace, ["a1", "b"], ["a2", "b"]);
      assert.deepEqual(await historyOf(workspace, X), []);
      for (const name of order) {
        await undoOf(name);
        assert.deepEqual(await historyOf(workspace, X), ["opted_in", "unsubscribed"]);
      }
      assert.deepEqual(await rowsOf(server, workspace), before);
    });

    test(`is back with the first of two users of two requests who return: ${order.join(", ")}`, async () => {
      const { workspace, before } = await withAddresses({ a1: X, a2: X, b: Y });
      const undoOf = {
        a1: await together(workspace, ["a1", "b"]),
        a2: await together(workspace, ["a2", "b"]),
      };
      assert.deepEqual(await historyOf(workspace, X), []);
      for (const name of order) {
        await undoOf[name](name);
        assert.deepEqual(await historyOf(workspace, X), ["opted_in", "unsubscribed"]);
      }
      assert.deepEqual(await rowsOf(server, workspace), before);
    });
  }

  test("is back after the undo of merges in several requests that ran together", async () => {
    const { workspace, before } = await withAddresses({ a1: X, a2: X, a3: X, b: Y });
    const merged = ["a1", "a2", "a3"];
    await Promise.all(merged.map((name) => succeeds(merge(workspace, [[id(name), id("b")]]))));
    assert.deepEqual(await historyOf(workspace, X), []);
    const merges = await mergesOf(server, workspace);
    for (const { id: merge_id } of merges) await undone(server, workspace, merge_id);
    assert.deepEqual(await rowsOf(server, workspace), before);
  });
});

suite("a group state that merges of one request brought", () => {
  const subscription_groups = [
    { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" },
  ];

  const groupsOf = async (workspace: TestWorkspace, name: string): Promise<string[]> =>
    (await userOf(workspace, name))?.subscription_groups.map((each: any) => each.status);

  test("leaves the user who had it only between two merges of a chain", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [{ ...id("a"), subscription_groups }, id("b"), id("c")],
    });
    const before = await rowsOf(server, workspace);
    const undoOf = await together(workspace, ["a", "b"], ["b", "c"]);
    await undoOf("b");
    assert.deepEqual(await groupsOf(workspace, "b"), ["subscribed"]);
    assert.deepEqual(await groupsOf(workspace, "c"), []);
    await undoOf("a");
    assert.deepEqual(await groupsOf(workspace, "b"), []);
    assert.deepEqual(await rowsOf(server, workspace), before);
  });

  test("stays with the user in between if it was set after their return", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [{ ...id("a"), subscription_groups }, id("b"), id("c")],
    });
    const undoOf = await together(workspace, ["a", "b"], ["b", "c"]);
    await undoOf("b");
    for (const subscription_state of ["unsubscribed", "subscribed"]) {
      const set = [{ subscription_group_id: NEWSLETTER, subscription_state }];
      await workspace.track({ attributes: [{ ...id("b"), subscription_groups: set }] });
    }
    await undoOf("a");
    assert.deepEqual(await groupsOf(workspace, "b"), ["subscribed"]);
  });

  for (const order of [
    ["a1", "a2"],
    ["a2", "a1"],
  ] as const) {
    test(`leaves the kept user with the last of two who return: ${order.join(", ")}`, async () => {
      const workspace = await server.workspace();
      await workspace.track({
        attributes: [
          { ...id("a1"), subscription_groups },
          { ...id("a2"), subscription_groups },
          id("b"),
        ],
      });
      const before = await rowsOf(server, workspace);
      const undoOf = await together(workspace, ["a1", "b"], ["a2", "b"]);
      for (const name of order) await undoOf(name);
      assert.deepEqual(await groupsOf(workspace, "b"), []);
      assert.deepEqual(await rowsOf(server, workspace), before);
    });
  }
});

for (const [field, value] of [
  ["email", "Shared@Example.com"],
  ["phone", "+14155552671"],
] as const) {
  test(`a user whose ${field} was taken a second time is found by it after the undo of the first merge`, async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [{ ...id("a"), [field]: value }, { ...id("c"), [field]: value }, id("b")],
    });
    const before = await rowsOf(server, workspace);
    const undoOfA = await together(workspace, ["a", "b"]);
    await workspace.track({ attributes: [{ ...id("b"), [field]: null }] });
    const undoOfC = await together(workspace, ["c", "b"]);
    await undoOfA("a");
    assert.ok((await userOf(workspace, "b"))?.[field]);
    const selector = field === "email" ? { email_address: value } : { phone: value };
    const found = await workspace.profiles(selector);
    assert.deepEqual(found.map((each: any) => each.external_id).sort(), ["a", "b"]);
    await undoOfC("c");
    assert.equal((await userOf(workspace, "b"))?.[field], null);
    const after = await rowsOf(server, workspace);
    assert.deepEqual(after.identifiers, before.identifiers);
  });
}
