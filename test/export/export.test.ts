/*
 * POST /users/export/ids: how a write is read back (docs/decisions/export.md). The tests of merges
 * and imports show their effects on an export.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  alias,
  byAlias,
  id,
  makeUsers,
  many,
  refuses,
} from "../core/people/identity/identity-calls.ts";
import { startServer, type TestWorkspace, WEB_APP } from "../harness.ts";

const server = await startServer();

const EMAIL = "ada@example.com";
const PHONE = "+14155552671";

const exported = (workspace: TestWorkspace, body: unknown) =>
  workspace.call<any>("POST", "/users/export/ids", body);

/** The external ids of the users that an export finds, or else the names of their aliases. */
async function found(workspace: TestWorkspace, body: Record<string, unknown>): Promise<string[]> {
  const users = await workspace.profiles(body);
  return users.map((user) => user.external_id ?? user.user_aliases[0]?.alias_name).sort();
}

async function withPeople(): Promise<TestWorkspace> {
  const workspace = await server.workspace();
  await makeUsers(
    workspace,
    { ...id("ada"), email: EMAIL, phone: PHONE },
    { ...id("bob"), email: EMAIL.toUpperCase() },
    { ...byAlias("carol"), phone: PHONE },
    id("dan"),
  );
  return workspace;
}

describe("an export finds the users that its identifiers name", () => {
  test("an export finds users by external_id, alias, platform_id, email or phone, and all who share an address", async () => {
    const workspace = await withPeople();
    const { platform_id } = await workspace.profile({ external_ids: ["dan"] });
    const cases: [request: Record<string, unknown>, names: string[]][] = [
      [{ external_ids: ["ada", "dan"] }, ["ada", "dan"]],
      [{ external_ids: "ada" }, ["ada"]],
      [{ external_ids: ["dan"], user_aliases: null, phone: null, fields_to_export: null }, ["dan"]],
      [{ user_aliases: [alias("carol")] }, ["carol"]],
      [{ platform_ids: [platform_id] }, ["dan"]],
      [{ platform_id: platform_id.toUpperCase() }, ["dan"]],
      [{ email_address: "Ada@Example.com" }, ["ada", "bob"]],
      [{ phone: PHONE }, ["ada", "carol"]],
      [
        { external_ids: ["dan"], user_aliases: [alias("carol")], email_address: EMAIL },
        ["ada", "bob", "carol", "dan"],
      ],
    ];
    for (const [request, names] of cases) {
      assert.deepEqual(await found(workspace, request), names, JSON.stringify(request));
    }
  });

  test("an export returns a user once, however often the request names it", async () => {
    const workspace = await withPeople();
    const { platform_id } = await workspace.profile({ external_ids: ["ada"] });
    const request = { external_ids: ["ada", "ada"], platform_ids: [platform_id], phone: PHONE };
    assert.deepEqual(await found(workspace, request), ["ada", "carol"]);
  });

  test("an export lists identifiers that match no user in invalid_user_ids, exactly as sent", async () => {
    const workspace = await withPeople();
    const nobody = {
      external_ids: ["ada", "nobody", 5],
      user_aliases: [alias("nobody")],
      platform_ids: ["no id", "00000000-0000-4000-8000-000000000000"],
      email_address: "Nobody@Example.com",
      fields_to_export: ["external_id"],
    };
    assert.deepEqual((await exported(workspace, nobody)).body, {
      users: [id("ada")],
      invalid_user_ids: [
        "nobody",
        5,
        alias("nobody"),
        "no id",
        "00000000-0000-4000-8000-000000000000",
        "Nobody@Example.com",
      ],
      message: "success",
    });
  });

  test("an export finds only users of its own workspace", async () => {
    const [mine, other] = [await withPeople(), await server.workspace()];
    const { platform_id } = await mine.profile({ external_ids: ["ada"] });
    const request = { external_ids: ["ada"], platform_ids: [platform_id], email_address: EMAIL };
    const { body } = await exported(other, request);
    assert.deepEqual([body.users, body.invalid_user_ids.length], [[], 3]);
  });
});

describe("the fields of an export", () => {
  const ON_REQUEST = [
    "merged_ids",
    "message_history",
    "recent_activity",
    "attributed_campaign",
    "attributed_source",
    "attributed_adgroup",
    "attributed_ad",
    "push_opted_in_at",
    "uninstalled_at",
  ];
  /** Every field that is publicly known, in the order of the public list. */
  const PUBLICLY_KNOWN = [
    "created_at",
    "external_id",
    "user_aliases",
    "braze_id",
    "random_bucket",
    "first_name",
    "last_name",
    "email",
    "dob",
    "home_city",
    "country",
    "phone",
    "language",
    "time_zone",
    "last_coordinates",
    "gender",
    "total_revenue",
    "attributed_campaign",
    "attributed_source",
    "attributed_adgroup",
    "attributed_ad",
    "push_subscribe",
    "push_opted_in_at",
    "email_subscribe",
    "custom_attributes",
    "custom_events",
    "purchases",
    "devices",
    "push_tokens",
    "apps",
    "campaigns_received",
    "canvases_received",
    "cards_clicked",
    "uninstalled_at",
  ];

  test("an export has exactly the fields in fields_to_export, null or empty if nothing is known", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [{ email: EMAIL }] });
    const request = { email_address: EMAIL, fields_to_export: PUBLICLY_KNOWN };
    const { braze_id, created_at, random_bucket, ...rest } = await workspace.profile(request);
    assert.match(braze_id, /^[0-9a-f-]{36}$/);
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(Number.isInteger(random_bucket) && random_bucket >= 0 && random_bucket < 10_000);
    assert.deepEqual(rest, {
      external_id: null,
      user_aliases: [],
      first_name: null,
      last_name: null,
      email: EMAIL,
      dob: null,
      home_city: null,
      country: null,
      phone: null,
      language: null,
      time_zone: null,
      last_coordinates: null,
      gender: null,
      total_revenue: 0,
      attributed_campaign: null,
      attributed_source: null,
      attributed_adgroup: null,
      attributed_ad: null,
      push_subscribe: "subscribed",
      push_opted_in_at: null,
      email_subscribe: "subscribed",
      custom_attributes: {},
      custom_events: [],
      purchases: [],
      devices: [],
      push_tokens: [],
      apps: [],
      campaigns_received: [],
      canvases_received: [],
      cards_clicked: [],
      uninstalled_at: null,
    });
  });

  test("an export without fields_to_export has every field except those shown only on request", async () => {
    const workspace = await withPeople();
    const user = await workspace.profile({ external_ids: ["ada"] });
    const names = Object.keys(user);
    assert.deepEqual(
      PUBLICLY_KNOWN.filter((name) => !names.includes(name)).sort(),
      ON_REQUEST.filter((name) => PUBLICLY_KNOWN.includes(name)).sort(),
    );
    assert.deepEqual(
      names.filter((name) => ON_REQUEST.includes(name)),
      [],
    );
    assert.equal(user.platform_id, user.braze_id);
    const asked = { external_ids: ["ada"], fields_to_export: [...names, ...ON_REQUEST] };
    const all = await workspace.profile(asked);
    assert.deepEqual(Object.keys(all), [...names, ...ON_REQUEST]);
  });

  test("an empty list of fields_to_export is none", async () => {
    const workspace = await withPeople();
    const user = await workspace.profile({ external_ids: ["ada"] });
    const asked = { external_ids: ["ada"], fields_to_export: [] };
    assert.deepEqual(await workspace.profile(asked), user);
  });

  test("an export covers all time, including events and purchases of long ago", async () => {
    const workspace = await server.workspace();
    const time = "2001-02-03T04:05:06.007Z";
    const purchase = { product_id: "p", currency: "EUR", price: 2, quantity: 3, time };
    await workspace.track({
      events: [{ ...id("ada"), name: "e", time, app_id: WEB_APP }],
      purchases: [{ ...id("ada"), ...purchase }],
    });
    const { custom_events, purchases, total_revenue } = await workspace.profile({
      external_ids: ["ada"],
    });
    assert.deepEqual(custom_events, [{ name: "e", first: time, last: time, count: 1 }]);
    assert.deepEqual(purchases, [{ name: "p", first: time, last: time, count: 3 }]);
    assert.equal(total_revenue, 6);
  });
});

describe("refused exports", () => {
  test("an export accepts 50 identifiers of each kind and refuses 51", async () => {
    const workspace = await server.workspace();
    const lists: Record<string, unknown[]> = {
      external_ids: many(51, (index) => `u${index}`),
      user_aliases: many(51, (index) => alias(`u${index}`)),
      platform_ids: many(51, (index) => `u${index}`),
    };
    for (const [kind, list] of Object.entries(lists)) {
      const over = exported(workspace, { [kind]: list });
      await refuses(over, "The max number of ids per request was exceeded");
      const { status, body } = await exported(workspace, { [kind]: list.slice(1) });
      assert.deepEqual([status, body.invalid_user_ids.length], [201, 50]);
    }
  });

  test("an export without any identifier, or with both an email and a phone, is refused", async () => {
    const workspace = await withPeople();
    const nothing = { external_ids: null, user_aliases: null, phone: null };
    for (const body of [{}, nothing, { external_ids: [] }, { fields_to_export: ["email"] }]) {
      await refuses(exported(workspace, body), /^'external_ids', .* or 'phone' is required$/);
    }
    const both = { email_address: EMAIL, phone: PHONE };
    await refuses(exported(workspace, both), /^Only one of 'email_address' and 'phone'/);
  });

  test("an export refuses an invalid value with the name of the field", async () => {
    const workspace = await withPeople();
    const cases: [body: object, message: RegExp][] = [
      [{ external_ids: [true] }, /'external_ids\[0\]' must be/],
      [{ user_aliases: [{ alias_name: "carol" }] }, /'user_aliases\[0\]\.alias_label' is required/],
      [{ email_address: "ada" }, /'email' field is not a valid email/],
      [{ phone: "5552671" }, /'phone' is not valid/],
      [{ external_ids: ["ada"], fields_to_export: "email" }, /'fields_to_export' must be an array/],
      [
        { external_ids: ["ada"], fields_to_export: ["x"] },
        /'fields_to_export\[0\]' must be one of/,
      ],
    ];
    for (const [body, message] of cases) await refuses(exported(workspace, body), message);
  });

  test("an export refuses an id sent as an inexact number, which could match another user", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("9007199254740992"));
    for (const kind of ["external_ids", "platform_ids"]) {
      const raw = `{"${kind}":[9007199254740993]}`;
      const sent = workspace.call<any>("POST", "/users/export/ids", undefined, { raw });
      const { code } = (await refuses(
        sent,
        /^'\w+\[0\]' is not valid: .* an id as a string$/,
      )) as any;
      assert.equal(code, "NUMBER_NOT_EXACT");
    }
  });
});

test("an alias name that is a number is read as a string, as in every other call", async () => {
  const workspace = await server.workspace();
  const user_alias = { alias_name: 4711, alias_label: "l" };
  await workspace.track({ attributes: [{ user_alias, seen: 1, _update_existing_only: false }] });
  const { body } = await exported(workspace, { user_aliases: [user_alias] });
  assert.deepEqual(body.users[0]?.user_aliases, [alias("4711")]);
});
