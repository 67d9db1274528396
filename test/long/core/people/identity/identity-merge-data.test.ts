/*
 * The result of merging two users, line by line of the specification's merge behaviour, on rows
 * that were tracked, read back with an export. identity-merge-engagement.test.ts has the data that
 * only an import writes, combine.test.ts the rule itself.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  byAlias,
  countsOf,
  id,
  makeUsers,
  merge,
  succeeds,
  userOf,
} from "../../../../core/people/identity/identity-calls.ts";
import {
  EARLY,
  LATE,
  MIDDLE,
  make,
  merged,
  workspaceWithApps,
} from "../../../../core/people/identity/merged-users.ts";
import { ALERTS, NEWSLETTER, startServer } from "../../../../harness.ts";

const server = await startServer();

describe("a merge fills missing fields of the kept user and never overwrites existing ones", () => {
  const fields: [field: string, own: unknown, other: unknown][] = [
    ["first_name", "Ada", "Grace"],
    ["last_name", "Lovelace", "Hopper"],
    ["email", "ada@example.com", "grace@example.com"],
    ["gender", "F", "M"],
    ["dob", "1915-12-10", "1906-12-09"],
    ["phone", "+14155552671", "+14155552672"],
    ["time_zone", "Europe/London", "America/New_York"],
    ["home_city", "London", "New York"],
    ["country", "GB", "US"],
    ["language", "en", "fr"],
  ];
  for (const [field, own, other] of fields) {
    test(field, async () => {
      const taken = await merged(server, {}, { attributes: { [field]: other } });
      assert.deepEqual(taken[field], other);
      const kept = await merged(
        server,
        { attributes: { [field]: own } },
        { attributes: { [field]: other } },
      );
      assert.deepEqual(kept[field], own);
    });
  }
});

test("a merge keeps the kept user's custom attributes and adds missing ones", async () => {
  const user = await merged(
    server,
    { attributes: { plan: "own", nested: { a: 1 } } },
    { attributes: { plan: "other", nested: { b: 2 }, list: ["x"], seats: 3 } },
  );
  const custom = { plan: "own", nested: { a: 1 }, list: ["x"], seats: 3 };
  assert.deepEqual(user.custom_attributes, custom);
});

test("a merge keeps the earlier first session and the later last session", async () => {
  const dates = (first: string, last: string) => ({
    attributes: { date_of_first_session: first, date_of_last_session: last },
  });
  const outer = await merged(server, dates(MIDDLE, MIDDLE), dates(EARLY, LATE));
  assert.deepEqual([outer.date_of_first_session, outer.date_of_last_session], [EARLY, LATE]);
  const inner = await merged(server, dates(EARLY, LATE), dates(MIDDLE, MIDDLE));
  assert.deepEqual([inner.date_of_first_session, inner.date_of_last_session], [EARLY, LATE]);
});

test("a merge combines custom events: it adds up counts and keeps the earliest and latest dates", async () => {
  const at = (name: string, time: string) => ({ name, time, properties: { a: 1 } });
  const user = await merged(
    server,
    { events: [at("both", MIDDLE), at("own", MIDDLE)] },
    { events: [at("both", EARLY), at("both", LATE), at("other", EARLY)] },
  );
  assert.deepEqual(user.custom_events, [
    { name: "both", first: EARLY, last: LATE, count: 3 },
    { name: "other", first: EARLY, last: EARLY, count: 1 },
    { name: "own", first: MIDDLE, last: MIDDLE, count: 1 },
  ]);
});

test("a merge combines purchases: it adds up counts and amounts and keeps the earliest and latest dates", async () => {
  const bought = (product_id: string, price: number, time: string, quantity = 1) => ({
    product_id,
    currency: "USD",
    price,
    time,
    quantity,
  });
  const user = await merged(
    server,
    { purchases: [bought("both", 0.1, MIDDLE), bought("own", 5, MIDDLE)] },
    { purchases: [bought("both", 0.2, EARLY, 2), bought("both", 0.05, LATE)] },
  );
  assert.deepEqual(user.purchases, [
    { name: "both", first: EARLY, last: LATE, count: 4 },
    { name: "own", first: MIDDLE, last: MIDDLE, count: 1 },
  ]);
  assert.equal(user.total_revenue, 5.55);
  assert.deepEqual(user.revenue_by_currency, { USD: 5.55 });
});

test("after a merge, counts and spending of the last Y days include the merged user's activity", async () => {
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000 + 3_600_000).toISOString();
  const opened = (days: number) => ({ name: "opened", time: ago(days) });
  const bought = (days: number, price: number) => ({
    product_id: "p",
    currency: "USD",
    price,
    time: ago(days),
  });
  const user = await merged(
    server,
    { events: [opened(1), opened(7), opened(40)], purchases: [bought(1, 2)] },
    { events: [opened(1), opened(3), opened(30)], purchases: [bought(14, 3.5), bought(60, 9)] },
    ["recent_activity"],
  );
  const recent = Object.fromEntries(
    user.recent_activity.map((row: Record<string, any>) => [
      row.days,
      [row.custom_events[0].count, row.purchase_count, row.total_revenue],
    ]),
  );
  assert.deepEqual(recent, {
    1: [2, 1, 2],
    3: [3, 1, 2],
    7: [4, 1, 2],
    14: [4, 2, 5.5],
    21: [4, 2, 5.5],
    30: [5, 2, 5.5],
  });
});

describe("subscription states in a merge", () => {
  const states = (...pairs: [string, string][]) => ({
    attributes: {
      subscription_groups: pairs.map(([subscription_group_id, subscription_state]) => ({
        subscription_group_id,
        subscription_state,
      })),
    },
  });

  test("a merge keeps the kept user's subscription group states and adds missing ones", async () => {
    const { subscription_groups } = await merged(
      server,
      states([NEWSLETTER, "unsubscribed"]),
      states([NEWSLETTER, "subscribed"], [ALERTS, "subscribed"]),
    );
    const byGroup = Object.fromEntries(
      subscription_groups.map((group: Record<string, any>) => [group.id, group.status]),
    );
    assert.deepEqual(byGroup, { [NEWSLETTER]: "unsubscribed", [ALERTS]: "subscribed" });
  });

  test("in a chain of merges, each user's group states win over those of the users merged into it", async () => {
    const workspace = await workspaceWithApps(server);
    await make(server, workspace, "a", states([NEWSLETTER, "subscribed"], [ALERTS, "subscribed"]));
    await make(server, workspace, "b", states([NEWSLETTER, "unsubscribed"]));
    await make(server, workspace, "c", {});
    await succeeds(
      merge(workspace, [
        [id("a"), id("b")],
        [id("b"), id("c")],
      ]),
    );
    const groups = (await userOf(workspace, "c"))?.subscription_groups;
    const byGroup = Object.fromEntries(
      groups.map((group: Record<string, any>) => [group.id, group.status]),
    );
    assert.deepEqual(byGroup, { [NEWSLETTER]: "unsubscribed", [ALERTS]: "subscribed" });
  });

  test("after a merge, the kept user's email state is the state of its email address", async () => {
    const own = { attributes: { email: "k@example.com", email_subscribe: "opted_in" } };
    const other = { attributes: { email: "m@example.com", email_subscribe: "unsubscribed" } };
    assert.equal((await merged(server, own, other)).email_subscribe, "opted_in");
    assert.equal((await merged(server, {}, other)).email_subscribe, "unsubscribed");
  });

  test("after a merge, a pending email state applies to an email address without a state", async () => {
    const waiting = { attributes: { email_subscribe: "unsubscribed" } };
    const address = { attributes: { email: "k@example.com" } };
    assert.equal((await merged(server, address, waiting)).email_subscribe, "unsubscribed");
    assert.equal((await merged(server, waiting, address)).email_subscribe, "unsubscribed");
    assert.equal((await merged(server, {}, waiting)).email_subscribe, "unsubscribed");
  });
});

test("a merge keeps the kept user's id, creation time and random bucket", async () => {
  const workspace = await workspaceWithApps(server);
  await make(server, workspace, "m", {});
  await make(server, workspace, "k", {});
  const before = await userOf(workspace, "k");
  await succeeds(merge(workspace, [[id("m"), id("k")]]));
  assert.deepEqual(await userOf(workspace, "k"), before);
});

test("a merge of two users with thousands of events keeps every event", async () => {
  const workspace = await workspaceWithApps(server, { track_max_updates: 1_000 });
  for (const name of ["k", "m"]) {
    for (let round = 0; round < 3; round++) {
      const events = Array.from({ length: 1_000 }, (_, index) => ({
        ...id(name),
        name: `event ${index % 10}`,
        time: new Date(Date.now() - index * 1_000).toISOString(),
      }));
      await workspace.track({ events });
    }
  }
  await succeeds(merge(workspace, [[id("m"), id("k")]]));
  const fields_to_export = ["custom_events", "recent_activity"];
  const user = await workspace.profile({ external_ids: ["k"], fields_to_export });
  const all = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`event ${index}`, 600]));
  assert.deepEqual(countsOf(user), all);
  assert.deepEqual(countsOf(user.recent_activity[0]), all);
});

test("an alias-only user can be kept in a merge and receives the external_id and data of an identified user", async () => {
  const workspace = await workspaceWithApps(server);
  await make(server, workspace, "m", { attributes: { first_name: "Ada" } });
  await makeUsers(workspace, byAlias("k"));
  await succeeds(merge(workspace, [[id("m"), byAlias("k")]]));
  const user = await userOf(workspace, "m");
  assert.deepEqual([user?.first_name, countsOf(user)], ["Ada", { k: 1 }]);
});

describe("merged_ids in an export", () => {
  for (const redirect_merged_ids of [false, true]) {
    const leads = redirect_merged_ids ? "and external ids that do too" : "and no external id";
    test(`merged_ids lists the platform ids that lead to the user after all merges, ${leads}`, async () => {
      const workspace = await server.workspace({ settings: { redirect_merged_ids } });
      const names = ["a", "b", "c", "d"];
      await makeUsers(workspace, ...names.map(id));
      const ids = await Promise.all(
        names.map(async (name) => (await userOf(workspace, name))?.platform_id),
      );
      await succeeds(merge(workspace, [[id("a"), id("b")]]));
      await succeeds(merge(workspace, [[id("b"), id("c")]]));
      const fields_to_export = ["external_id", "merged_ids"];
      const users = await workspace.profiles({ external_ids: ["c", "d"], fields_to_export });
      const gone = (index: number) => ({
        platform_id: ids[index],
        external_id: redirect_merged_ids ? names[index] : null,
      });
      // In the order of the ids, which different lanes may have given to users of one request.
      const byId = (one: { platform_id?: string }, other: { platform_id?: string }) =>
        String(one.platform_id) < String(other.platform_id) ? -1 : 1;
      assert.deepEqual(
        Object.fromEntries(users.map((each) => [each.external_id, each.merged_ids])),
        { c: [gone(0), gone(1)].sort(byId), d: [] },
      );
      assert.equal("merged_ids" in ((await userOf(workspace, "c")) ?? {}), false);
    });
  }
});
