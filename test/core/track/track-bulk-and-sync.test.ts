/* POST /users/track/bulk and /users/track/sync. docs/decisions/bulk-and-sync.md */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../harness.ts";

const server = await startServer();

const TIME = "2026-01-01T12:00:00.000Z";
const EVENT = { external_id: "ada", name: "opened", time: TIME };
const PURCHASE = { external_id: "ada", product_id: "book", currency: "EUR", price: 5, time: TIME };

describe("POST /users/track/bulk", () => {
  const bulk = (workspace: TestWorkspace, body: unknown, raw?: string) =>
    workspace.call<any>("POST", "/users/track/bulk", body, raw === undefined ? {} : { raw });
  const events = (count: number, perUser = 10) =>
    Array.from({ length: count }, (_, index) => ({
      ...EVENT,
      external_id: `u${Math.floor(index / perUser)}`,
    }));

  test("a bulk request accepts at most 1,000 objects in total, for any track_max_updates", async () => {
    const workspace = await server.workspace({ settings: { track_max_updates: 5 } });
    const purchases = [{ ...PURCHASE, external_id: "u0" }];
    const refused = await bulk(workspace, { events: events(1_000), purchases });
    const [error] = refused.body.errors;
    assert.deepEqual(
      [refused.status, refused.body.message, error.input_array, error.index],
      [400, "Max Input Length Exceeded", "purchases", 0],
    );
    assert.deepEqual(await workspace.profiles({ external_ids: ["u0"] }), []);
    const taken = await bulk(workspace, { events: events(999), purchases });
    assert.deepEqual(
      [taken.status, taken.body],
      [201, { events_processed: 999, purchases_processed: 1, message: "success" }],
    );
    const user = await workspace.profile({ external_ids: ["u98"] });
    assert.equal(user.custom_events[0].count, 10);
  });

  test("a bulk request accepts 100 objects of one user, and names the first object beyond that", async () => {
    const workspace = await server.workspace();
    const attributes = [{ external_id: "u0", plan: "pro" }];
    const refused = await bulk(workspace, { attributes, events: events(100, 100) });
    const [{ message, input_array, index }] = refused.body.errors;
    assert.deepEqual([refused.status, input_array, index], [400, "events", 99]);
    assert.match(message, /at most 100 objects of one user/);
    assert.deepEqual(await workspace.profiles({ external_ids: ["u0"] }), []);
    const taken = await bulk(workspace, { attributes, events: events(99, 99) });
    assert.equal(taken.status, 201);
  });

  test("a bulk request accepts a body of 2 MB and no larger one", async () => {
    const workspace = await server.workspace();
    const body = JSON.stringify({ events: [EVENT] });
    assert.equal((await bulk(workspace, undefined, body.padEnd(2_097_152))).status, 201);
    const refused = await bulk(workspace, undefined, body.padEnd(2_097_153));
    assert.deepEqual(
      [refused.status, refused.body],
      [413, { message: "The body is larger than 2 MB." }],
    );
  });

  test("a bulk request reports an error for every invalid object and writes the others", async () => {
    const workspace = await server.workspace();
    const bad = { ...EVENT, time: "yesterday" };
    const answer = await bulk(workspace, { events: [EVENT, bad], purchases: [{}] });
    assert.deepEqual(
      answer.body.errors.map((each: any) => [each.input_array, each.index, each.code]),
      [
        ["events", 1, "INVALID_TIME"],
        ["purchases", 0, "MISSING_IDENTIFIER"],
      ],
    );
    assert.deepEqual([answer.status, answer.body.events_processed], [201, 1]);
  });
});

describe("POST /users/track/sync", () => {
  const sync = (workspace: TestWorkspace, body: unknown, headers = {}) =>
    workspace.call<any>("POST", "/users/track/sync", body, { headers });

  test("a sync request accepts exactly one object", async () => {
    const workspace = await server.workspace();
    for (const [body, array, index] of [
      [{ events: [EVENT, EVENT] }, "events", 1],
      [{ attributes: [{ external_id: "ada" }], purchases: [PURCHASE] }, "purchases", 0],
    ] as const) {
      const { status, body: refusal } = await sync(workspace, body);
      const [{ message, input_array, index: place }] = refusal.errors;
      assert.deepEqual(
        [status, message, input_array, place],
        [400, "Max Input Length Exceeded", array, index],
      );
    }
    assert.equal((await sync(workspace, { events: [] })).status, 400);
    const invalid = await sync(workspace, { events: [{ ...EVENT, time: 5 }] });
    assert.deepEqual([invalid.status, invalid.body.errors[0].code], [400, "INVALID_TIME"]);
    assert.deepEqual(await workspace.profiles({ external_ids: ["ada"] }), []);
  });

  test("a sync request returns the custom attributes that it changed with their stored values", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [{ external_id: "ada", n: 1, old: 1, other: true }] });
    const attributes = [{ external_id: "ada", n: { inc: 2 }, old: null, first_name: "Ada" }];
    const answer = await sync(workspace, { attributes });
    const users = [{ external_id: "ada", custom_attributes: { n: 3, old: null } }];
    assert.deepEqual([answer.status, answer.body], [201, { users, message: "success" }]);
  });

  test("a sync request returns first, last and count of its event or product across all currencies", async () => {
    const workspace = await server.workspace();
    const [first, last] = ["2025-01-01T00:00:00.000Z", TIME];
    await workspace.track({
      events: [
        { ...EVENT, time: first },
        { ...EVENT, name: "closed" },
      ],
      purchases: [{ ...PURCHASE, time: first, currency: "USD", quantity: 2 }],
    });
    const event = await sync(workspace, { events: [EVENT] });
    assert.deepEqual(event.body.users, [
      { external_id: "ada", custom_events: [{ name: "opened", first, last, count: 2 }] },
    ]);
    const purchase = await sync(workspace, { purchases: [PURCHASE] });
    assert.deepEqual(purchase.body.users, [
      { external_id: "ada", purchase_events: [{ product_id: "book", first, last, count: 3 }] },
    ]);
  });

  test("a sync request returns the user under the identifier of the request", async () => {
    const workspace = await server.workspace();
    const user_alias = { alias_name: "a", alias_label: "b" };
    const created = { _update_existing_only: false };
    await workspace.track({ attributes: [{ external_id: "ada" }] });
    const { braze_id } = await workspace.profile({ external_ids: ["ada"] });
    for (const identifier of [
      { user_alias, ...created },
      { email: "Eve@Example.com" },
      { phone: "+14155552671" },
      { platform_id: braze_id },
      { braze_id },
    ]) {
      const { body } = await sync(workspace, { attributes: [{ ...identifier, plan: "pro" }] });
      const { _update_existing_only, ...shown } = identifier as Record<string, unknown>;
      assert.deepEqual(body.users, [{ ...shown, custom_attributes: { plan: "pro" } }]);
    }
  });

  test("a sync request that finds no user to update returns none and says why", async () => {
    const workspace = await server.workspace();
    const { status, body } = await sync(workspace, {
      attributes: [{ external_id: "eve", _update_existing_only: true, plan: "pro" }],
    });
    assert.deepEqual([status, body.users, body.skipped[0].code], [201, [], "USER_NOT_FOUND"]);
  });

  test("a sync request repeated with its Idempotency-Key is written once and gets the same response", async () => {
    const workspace = await server.workspace();
    const headers = { "idempotency-key": "once" };
    const first = await sync(workspace, { events: [EVENT] }, headers);
    await workspace.track({ events: [EVENT] });
    const second = await sync(workspace, { events: [EVENT] }, headers);
    assert.deepEqual(second.body, first.body);
    assert.equal(first.body.users[0].custom_events[0].count, 1);
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.equal(ada.custom_events[0].count, 2);
  });

  test("concurrent sync requests of one user lose no event, and the last one written reports them all", async () => {
    const workspace = await server.workspace();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => sync(workspace, { events: [EVENT] })),
    );
    const counts = answers.map(({ body }) => body.users[0].custom_events[0].count);
    for (const count of counts) assert.ok(count >= 1 && count <= 10, `${count}`);
    assert.equal(Math.max(...counts), 10);
  });
});
