/* Limits on the work of one object of a track request, and on the size of a profile. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { changeObjects } from "../../../../src/core/people/profiles/attribute-rules/change-objects.ts";
import {
  budgetsOfItem,
  startRequestWork,
} from "../../../../src/core/people/profiles/attribute-rules/work-budgets.ts";
import { startServer, type TestWorkspace } from "../../../harness.ts";

const server = await startServer();

const objects = (count: number, id = (_index: number): number => 1) =>
  Array.from({ length: count }, (_, index) => ({ i: id(index) }));

const updates = (count: number, id = (_index: number): number => 1) =>
  Array.from({ length: count }, (_, index) => ({
    $identifier_key: "i",
    $identifier_value: id(index),
    $new_object: { i: id(index) },
  }));

const itself = (index: number) => index;

describe("the work of $update and $remove on an array of objects", () => {
  /** The units that `count` updates take, each of another one of `size` objects. */
  function workOf(size: number, count: number): number {
    const budgets = budgetsOfItem(startRequestWork());
    const update = updates(count, itself).map((each) => ({
      key: each.$identifier_key,
      value: each.$identifier_value,
      object: each.$new_object,
      bytes: 7,
    }));
    const change = { add: [], update, remove: [] };
    const changed = changeObjects("pets", objects(size, itself), change, true, budgets);
    assert.ok("value" in changed);
    return budgets.item.spent;
  }

  test("the work of $update grows with the sum of the objects and updates, not with their product", () => {
    for (const [size, count] of [
      [100, 10],
      [1_000, 100],
      [4_000, 100],
    ] as const) {
      assert.ok(workOf(2 * size, count) <= 2 * workOf(size, count));
      assert.ok(workOf(size, 2 * count) <= 2 * workOf(size, count));
      assert.ok(workOf(size, count) <= 2 * size + 4 * count);
    }
  });

  test("a track object whose $update operations match every element is refused with the budget it exceeds", async () => {
    const workspace = await server.workspace();
    const pets = objects(12_500);
    await workspace.track({ attributes: [{ external_id: "ada", pets }] });
    const item = { external_id: "ada", _merge_objects: true, pets: { $update: updates(100) } };
    const answer = await workspace.track({
      attributes: [...Array.from({ length: 48 }, () => item), { external_id: "ada", plan: "pro" }],
    });
    assert.equal(answer.status, 201);
    const { errors = [] } = answer.body;
    assert.deepEqual([errors.length, answer.body.attributes_processed], [48, 1]);
    for (const { code } of errors) assert.equal(code, "WORK_LIMIT_EXCEEDED");
    assert.match(errors[0]?.message ?? "", /'pets' .* work budget of one object, 200000 units/);
    assert.match(errors.at(-1)?.message ?? "", /work budget of one request, 1000000 units/);
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.deepEqual(ada.custom_attributes, { pets, plan: "pro" });
  });

  test("one $update of one element in each object of a track request stays within the budget", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [{ external_id: "ada", pets: objects(9_000, itself) }] });
    const attributes = Array.from({ length: 50 }, (_, index) => ({
      external_id: "ada",
      _merge_objects: true,
      pets: { $update: updates(1, () => index) },
    }));
    assert.equal((await workspace.track({ attributes })).body.errors, undefined);
  });
});

describe("the quota of a profile", () => {
  const withQuota = (bytes: number) => server.workspace({ settings: { profile_max_bytes: bytes } });
  const set = (workspace: TestWorkspace, values: object, external_id = "ada") =>
    workspace.track({ attributes: [{ external_id, ...values }] });
  const codeOf = async (answer: ReturnType<typeof set>) => (await answer).body.errors?.[0]?.code;
  const some = "x".repeat(200);

  test("an attributes object that makes a profile larger than profile_max_bytes is refused", async () => {
    const workspace = await withQuota(1_024);
    for (const name of ["a", "b", "c"]) {
      assert.equal(await codeOf(set(workspace, { [name]: some })), undefined);
    }
    // Neither a plain value, which needs no stored data, nor an operation on stored data.
    assert.equal(await codeOf(set(workspace, { d: some, e: some })), "PROFILE_TOO_LARGE");
    const operation = { n: { inc: 1 }, d: some, e: some };
    assert.equal(await codeOf(set(workspace, operation)), "PROFILE_TOO_LARGE");
    const { body } = await set(workspace, { d: some, e: some });
    assert.match(body.errors?.[0]?.message ?? "", /more than 1024 bytes.*profile_max_bytes/);
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.deepEqual(Object.keys(ada.custom_attributes), ["a", "b", "c"]);
  });

  test("a profile at its quota accepts events and changes that do not make it larger", async () => {
    const workspace = await withQuota(1_024);
    await set(workspace, { a: some, b: some, c: some, d: some });
    await server.admin("PUT", `/admin/v1/workspaces/${workspace.name}/settings`, {
      profile_max_bytes: 1_024,
      track_max_updates: 10,
    });
    assert.equal(await codeOf(set(workspace, { e: some })), "PROFILE_TOO_LARGE");
    assert.equal(await codeOf(set(workspace, { a: null })), undefined);
    assert.equal(await codeOf(set(workspace, { e: some, d: null })), undefined);
    const event = { external_id: "ada", name: "e", time: "2026-01-01" };
    assert.equal((await workspace.track({ events: [event] })).status, 201);
  });

  test("the profile quota counts all objects of a request together and applies to new profiles too", async () => {
    const workspace = await withQuota(1_024);
    const values = Array.from({ length: 10 }, (_, index) => ({
      external_id: "eve",
      [`a${index}`]: some,
    }));
    const { body } = await workspace.track({ attributes: values });
    assert.ok(body.errors && body.errors.length >= 5, JSON.stringify(body));
    for (const { code } of body.errors) assert.equal(code, "PROFILE_TOO_LARGE");
    const neighbour = { external_id: "bob", plan: "pro" };
    const large = { external_id: "new", a: some, b: some, c: some, d: some, e: some };
    const answer = await workspace.track({ attributes: [large, neighbour] });
    assert.deepEqual(
      answer.body.errors?.map(({ index, code }) => [index, code]),
      [[0, "PROFILE_TOO_LARGE"]],
    );
    assert.equal((await workspace.profiles({ external_ids: ["new", "bob"] })).length, 1);
  });
});
