/*
 * Values that no well-meaning client sends, inside a body that is JSON: the object or the request is
 * refused with a 4xx that says why, or the value is plain data. Nothing is stripped or rounded in
 * silence, and nothing is a 5xx.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { type ItemNote, startServer } from "../../../harness.ts";

const server = await startServer();
const workspace = await server.workspace();

const TIME = "2026-01-01T12:00:00Z";
const EVENT = { external_id: "ada", name: "opened", time: TIME };

/** Sends a text unchanged, with credentials that the path accepts. */
const raw = (path: string, text: string, headers: Record<string, string> = {}) =>
  workspace.call<any>("POST", path, undefined, {
    raw: text,
    headers,
    ...(path.startsWith("/admin") && { key: server.adminToken }),
  });

/** Every place of a string, as a value or as a key, below a JSON value. */
function placesOfText(
  value: unknown,
  path: readonly (string | number)[] = [],
): (string | number)[][] {
  if (typeof value === "string") return [[...path]];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, member]) =>
    placesOfText(member, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

/** A copy with another text at one place. */
function withTextAt(value: any, [step, ...rest]: readonly (string | number)[], text: string): any {
  if (step === undefined) return text;
  const copy = Array.isArray(value) ? [...value] : { ...value };
  copy[step] = withTextAt(value[step], rest, text);
  return copy;
}

const UNSTORABLE = {
  "a NUL character": "a\0b",
  "a lone high surrogate": "a\ud83d",
  "a lone low surrogate": "\ude00b",
};

const RICH = {
  attributes: {
    external_id: "ada",
    first_name: "Ada",
    home_city: "London",
    email: "ada@example.com",
    phone: "+14155552671",
    dob: "1915-12-10",
    country: "GB",
    language: "en",
    time_zone: "UTC",
    gender: "F",
    image_url: "https://example.com",
    email_subscribe: "opted_in",
    date_of_first_session: TIME,
    facebook: { id: "1", likes: ["a"] },
    subscription_groups: [{ subscription_group_id: "x", subscription_state: "subscribed" }],
    push_tokens: [{ app_id: "x", token: "t", device_id: "12345678" }],
    custom: "text",
    list: ["a", "b"],
    nested: { deep: { er: "text" } },
    objects: [{ name: "a" }],
    added: { add: ["a"] },
    updated: { $update: [{ $identifier_key: "k", $identifier_value: "v", $new_object: {} }] },
  },
  events: { ...EVENT, app_id: "x", properties: { text: "a", list: [{ deep: "b" }] } },
  purchases: {
    user_alias: { alias_name: "a", alias_label: "b" },
    product_id: "p",
    currency: "EUR",
    price: 1,
    time: TIME,
    properties: { text: "a" },
  },
};

describe("text that no engine stores unchanged is refused", () => {
  for (const [array, object] of Object.entries(RICH)) {
    for (const [what, text] of Object.entries(UNSTORABLE)) {
      test(`${what} anywhere in ${array} refuses only that object, with INVALID_TEXT`, async () => {
        const places = placesOfText(object);
        for (const path of places) {
          const answer = await workspace.track({
            [array]: [withTextAt(object, path, text)],
            events: [...(array === "events" ? [withTextAt(object, path, text)] : []), EVENT],
          });
          assert.equal(answer.status, 201, path.join("."));
          assert.deepEqual(
            answer.body.errors?.map((error: ItemNote) => [
              error.input_array,
              error.index,
              error.code,
            ]),
            [[array, 0, "INVALID_TEXT"]],
            path.join("."),
          );
          const key = path.filter((step) => typeof step === "string").at(-1) ?? "";
          assert.ok(answer.body.errors?.[0]?.message.includes(String(key)), path.join("."));
        }
      });

      test(`${what} in a key of ${array} refuses that object with INVALID_TEXT`, async () => {
        const nested =
          array === "attributes" ? { x: { [text]: 1 } } : { properties: { [text]: 1 } };
        for (const bad of [{ [text]: 1 }, nested]) {
          const answer = await workspace.track({ [array]: [{ ...object, ...bad }] });
          assert.equal(answer.status, 400);
          assert.equal(answer.body.errors?.[0]?.code, "INVALID_TEXT");
        }
      });
    }
  }

  const wholes: [path: string, body: object][] = [
    ["/users/export/ids", { external_ids: ["TEXT"] }],
    ["/users/export/ids", { user_aliases: [{ alias_name: "TEXT", alias_label: "b" }] }],
    ["/users/export/ids", { user_aliases: [{ alias_name: "a", alias_label: "TEXT" }] }],
    ["/users/export/ids", { platform_ids: ["TEXT"] }],
    ["/users/export/ids", { email_address: "TEXT" }],
    ["/users/export/ids", { phone: "TEXT" }],
    ["/admin/v1/apply", { company: { name: "TEXT" }, workspaces: [] }],
    ["/admin/v1/apply", { company: { name: "Test" }, workspaces: [{ name: "TEXT" }] }],
  ];
  for (const [path, body] of wholes) {
    const where = JSON.stringify(body).slice(0, 70);
    test(`unstorable text in a request to ${path} is refused with INVALID_TEXT: ${where}`, async () => {
      for (const text of Object.values(UNSTORABLE)) {
        const sent = JSON.stringify(body).replace('"TEXT"', JSON.stringify(text));
        const answer = await raw(path, sent, { "idempotency-key": randomUUID() });
        assert.deepEqual([answer.status, answer.body.code], [400, "INVALID_TEXT"]);
      }
    });
  }

  test("a body of an administrator that is nested deeper than 100 levels is refused by the name of its field", async () => {
    for (const levels of [101, 3_000, 20_000]) {
      const deep = `${"[".repeat(levels)}${"]".repeat(levels)}`;
      const { status, body } = await raw("/admin/v1/apply", `{"workspaces": ${deep}}`);
      assert.deepEqual([status, body.code], [400, "NESTED_TOO_DEEP"]);
      assert.match(body.message, /^'workspaces' in the body: .* at most 100 levels deep/);
    }
  });

  test("a NUL character in a path is refused with INVALID_TEXT", async () => {
    for (const name of ["%00", "a%00b"]) {
      const answer = await server.admin("POST", `/admin/v1/workspaces/${name}/reset`);
      assert.deepEqual([answer.status, answer.body.code], [400, "INVALID_TEXT"]);
    }
  });
});

describe("excessive nesting", () => {
  const deep = (levels: number) => `${"[".repeat(levels)}1${"]".repeat(levels)}`;
  const deepObject = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  const inItems: Record<string, (value: string) => string> = {
    "an attribute": (value) => `{"attributes":[{"external_id":"a","deep":${value}}]}`,
    "the properties of an event": (value) =>
      `{"events":[{"external_id":"a","name":"n","time":"${TIME}","properties":{"a":${value}}}]}`,
    "an identifier": (value) => `{"attributes":[{"external_id":${value}}]}`,
    "an alias": (value) => `{"attributes":[{"user_alias":{"alias_name":${value}}}]}`,
  };
  for (const [where, wrap] of Object.entries(inItems)) {
    for (const levels of [10_000, 90_000]) {
      test(`${levels} nested levels in ${where} are refused with NESTED_TOO_DEEP`, async () => {
        for (const value of [deep(levels), deepObject(levels)]) {
          const { status, body } = await raw("/users/track", wrap(value));
          assert.deepEqual([status, body.errors[0].code], [400, "NESTED_TOO_DEEP"]);
        }
      });
    }
  }

  test("10,000 nested levels in place of an array or an object are refused with 400", async () => {
    for (const body of [`{"events":${deepObject(10_000)}}`, `{"events":[${deep(10_000)}]}`]) {
      assert.equal((await raw("/users/track", body)).status, 400);
    }
    for (const path of ["/users/export/ids", "/admin/v1/apply"]) {
      for (const value of [deep(10_000), deepObject(10_000)]) {
        const answer = await raw(path, `{"external_ids":${value},"company":${value}}`);
        assert.equal(answer.status, 400);
      }
    }
  });

  test("10,000 nested levels in an unknown field have no effect", async () => {
    const body = `{"partner":${deep(10_000)},"events":[${JSON.stringify(EVENT)}]}`;
    assert.equal((await raw("/users/track", body)).status, 201);
  });
});

describe("names with a meaning in JavaScript", () => {
  test("__proto__ is refused as a key with INVALID_KEY and never changes a prototype", async () => {
    const bad = '{"__proto__":{"polluted":true}}';
    const places = [
      `{"attributes":[{"external_id":"a","__proto__":{"polluted":true}}]}`,
      `{"attributes":[{"external_id":"a","x":${bad}}]}`,
      `{"attributes":[{"external_id":"a","x":{"$add":[${bad}]}}]}`,
      `{"events":[{"external_id":"a","name":"n","time":"${TIME}","properties":${bad}}]}`,
      `{"events":[{"external_id":"a","name":"n","time":"${TIME}","__proto__":{"polluted":true}}]}`,
    ];
    for (const body of places) {
      const answer = await raw("/users/track", body);
      assert.deepEqual([answer.status, answer.body.errors[0].code], [400, "INVALID_KEY"], body);
      assert.match(answer.body.errors[0].message, /__proto__/);
    }
    const beside = await raw("/users/track", `{"__proto__":{"events":[${JSON.stringify(EVENT)}]}}`);
    assert.equal(beside.status, 400);
    const inAdmin = await raw("/admin/v1/apply", bad);
    assert.equal(inAdmin.status, 400);
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
  });

  test("__proto__ is accepted as an id, an alias, an event name, a product id and a value", async () => {
    const of = await server.workspace();
    const name = "__proto__";
    const user_alias = { alias_name: name, alias_label: name };
    const answer = await of.track({
      attributes: [
        { external_id: name, x: name },
        { user_alias, _update_existing_only: false },
      ],
      events: [{ external_id: name, name, time: TIME }],
      purchases: [{ external_id: name, product_id: name, currency: "EUR", price: 1, time: TIME }],
    });
    assert.deepEqual([answer.status, answer.body.errors], [201, undefined]);
    const profile = await of.profile({ external_ids: [name] });
    assert.deepEqual(profile.custom_attributes, { x: name });
    assert.deepEqual([profile.custom_events[0].name, profile.purchases[0].name], [name, name]);
    assert.deepEqual((await of.profile({ user_aliases: [user_alias] })).user_aliases, [user_alias]);
  });

  test("constructor, toString and similar names are ordinary names", async () => {
    const names = ["constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "length"];
    const of = await server.workspace();
    const answer = await of.track({
      attributes: names.map((name) => ({ external_id: name, [name]: { [name]: name } })),
      events: names.map((name) => ({
        external_id: name,
        name,
        time: TIME,
        properties: { [name]: 1 },
      })),
      purchases: names.map((name) => ({
        external_id: name,
        product_id: name,
        currency: "EUR",
        price: 1,
        time: TIME,
      })),
    });
    assert.deepEqual([answer.status, answer.body.errors], [201, undefined]);
    for (const name of names) {
      const profile = await of.profile({ external_ids: [name] });
      assert.deepEqual(profile.custom_attributes, { [name]: { [name]: name } });
      assert.equal(profile.custom_events[0].name, name);
      assert.equal(profile.purchases[0].name, name);
    }
  });
});

describe("inexact numbers", () => {
  for (const number of ["9007199254740992", "-9007199254740992", "1e400", "-1e400", "1e300"]) {
    test(`the inexact number ${number} is refused in attributes, ids, properties and prices`, async () => {
      const places = [
        `{"attributes":[{"external_id":"a","n":${number}}]}`,
        `{"attributes":[{"external_id":"a","n":{"x":[${number}]}}]}`,
        `{"attributes":[{"external_id":"a","n":{"inc":${number}}}]}`,
        `{"attributes":[{"external_id":${number}}]}`,
        `{"events":[{"external_id":"a","name":"n","time":"${TIME}","properties":{"n":${number}}}]}`,
        `{"purchases":[{"external_id":"a","product_id":"p","currency":"EUR","price":${number},"time":"${TIME}"}]}`,
      ];
      for (const body of places) {
        const answer = await raw("/users/track", body);
        assert.deepEqual([answer.status, answer.body.errors[0].code], [400, "NUMBER_NOT_EXACT"]);
      }
    });
  }

  test("exact numbers are read back as sent", async () => {
    const of = await server.workspace();
    const numbers = { a: 9007199254740991, b: -9007199254740991, c: 0.1, d: 1e-7, e: 5e-324 };
    await of.track({ attributes: [{ external_id: "ada", ...numbers, nested: numbers }] });
    const ada = await of.profile({ external_ids: ["ada"] });
    assert.deepEqual(ada.custom_attributes, { ...numbers, nested: numbers });
  });
});

describe("a wrong type in any field", () => {
  const WRONG = [null, true, 0, -1.5, "", "text", "x".repeat(5_000), [], [[]], {}, { a: [null] }];
  for (const [array, object] of Object.entries(RICH)) {
    test(`a wrong type in ${array} is accepted or refused with the name of a field, and never causes a 5xx`, async () => {
      for (const field of Object.keys(object)) {
        const variants = WRONG.map((value) => ({ ...object, [field]: value }));
        const answer = await workspace.track({ [array]: variants });
        assert.ok(answer.status === 201 || answer.status === 400, `${field}: ${answer.status}`);
        for (const error of answer.body.errors ?? []) {
          assert.match(error.message, /'[a-z_]+[\w.[\]]*'|email/, error.message);
          assert.match(error.code, /^[A-Z][A-Z_]+$/);
        }
      }
    });
  }
});
