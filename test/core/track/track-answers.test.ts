/*
 * The response to a track request: counters, errors, skipped objects, the cap, the block list; and
 * the order in which its objects take effect.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ItemNote, startServer, type TestWorkspace } from "../../harness.ts";
import { attributes, event, purchase, TIME } from "./track-objects.ts";

const server = await startServer();

const NOTHING_VALID =
  "Valid data must be provided in the 'attributes', 'events', or 'purchases' fields.";
const NOBODY = { user_alias: { alias_name: "nobody", alias_label: "crm" } };
const NOBODYS_EVENT = { ...NOBODY, name: "opened", time: TIME };
const NOBODYS_PURCHASE = { ...purchase("x"), external_id: undefined, ...NOBODY };

const placesOf = (notes: readonly ItemNote[] | undefined) =>
  notes?.map((note) => [note.input_array, note.index, note.code]);

const profilesOf = (workspace: TestWorkspace, ...external_ids: string[]) =>
  workspace.profiles({ external_ids });

describe("a processed track request", () => {
  test("a track request gets 201, success and a counter for each array that it sends", async () => {
    const workspace = await server.workspace();
    const all = {
      attributes: [attributes("ada"), attributes("bob")],
      events: [event("ada"), event("ada"), event("bob")],
      purchases: [purchase("ada")],
    };
    const answer = await workspace.track(all);
    assert.equal(answer.status, 201);
    assert.deepEqual(answer.body, {
      attributes_processed: 2,
      events_processed: 3,
      purchases_processed: 1,
      message: "success",
    });
    for (const [name, objects] of Object.entries(all)) {
      const { body } = await workspace.track({ [name]: objects });
      assert.deepEqual(Object.keys(body).sort(), [`${name}_processed`, "message"].sort());
    }
    const empty = await workspace.track({ attributes: [], events: [event("ada")], purchases: [] });
    assert.deepEqual(empty.body, {
      attributes_processed: 0,
      events_processed: 1,
      purchases_processed: 0,
      message: "success",
    });
  });

  test("a null array in a track request counts as omitted and gets no counter", async () => {
    const workspace = await server.workspace();
    const answer = await workspace.track({ attributes: null, events: [event("ada")] });
    assert.deepEqual(answer.body, { events_processed: 1, message: "success" });
    const none = await workspace.track({ attributes: null, events: null, purchases: null });
    assert.deepEqual([none.status, none.body.message], [400, NOTHING_VALID]);
  });

  test("attributes_processed counts the distinct users, however they are identified", async () => {
    const workspace = await server.workspace();
    const email = "ada@example.com";
    const answer = await workspace.track({
      attributes: [
        attributes("ada", { email }),
        attributes("ada", { plan: "pro" }),
        { email, seats: 1 },
        attributes("bob"),
      ],
    });
    assert.equal(answer.body.attributes_processed, 2);
  });

  test("a track request may contain other fields than the three arrays", async () => {
    const workspace = await server.workspace();
    const answer = await workspace.track({ partner: "Router", api_key: "x", events: [event("a")] });
    assert.deepEqual(answer.body, { events_processed: 1, message: "success" });
  });

  test("a track request creates a user who was never seen in an app", async () => {
    const workspace = await server.workspace();
    await workspace.track({ events: [event("never-in-an-app")] });
    assert.equal((await profilesOf(workspace, "never-in-an-app")).length, 1);
  });
});

describe("invalid objects in a track request", () => {
  test("a track request lists invalid objects with type, message, code, array and index and processes the rest", async () => {
    const workspace = await server.workspace();
    const answer = await workspace.track({
      attributes: [attributes("ada", { a: 1 }), attributes("ada", { email: "bad" }), {}],
      events: [event("ada", { name: 5 }), event("ada"), event("ada", { time: "bad" })],
      purchases: [purchase("ada"), purchase("ada", { price: "1" })],
    });
    assert.equal(answer.status, 201);
    const { errors = [], ...rest } = answer.body;
    assert.deepEqual(rest, {
      attributes_processed: 1,
      events_processed: 1,
      purchases_processed: 1,
      message: "success",
    });
    assert.deepEqual(placesOf(errors), [
      ["attributes", 1, "EMAIL_BAD_FORMAT"],
      ["attributes", 2, "MISSING_IDENTIFIER"],
      ["events", 0, "INVALID_NAME"],
      ["events", 2, "INVALID_TIME"],
      ["purchases", 1, "INVALID_PRICE"],
    ]);
    for (const error of errors) {
      assert.deepEqual(Object.keys(error).sort(), [
        "code",
        "index",
        "input_array",
        "message",
        "type",
      ]);
      assert.equal(error.type, error.message);
      assert.match(error.code, /^[A-Z][A-Z_]+$/);
    }
    const [ada] = await profilesOf(workspace, "ada");
    assert.deepEqual(ada?.custom_attributes, { a: 1 });
    assert.deepEqual([ada?.custom_events[0].count, ada?.purchases[0].count], [1, 1]);
  });

  test("track errors keep the original index of an object, even if some fail only when applied", async () => {
    const workspace = await server.workspace();
    const answer = await workspace.track({
      attributes: [
        attributes("ada", { plan: "pro" }),
        attributes("ada", { plan: { inc: 1 } }),
        attributes("ada", { phone: "1" }),
        attributes("ada", { plan: { add: [1] } }),
      ],
      events: ["no object", event("ada")],
    });
    assert.deepEqual(placesOf(answer.body.errors), [
      ["attributes", 1, "NOT_A_NUMBER"],
      ["attributes", 2, "INVALID_PHONE"],
      ["attributes", 3, "NOT_AN_ARRAY"],
      ["events", 0, "NOT_AN_OBJECT"],
    ]);
  });

  test("a track array entry that is not an object is reported with the name of its array", async () => {
    const workspace = await server.workspace();
    for (const array of ["attributes", "events", "purchases"]) {
      for (const object of [null, "text", 5, true, [], [{ external_id: "ada" }]]) {
        const answer = await workspace.track({ [array]: [object] });
        assert.equal(answer.status, 400);
        assert.deepEqual(placesOf(answer.body.errors), [[array, 0, "NOT_AN_OBJECT"]]);
        assert.match(answer.body.errors?.[0]?.message ?? "", new RegExp(`'${array}'`));
      }
    }
  });

  test("a track request with only invalid objects gets 400 and lists their errors", async () => {
    const workspace = await server.workspace();
    const answer = await workspace.track({
      attributes: [attributes("ada", { email: "bad" })],
      events: [event("ada", { name: "" }), {}],
    });
    assert.equal(answer.status, 400);
    assert.equal(answer.body.message, NOTHING_VALID);
    assert.deepEqual(placesOf(answer.body.errors), [
      ["attributes", 0, "EMAIL_BAD_FORMAT"],
      ["events", 0, "INVALID_NAME"],
      ["events", 1, "MISSING_IDENTIFIER"],
    ]);
    assert.deepEqual(await profilesOf(workspace, "ada"), []);
  });

  test("a track request gets 400 even if its last remaining object fails only when applied", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [attributes("ada", { plan: "pro" })] });
    const answer = await workspace.track({
      attributes: [attributes("ada", { plan: { inc: 1 } }), attributes("ada", { dob: "x" })],
    });
    assert.deepEqual([answer.status, answer.body.message], [400, NOTHING_VALID]);
    assert.deepEqual(placesOf(answer.body.errors), [
      ["attributes", 0, "NOT_A_NUMBER"],
      ["attributes", 1, "INVALID_ATTRIBUTE"],
    ]);
  });

  test("an invalid object in a track request never creates a profile", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [attributes("good"), attributes("bad-1", { plan: { inc: "x" } })],
      events: [event("bad-2", { time: 5 })],
      purchases: [purchase("bad-3", { quantity: 0 })],
    });
    const found = await profilesOf(workspace, "good", "bad-1", "bad-2", "bad-3");
    assert.deepEqual(
      found.map((each) => each.external_id),
      ["good"],
    );
  });
});

describe("a track request that is refused as a whole", () => {
  test("a track request without objects gets 400 and names the required fields in message and errors", async () => {
    const workspace = await server.workspace();
    for (const body of [{}, { attributes: [] }, { events: [], purchases: [] }, { partner: "x" }]) {
      const answer = await workspace.track(body);
      assert.deepEqual([answer.status, answer.body.message], [400, NOTHING_VALID]);
      assert.equal(answer.body.errors?.[0]?.message, NOTHING_VALID);
    }
  });

  for (const array of ["attributes", "events", "purchases"]) {
    test(`a track request whose ${array} are not an array is refused with the name of the field`, async () => {
      const workspace = await server.workspace();
      for (const value of [{}, "text", 5, true, { 0: {} }]) {
        const answer = await workspace.track({ events: [event("ada")], [array]: value });
        assert.equal(answer.status, 400);
        assert.equal(answer.body.message, `'${array}' must be an array`);
        assert.equal(answer.body.errors?.[0]?.message, answer.body.message);
      }
      assert.deepEqual(await profilesOf(workspace, "ada"), []);
    });
  }
});

describe("the cap on objects per track request", () => {
  /** `count` objects distributed over the three arrays. */
  const spread = (count: number) => ({
    attributes: Array.from({ length: count - 4 }, () => attributes("ada", { n: { inc: 1 } })),
    events: [event("ada"), event("ada")],
    purchases: [purchase("ada"), purchase("ada")],
  });

  test("a track request may have 50 objects in total; one with 51 is refused and applies nothing", async () => {
    const workspace = await server.workspace();
    const refused = await workspace.track(spread(51));
    assert.equal(refused.status, 400);
    assert.equal(refused.body.message, "Max Input Length Exceeded");
    const [error] = refused.body.errors ?? [];
    const { message, input_array, index } = error ?? {};
    assert.deepEqual([message, input_array, index], ["Max Input Length Exceeded", "purchases", 1]);
    assert.deepEqual(await profilesOf(workspace, "ada"), []);

    const taken = await workspace.track(spread(50));
    assert.equal(taken.status, 201);
    const [ada] = await profilesOf(workspace, "ada");
    assert.deepEqual([ada?.custom_attributes.n, ada?.custom_events[0].count], [46, 2]);
  });

  test("invalid objects count towards the cap of a track request", async () => {
    const workspace = await server.workspace();
    const answer = await workspace.track({ events: [event("ada"), ...Array(50).fill({})] });
    assert.deepEqual([answer.status, answer.body.message], [400, "Max Input Length Exceeded"]);
  });

  test("the workspace setting track_max_updates sets the cap of a track request", async () => {
    const few = await server.workspace({ settings: { track_max_updates: 5 } });
    assert.equal((await few.track(spread(6))).status, 400);
    assert.equal((await few.track(spread(5))).status, 201);
    const many = await server.workspace({ settings: { track_max_updates: 75 } });
    assert.equal((await many.track(spread(75))).status, 201);
    assert.equal((await many.track(spread(76))).status, 400);
  });
});

describe("valid objects that change nothing", () => {
  test("a valid track object for an unknown user is counted and listed in skipped, not in errors", async () => {
    const workspace = await server.workspace();
    const answer = await workspace.track({
      attributes: [attributes("ada"), attributes("eve", { _update_existing_only: true }), NOBODY],
      events: [NOBODYS_EVENT, event("ada")],
      purchases: [NOBODYS_PURCHASE],
    });
    assert.equal(answer.status, 201);
    const { skipped, ...rest } = answer.body;
    assert.deepEqual(rest, {
      attributes_processed: 3,
      events_processed: 2,
      purchases_processed: 1,
      message: "success",
    });
    assert.deepEqual(placesOf(skipped), [
      ["attributes", 1, "USER_NOT_FOUND"],
      ["attributes", 2, "USER_NOT_FOUND"],
      ["events", 0, "USER_NOT_FOUND"],
      ["purchases", 0, "USER_NOT_FOUND"],
    ]);
    for (const note of skipped ?? []) {
      assert.deepEqual(Object.keys(note).sort(), ["code", "index", "input_array", "message"]);
    }
    assert.match(skipped?.[0]?.message ?? "", /'external_id'/);
    assert.match(skipped?.[1]?.message ?? "", /'user_alias'/);
  });

  test("a track request with only skipped objects succeeds with 201", async () => {
    const workspace = await server.workspace();
    const answer = await workspace.track({ events: [NOBODYS_EVENT] });
    assert.equal(answer.status, 201);
    assert.deepEqual(Object.keys(answer.body).sort(), ["events_processed", "message", "skipped"]);
  });
});

describe("the order of effects within a track request", () => {
  test("a track request applies attributes, then events, then purchases, regardless of the key order", async () => {
    const workspace = await server.workspace();
    const email = "order@example.com";
    const identifier = { email, _update_existing_only: true };
    const { external_id: _1, ...anEvent } = event("");
    const { external_id: _2, ...aPurchase } = purchase("");
    const answer = await workspace.track({
      purchases: [{ ...identifier, ...aPurchase }],
      events: [
        { ...identifier, ...anEvent },
        { email, ...anEvent },
      ],
      attributes: [attributes("ada")],
    });
    // The purchase finds the profile that the second event has made, the first event does not.
    assert.deepEqual(placesOf(answer.body.skipped), [["events", 0, "USER_NOT_FOUND"]]);
    const later = await workspace.track({
      events: [{ ...identifier, email: "new@example.com", ...anEvent }],
      attributes: [attributes("ada", { email: "new@example.com" })],
    });
    assert.equal(later.body.skipped, undefined);
    const [ada] = await profilesOf(workspace, "ada");
    assert.equal(ada?.custom_events[0].count, 1);
  });

  test("the objects of a track array are applied in order, and a later request sees the effects of earlier ones", async () => {
    const workspace = await server.workspace();
    for (let round = 0; round < 5; round++) {
      const list = Array.from({ length: 10 }, (_, index) =>
        attributes("ada", { last: round * 10 + index, seen: { add: [round * 10 + index] } }),
      );
      await workspace.track({ attributes: list });
    }
    const [ada] = await profilesOf(workspace, "ada");
    assert.equal(ada?.custom_attributes.last, 49);
    assert.deepEqual(
      ada?.custom_attributes.seen,
      Array.from({ length: 50 }, (_, index) => index),
    );
  });
});
