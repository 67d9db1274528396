/* The meaning of a filter's conditions: for each the users who meet it (docs/segments.md). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ALERTS, NEWSLETTER, startServer, WEB_APP } from "../harness.ts";
import { ask, declare, membersOf, succeeds } from "../segment-calls.ts";

const server = await startServer();
const workspace = await server.workspace();

const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

const SEGMENT = "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11";

await succeeds(
  workspace.track({
    attributes: [
      {
        external_id: "ada",
        email: "Ada@Example.com",
        first_name: "Ada",
        country: "DE",
        dob: "1990-12-31",
        email_subscribe: "opted_in",
        push_subscribe: "opted_in",
        plan: "pro",
        score: 10,
        vip: true,
        tags: ["a", "b", 3],
        renewal: daysAgo(-10),
        signed: "12/31/2025",
        address: { city: "Berlin", zip: 10115, since: { $time: "2020-01-01" } },
        subscription_groups: [
          { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" },
          { subscription_group_id: ALERTS, subscription_state: "unsubscribed" },
        ],
      },
      {
        external_id: "bob",
        email: "bob@example.org",
        country: "FR",
        email_subscribe: "unsubscribed",
        plan: "free",
        score: -2.5,
        vip: false,
        tags: ["b"],
        renewal: daysAgo(40),
        "address.city": "Paris",
        subscription_groups: [
          { subscription_group_id: NEWSLETTER, subscription_state: "unsubscribed" },
        ],
      },
      {
        external_id: "cyd",
        plan: 5,
        score: "10",
        email_subscribe: "unsubscribed",
        home: { town: null, rooms: [null, "kitchen"] },
      },
      { external_id: "dan", email: "dan@example.com", score: 10 },
    ],
    events: [
      { external_id: "ada", name: "signed_up", time: daysAgo(100) },
      { external_id: "ada", name: "opened", time: daysAgo(1), properties: { page: "home", n: 1 } },
      { external_id: "ada", name: "opened", time: daysAgo(2), properties: { page: "shop", n: 2 } },
      { external_id: "ada", name: "opened", time: daysAgo(20), properties: { page: "shop", n: 3 } },
      { external_id: "bob", name: "opened", time: daysAgo(25) },
    ],
    purchases: [
      purchase("ada", "tea", "EUR", 10.1, 3, 1),
      purchase("ada", "cup", "USD", 5, 1, 50),
      purchase("bob", "tea", "EUR", 0.2, 1, 5),
    ],
  }),
);
await succeeds(
  server.admin("POST", `/admin/v1/workspaces/${workspace.name}/import`, {
    users: [
      {
        external_id: "bob",
        apps: [{ app_id: WEB_APP, sessions: 7, first_used: daysAgo(60), last_used: daysAgo(3) }],
        devices: [{ device_id: "phone", os: "iOS 18" }],
      },
    ],
  }),
);

function purchase(
  user: string,
  product_id: string,
  currency: string,
  price: number,
  quantity: number,
  days: number,
) {
  return { external_id: user, product_id, currency, price, quantity, time: daysAgo(days) };
}

const ALL = ["ada", "bob", "cyd", "dan"];
const allBut = (...names: string[]) => ALL.filter((name) => !names.includes(name));

type Case = [filter: Record<string, unknown>, users: string[]];

const CASES: Readonly<Record<string, readonly Case[]>> = {
  "a standard attribute": [
    [{ attribute: "country", equals: "DE" }, ["ada"]],
    [{ attribute: "country", not_equals: "DE" }, allBut("ada")],
    [{ attribute: "country", one_of: ["DE", "FR"] }, ["ada", "bob"]],
    [{ attribute: "country", none_of: ["DE", "ES"] }, allBut("ada")],
    [{ attribute: "first_name", starts_with: "A", contains: "d" }, ["ada"]],
    [{ attribute: "first_name", exists: false }, allBut("ada")],
    [{ attribute: "external_id", equals: "cyd" }, ["cyd"]],
    [{ attribute: "email", equals: "ADA@example.COM" }, ["ada"]],
    [{ attribute: "email", contains: "@example." }, ["ada", "bob", "dan"]],
    [{ attribute: "email", exists: false }, ["cyd"]],
    [{ attribute: "dob", day_of_year: "12-31" }, ["ada"]],
    [{ attribute: "dob", before: "1991-01-01" }, ["ada"]],
    [{ attribute: "created_at", in_last_days: 1 }, ALL],
    [{ attribute: "updated_at", before: "2020-01-01" }, []],
    [{ attribute: "random_bucket", at_least: 0, at_most: 9_999 }, ALL],
  ],
  "a custom attribute": [
    [{ custom_attribute: "plan", equals: "pro" }, ["ada"]],
    [{ custom_attribute: "plan", equals: 5 }, ["cyd"]],
    [{ custom_attribute: "plan", not_equals: "pro" }, allBut("ada")],
    [{ custom_attribute: "plan", one_of: ["free", 5] }, ["bob", "cyd"]],
    [{ custom_attribute: "plan", exists: true }, allBut("dan")],
    [{ custom_attribute: "score", equals: 10 }, ["ada", "dan"]],
    [{ custom_attribute: "score", less_than: 0 }, ["bob"]],
    [{ custom_attribute: "score", more_than: -2.5, at_most: 10 }, ["ada", "dan"]],
    [{ custom_attribute: "vip", equals: false }, ["bob"]],
    [{ custom_attribute: "tags", includes: "b" }, ["ada", "bob"]],
    [{ custom_attribute: "tags", includes_all: ["a", 3] }, ["ada"]],
    [{ custom_attribute: "tags", includes_any: [3, "x"] }, ["ada"]],
    [{ custom_attribute: "tags", equals: "b" }, []],
    [{ custom_attribute: "address.city", equals: "Berlin" }, ["ada"]],
    [{ custom_attribute: "address.city", equals: "Paris" }, ["bob"]],
    [{ custom_attribute: "address.zip.more", exists: true }, []],
    [{ custom_attribute: "address.since", before: "2020-01-02" }, ["ada"]],
    // A null is no value.
    [{ custom_attribute: "home", exists: true }, ["cyd"]],
    [{ custom_attribute: "home.town", exists: true }, []],
    [{ custom_attribute: "home.town", exists: false }, ALL],
    [{ custom_attribute: "home.town", not_equals: "Berlin" }, ALL],
    [{ custom_attribute: "home.town", one_of: ["Berlin"] }, []],
    [{ custom_attribute: "home.rooms", includes: "kitchen" }, ["cyd"]],
    [{ custom_attribute: "renewal", in_next_days: 11 }, ["ada"]],
    [{ custom_attribute: "renewal", more_than_days_ago: 39 }, ["bob"]],
    [{ custom_attribute: "signed", after: "2025-12-30" }, ["ada"]],
    [{ custom_attribute: "signed", before: "2025-12-31" }, []],
    [{ not: { custom_attribute: "signed", after: "2025-12-30" } }, allBut("ada")],
    [{ custom_attribute: "signed", day_of_year: "12-31" }, ["ada"]],
  ],
  "an event": [
    [{ event: "opened" }, ["ada", "bob"]],
    [{ event: "opened", at_least: 3 }, ["ada"]],
    [{ event: "opened", exactly: 0 }, ["cyd", "dan"]],
    [{ event: "opened", at_most: 1 }, allBut("ada")],
    [{ event: "opened", exactly: 2, in_last_days: 3 }, ["ada"]],
    [{ event: "opened", in_last_days: 30 }, ["ada", "bob"]],
    [{ event: "opened", at_most: 0, in_last_days: 10 }, allBut("ada")],
    [{ event: "opened", where: { property: "page", equals: "shop" }, exactly: 2 }, ["ada"]],
    [{ event: "opened", where: { property: "n", at_least: 2 }, in_last_days: 7 }, ["ada"]],
    [{ event: "opened", where: { property: "n", at_least: 3 }, in_last_days: 7 }, []],
    [{ event: "signed_up", last: { more_than_days_ago: 99 } }, ["ada"]],
    [{ event: "opened", first: { in_last_days: 30 }, last: { in_last_days: 5 } }, ["ada"]],
  ],
  "purchases and money": [
    [{ purchases: "any" }, ["ada", "bob"]],
    [{ purchases: "any", at_least: 4 }, ["ada"]],
    [{ purchases: "tea", exactly: 1 }, ["bob"]],
    [{ purchases: "tea", at_least: 3, in_last_days: 7 }, ["ada"]],
    [{ purchases: "any", last: { more_than_days_ago: 4 } }, ["bob"]],
    [{ money_spent: "EUR", at_least: 30.3 }, ["ada"]],
    [{ money_spent: "EUR", more_than: 30.3 }, []],
    [{ money_spent: "any", less_than: 0.3 }, allBut("ada")],
    [{ money_spent: "USD", at_least: 5, in_last_days: 30 }, []],
    [{ money_spent: "any", at_least: 0.2, at_most: 30.3, in_last_days: 10 }, ["ada", "bob"]],
  ],
  "sessions and devices": [
    [{ sessions: "any" }, ["bob"]],
    [{ sessions: WEB_APP, exactly: 7, last: { in_last_days: 5 } }, ["bob"]],
    [{ sessions: "any", at_most: 0 }, allBut("bob")],
    [{ device: "ios" }, ["bob"]],
    [{ device: "Web" }, ["bob"]],
    [{ device: "android" }, []],
  ],
  "subscriptions and reachability": [
    [{ subscription_group: NEWSLETTER, is: "subscribed" }, ["ada"]],
    [{ subscription_group: NEWSLETTER, is: "unsubscribed" }, ["bob"]],
    [{ subscription_group: NEWSLETTER, is: "unknown" }, ["cyd", "dan"]],
    [{ email_subscription: "opted_in" }, ["ada"]],
    [{ email_subscription: "unsubscribed" }, ["bob", "cyd"]],
    [{ email_subscription: "subscribed" }, ["dan"]],
    [{ not: { email_subscription: "unsubscribed" } }, ["ada", "dan"]],
    [{ push_subscription: "opted_in" }, ["ada"]],
    [{ push_subscription: "subscribed" }, allBut("ada")],
    [{ email_available: true }, ["ada", "dan"]],
    [{ email_available: false }, ["bob", "cyd"]],
  ],
  "conditions together": [
    [{ all: [{ event: "opened" }, { email_available: true }] }, ["ada"]],
    [{ any: [{ event: "signed_up" }, { email_available: false }] }, ["ada", "bob", "cyd"]],
    [{ not: { any: [{ event: "opened" }, { custom_attribute: "plan", equals: 5 }] } }, ["dan"]],
    [{ all: [{ not: { email_available: true } }, { not: { event: "opened" } }] }, ["cyd"]],
  ],
};

describe("the users who meet a filter", () => {
  for (const [subject, cases] of Object.entries(CASES)) {
    test(`a filter on ${subject} finds exactly the users who meet it`, async () => {
      for (const [filter, users] of cases) {
        assert.deepEqual(await membersOf(server, workspace, filter), users, JSON.stringify(filter));
        const { body } = await ask(server, workspace, "count", { filter });
        assert.deepEqual(
          { ...body, description: "", message: "" },
          {
            total: ALL.length,
            matching: users.length,
            low: users.length,
            high: users.length,
            exact: true,
            description: "",
            message: "",
          },
          JSON.stringify(filter),
        );
      }
    });
  }

  test("users created through the API have no sessions, so a segment by session count leaves them out", async () => {
    assert.deepEqual(await membersOf(server, workspace, { sessions: "any", at_least: 1 }), ["bob"]);
  });

  test("after a merge, a segment by X times in Y days counts the activity of both users", async () => {
    const merged = await server.workspace();
    const opened = (external_id: string, days: number) => ({
      external_id,
      name: "opened",
      time: daysAgo(days),
    });
    await succeeds(
      merged.track({
        events: [opened("one", 1), opened("one", 40), opened("two", 2), opened("two", 3)],
      }),
    );
    const thrice = { event: "opened", exactly: 3, in_last_days: 7 };
    assert.deepEqual(await membersOf(server, merged, thrice), []);
    await succeeds(
      merged.call("POST", "/users/merge", {
        merge_updates: [
          {
            identifier_to_merge: { external_id: "two" },
            identifier_to_keep: { external_id: "one" },
          },
        ],
      }),
    );
    assert.deepEqual(await membersOf(server, merged, thrice), ["one"]);
    assert.deepEqual(await membersOf(server, merged, { event: "opened", exactly: 4 }), ["one"]);
  });

  test("a filter can name a segment, which can be removed only when nothing names it", async () => {
    const segments = await server.workspace();
    await succeeds(segments.track({ attributes: [{ external_id: "eve", vip: true }] }));
    const vip = { name: "VIP", filter: { custom_attribute: "vip", equals: true } };
    await succeeds(declare(server, segments, SEGMENT, vip));
    const outer = "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c12";
    await succeeds(
      declare(server, segments, outer, { name: "Outer", filter: { in_segment: SEGMENT } }),
    );
    assert.deepEqual(await membersOf(server, segments, { in_segment: SEGMENT }), ["eve"]);
    const nested = await ask(server, segments, "count", { filter: { in_segment: outer } });
    assert.equal(nested.status, 400);
    assert.match(
      nested.body.message,
      /^'filter\.in_segment' names Outer, which itself has in_segment/,
    );
    const path = `/admin/v1/workspaces/${segments.name}/segments`;
    const refused = await server.admin("DELETE", `${path}/${SEGMENT}`);
    assert.deepEqual(
      [refused.status, refused.body.message],
      [409, "The segment 'Outer' refers to it with 'in_segment'."],
    );
    await succeeds(server.admin("DELETE", `${path}/${outer}`));
    await succeeds(server.admin("DELETE", `${path}/${SEGMENT}`));
    assert.equal((await ask(server, segments, "count", { segment_id: SEGMENT })).status, 404);
  });

  test("a filter is explained for a user, condition by condition", async () => {
    const { platform_id } = await workspace.profile({ external_ids: ["bob"] });
    const filter = { all: [{ event: "opened" }, { email_available: true }] };
    const { body } = await ask(server, workspace, "explain", { filter, user_id: platform_id });
    assert.deepEqual(body, {
      is_member: false,
      conditions: [
        { condition: "did opened at least 1 time", holds: true },
        { condition: "can receive email", holds: false },
      ],
      message: "success",
    });
  });
});

describe("a filter that cannot be read", () => {
  const leaf = { attribute: "country", equals: "DE" };
  const nested = (levels: number): object => (levels === 0 ? leaf : { not: nested(levels - 1) });
  const refusals: [filter: unknown, message: RegExp][] = [
    [{}, /^'filter' must have one subject: attribute, custom_attribute, event/],
    [{ attribute: "country", event: "x" }, /^'filter' must have one subject/],
    [{ attribute: "shoe", equals: 1 }, /^'filter.attribute' must be one of external_id, /],
    [{ attribute: "email_subscribe", equals: "x" }, /has its own subject: email_subscription/],
    [{ attribute: "country" }, /^'filter' needs a comparator: equals, /],
    [{ attribute: "country", more_than: 5 }, /^'filter.more_than' is no comparator here: equals, /],
    [
      { attribute: "current_location", equals: "x" },
      /^'filter.equals' is no comparator here: exists/,
    ],
    [{ attribute: "country", one_of: [] }, /^'filter.one_of' must be a list of 1 to 1000 values/],
    [
      { attribute: "country", one_of: Array(1_001).fill("x") },
      /must be a list of 1 to 1000 values/,
    ],
    [{ attribute: "country", one_of: [null] }, /^'filter.one_of\[0\]' must be a text/],
    [{ attribute: "dob", before: "soon" }, /^'filter.before' must be a time in ISO 8601/],
    [{ attribute: "dob", day_of_year: "13-01" }, /^'filter.day_of_year' must be a month and a day/],
    [{ custom_attribute: "", equals: 1 }, /^'filter.custom_attribute' must be the name/],
    [
      { event: "x", in_last_days: 31 },
      /^'filter.in_last_days' must be a whole number from 1 to 30/,
    ],
    [{ event: "x", at_least: 51, in_last_days: 5 }, /^'filter.at_least' must be .* from 0 to 50/],
    [{ event: "x", often: 5 }, /^'filter.often' is no comparator here: at_least/],
    [{ event: "x", where: { equals: 1 } }, /^'filter.where.property' must be the name/],
    [{ event: "x", first: { equals: 1 } }, /^'filter.first.equals' is no comparator here: before/],
    [{ sessions: "any", in_last_days: 5 }, /^'filter.in_last_days' does not fit this subject/],
    [{ sessions: "no-app" }, /^'filter.sessions' must be 'any' or the id of an app/],
    [{ money_spent: "EUR" }, /^'filter' needs a comparator: at_least/],
    [
      { subscription_group: SEGMENT, is: "subscribed" },
      /must be the id of a group of this workspace/,
    ],
    [{ subscription_group: NEWSLETTER, is: "in" }, /^'filter.is' must be one of subscribed, /],
    [{ in_segment: SEGMENT }, /^'filter.in_segment' must be the id of a segment of this workspace/],
    [{ all: [] }, /^'filter.all' must be a list of 1 to 50 filters/],
    [{ all: [leaf, { any: [leaf, { attribute: "dob" }] }] }, /^'filter.all\[1\].any\[1\]' needs/],
    [{ all: [leaf], any: [leaf] }, /^'filter' must have 'all', 'any' or 'not' alone/],
    [{ not: leaf, equals: 1 }, /^'filter' must have 'all', 'any' or 'not' alone/],
    [nested(6), /^'filter(\.not){5}' has more than 5 levels/],
    [
      { all: [{ any: Array(50).fill(leaf) }, leaf] },
      /^'filter.all\[1\]' is one of more than 50 conditions/,
    ],
  ];

  test("a filter that cannot be read is refused with 400 and the place of the fault", async () => {
    for (const [filter, message] of refusals) {
      const { status, body } = await ask(server, workspace, "count", { filter });
      assert.equal(status, 400, JSON.stringify(filter).slice(0, 200));
      assert.match(body.message, message);
    }
  });

  test("a filter of 50 conditions in 5 levels is accepted", async () => {
    const filter = { all: [nested(4), { any: Array(49).fill(leaf) }] };
    assert.equal((await ask(server, workspace, "count", { filter })).status, 200);
  });

  test("a request names either a filter or a segment", async () => {
    for (const body of [{}, { filter: leaf, segment_id: SEGMENT }]) {
      const { status, body: refusal } = await ask(server, workspace, "count", body);
      assert.deepEqual(
        [status, refusal.message],
        [400, "Either 'filter' or 'segment_id' must be given."],
      );
    }
  });

  test("a segment with a filter that cannot be read is refused, by name", async () => {
    const segment = { name: "Wrong", filter: { event: "x", often: 1 } };
    const { status, body } = await declare(server, workspace, SEGMENT, segment);
    assert.equal(status, 400);
    assert.match(body.message, /^The segment 'Wrong': 'filter.often' is no comparator here/);
  });

  test("nothing of a filter becomes SQL", async () => {
    const hostile = ["'; drop table profiles; --", '"', "$1", "\\", "%", "a.b.c'--"];
    for (const text of hostile) {
      const filters = [
        { custom_attribute: text, equals: text },
        { event: text, where: { property: text, contains: text } },
        { attribute: "country", one_of: [text] },
      ];
      for (const filter of filters) {
        assert.deepEqual(await membersOf(server, workspace, filter), [], JSON.stringify(filter));
      }
    }
  });
});
