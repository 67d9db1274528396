/*
 * The effects of an attributes object on a profile: standard attributes, custom attributes and
 * their operations, each sent over HTTP and read back with an export. The rules of single values
 * are in standard-attributes.test.ts and custom-attributes.test.ts.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NEWSLETTER, startServer, type TestWorkspace, WEB_APP } from "../../harness.ts";

const server = await startServer();

const ADA = { external_id: "ada" };

const set = (workspace: TestWorkspace, ...objects: object[]) =>
  workspace.track({ attributes: objects.map((object) => ({ ...ADA, ...object })) });

const profileOf = (workspace: TestWorkspace) => workspace.profile({ external_ids: ["ada"] });

const customOf = async (workspace: TestWorkspace) => (await profileOf(workspace)).custom_attributes;

const inWords = (object: object) => JSON.stringify(object).slice(1, -1);

describe("a standard attribute is stored and exported, and null removes it", async () => {
  /** Each row leaves it as it was. */
  const workspace = await server.workspace();
  const cases: [sent: Record<string, unknown>, exported?: Record<string, unknown>][] = [
    [{ first_name: "Ada" }],
    [{ last_name: "Lovelace" }],
    [{ home_city: "Zürich" }],
    [{ email: "Ada@Example.com" }],
    [{ phone: "+1 415 555 2671" }, { phone: "+14155552671" }],
    [{ gender: "F" }],
    [{ gender: "male" }, { gender: "M" }],
    [{ dob: "1915-12-10" }],
    [{ dob: "12/10/1915" }, { dob: "1915-12-10" }],
    [{ country: "GB" }],
    [{ country: "India" }, { country: "IN" }],
    [{ language: "en" }],
    [{ language: "en-GB" }, { language: "en" }],
    [{ time_zone: "Europe/Zurich" }],
    [{ time_zone: "Eastern Time (US & Canada)" }, { time_zone: "America/New_York" }],
    [
      { current_location: { longitude: -73.9, latitude: 40.7 } },
      { last_coordinates: [-73.9, 40.7] },
    ],
    [{ push_subscribe: "opted_in" }],
    [{ image_url: "https://example.com/ada.png" }],
    [{ email_open_tracking_disabled: true }],
    [{ email_click_tracking_disabled: true }],
    [
      { date_of_first_session: "2020-01-24T11:59:02.403+05:30" },
      { date_of_first_session: "2020-01-24T06:29:02.403Z" },
    ],
    [{ date_of_last_session: "2020-01-24" }, { date_of_last_session: "2020-01-24T00:00:00.000Z" }],
    [
      { marked_email_as_spam_at: "2020-01-24T11:59:02:403Z" },
      { marked_email_as_spam_at: "2020-01-24T11:59:02.403Z" },
    ],
    [{ facebook: { id: "1", likes: ["a"], num_friends: 3 } }],
    [{ twitter: { id: 1, screen_name: "ada" } }],
    [{ push_tokens: [{ app_id: WEB_APP, token: "token", device_id: "device-1" }] }],
  ];
  for (const [sent, exported = sent] of cases) {
    test(`${inWords(sent)} is read back as ${inWords(exported)}`, async () => {
      const [[sentName = ""] = [], [name = ""] = []] = [Object.keys(sent), Object.keys(exported)];
      await set(workspace, {});
      const missing = (await profileOf(workspace))[name];

      assert.equal((await set(workspace, sent)).body.errors, undefined);
      const profile = await profileOf(workspace);
      assert.deepEqual(profile[name], exported[name]);
      assert.notDeepEqual(profile[name], missing);
      assert.deepEqual(profile.custom_attributes, {});

      await set(workspace, { [sentName]: null });
      assert.deepEqual((await profileOf(workspace))[name], missing);
    });
  }

  test("attributes that a request does not name stay unchanged", async () => {
    const workspace = await server.workspace();
    await set(workspace, { first_name: "Ada", home_city: "London", plan: "pro", seats: 3 });
    await set(workspace, { home_city: "Paris", plan: "free" });
    const { first_name, home_city, custom_attributes } = await profileOf(workspace);
    assert.deepEqual([first_name, home_city], ["Ada", "Paris"]);
    assert.deepEqual(custom_attributes, { plan: "free", seats: 3 });
  });

  test("a standard attribute name in another case is a custom attribute", async () => {
    const workspace = await server.workspace();
    await set(workspace, { First_Name: "Ada", firstname: "Ada" });
    const { first_name, custom_attributes } = await profileOf(workspace);
    assert.equal(first_name, null);
    assert.deepEqual(custom_attributes, { First_Name: "Ada", firstname: "Ada" });
  });
});

describe("an invalid value is reported with its object and changes nothing", async () => {
  /** Each row leaves it as it was. */
  const workspace = await server.workspace();
  const cases: [sent: Record<string, unknown>, code: string][] = [
    [{ first_name: 5 }, "INVALID_ATTRIBUTE"],
    [{ last_name: "x".repeat(256) }, "INVALID_ATTRIBUTE"],
    [{ email: "not an address" }, "EMAIL_BAD_FORMAT"],
    [{ email: ["ada@example.com"] }, "EMAIL_BAD_FORMAT"],
    [{ phone: "9988123321" }, "INVALID_PHONE"],
    [{ gender: "X" }, "INVALID_ATTRIBUTE"],
    [{ dob: "2021-02-30" }, "INVALID_ATTRIBUTE"],
    [{ country: "Atlantis" }, "INVALID_ATTRIBUTE"],
    [{ language: "Klingonese" }, "INVALID_ATTRIBUTE"],
    [{ time_zone: "Mars/Olympus" }, "INVALID_ATTRIBUTE"],
    [{ current_location: { longitude: 181, latitude: 0 } }, "BAD_LOCATION_UPDATE"],
    [{ email_subscribe: "yes" }, "BAD_EMAIL_SUBSCRIPTION_STATE"],
    [{ email_subscribe: true }, "BAD_EMAIL_SUBSCRIPTION_STATE"],
    [{ push_subscribe: "no" }, "BAD_PUSH_SUBSCRIPTION_STATE"],
    [{ email_open_tracking_disabled: "true" }, "INVALID_ATTRIBUTE"],
    [{ date_of_first_session: "yesterday" }, "INVALID_ATTRIBUTE"],
    [{ twitter: { id: "@ada" } }, "INVALID_ATTRIBUTE"],
    [{ push_tokens: "token" }, "BAD_PUSH_TOKEN_VALUE"],
    [{ push_tokens: [{ app_id: "not-ours", token: "t" }] }, "BAD_PUSH_TOKEN_APP_ID"],
    [{ push_tokens: [{ app_id: WEB_APP, token: "" }] }, "BAD_PUSH_TOKEN_STRING"],
    [{ plan: "x".repeat(256) }, "VALUE_TOO_LONG"],
    [{ plan: { add: [null] } }, "INVALID_ATTRIBUTE"],
    [{ plan: { $add: [{ a: null }] } }, "INVALID_ATTRIBUTE"],
    [{ plan: { a: null }, _merge_objects: true }, "INVALID_ATTRIBUTE"],
    [{ plan: { "a.b": 1 } }, "INVALID_KEY"],
    [{ plan: { inc: 1.5 } }, "INVALID_ATTRIBUTE"],
    [{ plan: { add: "x" } }, "INVALID_ATTRIBUTE"],
    [{ plan: 2 ** 53 }, "NUMBER_NOT_EXACT"],
    [{ ["x".repeat(256)]: 1 }, "INVALID_KEY"],
    [{ $plan: 1 }, "INVALID_KEY"],
    [{ _update_existing_only: "false" }, "INVALID_FLAG"],
    [{ _update_existing_only: 0 }, "INVALID_FLAG"],
    [{ _merge_objects: 1 }, "INVALID_FLAG"],
  ];
  for (const [sent, code] of cases) {
    test(`${inWords(sent).slice(0, 70)} is refused with ${code}`, async () => {
      const answer = await workspace.track({
        attributes: [
          { ...ADA, before: 1 },
          { ...ADA, beside: 1, ...sent },
          { ...ADA, after: 1 },
        ],
      });
      assert.equal(answer.status, 201);
      const [error, ...others] = answer.body.errors ?? [];
      assert.deepEqual(others, []);
      assert.deepEqual([error?.code, error?.input_array, error?.index], [code, "attributes", 1]);
      const [name = ""] = Object.keys(sent);
      assert.ok(error?.message.includes(name.slice(0, 50)), error?.message);
      assert.deepEqual(await customOf(workspace), { before: 1, after: 1 });
    });
  }

  test("an operation that does not fit the stored value refuses its whole object", async () => {
    const workspace = await server.workspace();
    await set(workspace, { plan: "pro", tags: ["a"], big: Number.MAX_SAFE_INTEGER });
    const answer = await set(
      workspace,
      { beside: 1, plan: { inc: 1 } },
      { beside: 1, plan: { add: ["x"] } },
      { beside: 1, tags: { $add: [{ id: 1 }] } },
      { beside: 1, big: { inc: 1 } },
      { other: 1 },
    );
    assert.deepEqual(
      answer.body.errors?.map((error) => [error.index, error.code]),
      [
        [0, "NOT_A_NUMBER"],
        [1, "NOT_AN_ARRAY"],
        [2, "NOT_AN_ARRAY"],
        [3, "NUMBER_NOT_EXACT"],
      ],
    );
    const expected = { plan: "pro", tags: ["a"], big: Number.MAX_SAFE_INTEGER, other: 1 };
    assert.deepEqual(await customOf(workspace), expected);
  });

  test("a refused object creates no profile and sets no address", async () => {
    const workspace = await server.workspace();
    const answer = await workspace.track({
      attributes: [{ external_id: "eve", email: "eve@example.com", plan: { inc: "x" } }],
    });
    assert.equal(answer.status, 400);
    assert.deepEqual(await workspace.profiles({ external_ids: ["eve"] }), []);
    assert.deepEqual(await workspace.profiles({ email_address: "eve@example.com" }), []);
  });
});

describe("a custom attribute is stored with its type and value", async () => {
  /** Each row leaves it as it was. */
  const workspace = await server.workspace();
  const values: unknown[] = [
    "text",
    "",
    "ünïcödé \u{1f600}",
    "12",
    "true",
    "null",
    ["1", "true"],
    true,
    false,
    0,
    -7,
    3.25,
    Number.MAX_SAFE_INTEGER,
    ["a", "b"],
    [],
    [1, 2.5],
    "2020-01-24T11:59:02.403+05:30",
    { city: "London", deep: { er: [1, 2], on: false } },
    { when: { $time: "2020-01-24" } },
    [{ id: 1, name: "Gus" }, { id: 2 }],
    [{ fxa_lang: null }],
    { city: null, deep: { er: null, list: [null, 1], objects: [{ x: null }, null] } },
    [null],
  ];
  for (const value of values) {
    test(JSON.stringify(value), async () => {
      await set(workspace, { anything: value });
      assert.deepEqual(await customOf(workspace), { anything: value });
      await set(workspace, { anything: null });
      assert.deepEqual(await customOf(workspace), {});
    });
  }

  test("every key other than identifiers, standard attributes and flags is a custom attribute", async () => {
    const workspace = await server.workspace();
    const custom = { constructor: 1, toString: "x", "with space": 1, "with.dot": 2, _private: 3 };
    await set(workspace, { ...custom, _update_existing_only: false, _merge_objects: false });
    assert.deepEqual(await customOf(workspace), custom);
    const user_alias = { alias_name: "v1", alias_label: "web" };
    const one = { user_alias, ...custom, alias: "Bob", kind: "a", _update_existing_only: false };
    await workspace.track({ attributes: [one] });
    const { custom_attributes } = await workspace.profile({ user_aliases: [user_alias] });
    assert.deepEqual(custom_attributes, { ...custom, alias: "Bob", kind: "a" });
  });

  test("removing one attribute leaves the values of all others unchanged", async () => {
    const workspace = await server.workspace();
    const kept = {
      list: ["a", "", null],
      object: { empty: "", zero: 0, no: false, none: null, deep: [{ none: null }] },
      none: [],
    };
    await set(workspace, { ...kept, gone: 1, "also, gone": 1, "{gone}": 1, first_name: "Ada" });
    await workspace.track({
      attributes: [
        { ...ADA, gone: null, "also, gone": null, "{gone}": null, first_name: null, twitter: null },
        { external_id: "eve", gone: 1, list: 1 },
      ],
    });
    assert.deepEqual(await customOf(workspace), kept);
    assert.equal((await profileOf(workspace)).first_name, null);
    await workspace.track({
      attributes: [
        { ...ADA, list: null },
        { external_id: "eve", gone: null },
      ],
    });
    assert.deepEqual(await customOf(workspace), { object: kept.object, none: [] });
    const eve = await workspace.profile({ external_ids: ["eve"] });
    assert.deepEqual(eve.custom_attributes, { list: 1 });
  });

  test("a null inside a value costs neither the address nor the states of its object", async () => {
    const workspace = await server.workspace();
    const answer = await set(workspace, {
      email: "ada@example.com",
      email_subscribe: "opted_in",
      subscription_groups: [
        { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" },
      ],
      user_attributes_v1: [{ fxa_lang: null, created_date: { $time: "2026-01-01" } }],
    });
    assert.deepEqual(answer.body, { attributes_processed: 1, message: "success" });
    const { email, email_subscribe, custom_attributes } = await profileOf(workspace);
    assert.deepEqual([email, email_subscribe], ["ada@example.com", "opted_in"]);
    assert.deepEqual(custom_attributes, {
      user_attributes_v1: [{ fxa_lang: null, created_date: { $time: "2026-01-01" } }],
    });
  });
});

describe("an operation changes the stored value", () => {
  const GUS = { id: 1, name: "Gus", type: "dog" };
  const LIL = { id: 2, name: "Lil" };
  const cases: [what: string, before: unknown, sent: object, after: unknown][] = [
    ["inc adds", 5, { inc: 3 }, 8],
    ["inc takes away", 5, { inc: -7 }, -2],
    ["inc begins at 0", null, { inc: 2 }, 2],
    ["add appends", ["a"], { add: ["b", "c"] }, ["a", "b", "c"]],
    ["an array is stored as it was sent", null, ["b", "a", "b"], ["b", "a", "b"]],
    ["adding an element that is there changes nothing", ["a", "b"], { add: ["a"] }, ["a", "b"]],
    ["add makes the array", null, { add: ["a"] }, ["a"]],
    ["remove takes out", ["a", "b", "c"], { remove: ["a", "x"] }, ["b", "c"]],
    ["add and remove together", ["a", "b"], { add: ["c"], remove: ["a"] }, ["b", "c"]],
    ["an object replaces an object", { a: 1, b: 2 }, { a: 3 }, { a: 3 }],
    ["$add appends objects", [GUS], { $add: [LIL] }, [GUS, LIL]],
    [
      "$remove takes out all that match",
      [GUS, LIL, GUS],
      { $remove: [{ $identifier_key: "id", $identifier_value: 1 }] },
      [LIL],
    ],
    [
      "$update without merging replaces what matches",
      [GUS, LIL],
      {
        $update: [
          { $identifier_key: "id", $identifier_value: 1, $new_object: { id: 1, name: "Max" } },
        ],
      },
      [{ id: 1, name: "Max" }, LIL],
    ],
  ];
  for (const [what, before, sent, after] of cases) {
    test(what, async () => {
      const workspace = await server.workspace();
      await set(workspace, { it: before });
      await set(workspace, { it: sent });
      assert.deepEqual(await customOf(workspace), { it: after });
    });
  }

  test("_merge_objects merges nested objects at every depth, as a boolean or as a string", async () => {
    const workspace = await server.workspace();
    await set(workspace, { it: { a: 1, deep: { x: 1, list: [1, 2] } } });
    await set(workspace, { _merge_objects: true, it: { b: 2, deep: { y: 2, list: [3] } } });
    await set(workspace, { _merge_objects: "true", it: { c: 3 } });
    const it = { a: 1, b: 2, c: 3, deep: { x: 1, y: 2, list: [3] } };
    assert.deepEqual(await customOf(workspace), { it });
  });

  test("_merge_objects merges the new object of $update into every match", async () => {
    const workspace = await server.workspace();
    await set(workspace, { pets: [GUS, LIL] });
    const update = { $identifier_key: "id", $identifier_value: 1, $new_object: { age: 9 } };
    await set(workspace, { _merge_objects: true, pets: { $update: [update] } });
    assert.deepEqual(await customOf(workspace), { pets: [{ ...GUS, age: 9 }, LIL] });
  });

  test("a change of objects that matches none is applied and listed in skipped", async () => {
    const workspace = await server.workspace();
    const identify = (value: number) => ({ $identifier_key: "id", $identifier_value: value });
    const answer = await set(
      workspace,
      { pets: { $add: [LIL], $update: [{ ...identify(2), $new_object: { id: 2, age: 3 } }] } },
      { pets: { $update: [{ ...identify(3), $new_object: {} }] }, seen: true },
      { pets: { $remove: [identify(4), identify(5)] } },
    );
    assert.equal(answer.status, 201);
    assert.equal(answer.body.errors, undefined);
    assert.deepEqual(answer.body.skipped, [
      {
        message: "'pets.$update[0]' matches no object of the array",
        code: "NO_MATCHING_OBJECT",
        input_array: "attributes",
        index: 1,
      },
      {
        message: "'pets.$remove[0]' and 1 more match no object of the array",
        code: "NO_MATCHING_OBJECT",
        input_array: "attributes",
        index: 2,
      },
    ]);
    assert.deepEqual(await customOf(workspace), { pets: [{ id: 2, age: 3 }], seen: true });
  });

  test("objects of one request are applied in order, each to the result of the one before", async () => {
    const workspace = await server.workspace();
    await set(
      workspace,
      { count: 1, tags: ["a"], gone: 1 },
      { count: { inc: 5 }, tags: { add: ["b"] }, gone: null },
      { count: { inc: 10 }, tags: { remove: ["a"] }, gone: { inc: 4 } },
    );
    assert.deepEqual(await customOf(workspace), { count: 16, tags: ["b"], gone: 4 });
  });
});

describe("push tokens", () => {
  test("new push tokens are added to existing ones, and a repeated token keeps its device", async () => {
    const workspace = await server.workspace();
    await set(workspace, { push_tokens: [{ app_id: WEB_APP, token: "one" }] });
    const [first] = (await profileOf(workspace)).push_tokens;
    assert.match(first.device_id, /^\S{8,255}$/);
    await set(workspace, {
      push_tokens: [
        { app_id: WEB_APP, token: "one" },
        { app_id: WEB_APP, token: "two", device_id: "device-of-two" },
      ],
    });
    assert.deepEqual((await profileOf(workspace)).push_tokens, [
      first,
      { app_id: WEB_APP, token: "two", device_id: "device-of-two" },
    ]);
  });
});
