import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { sweepChanges } from "../../../../src/core/people/changes/sweep-changes.ts";
import { NEWSLETTER, startServer, type TestWorkspace } from "../../../harness.ts";

const server = await startServer();

const withFeed = (settings = {}) =>
  server.workspace({ settings: { change_feed: true, ...settings } });

const changesOf = async (workspace: TestWorkspace, query = "cursor=beginning"): Promise<any[]> => {
  const { status, body } = await workspace.call<any>("GET", `/changes?${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.changes;
};

const expired = new Map<string, number>();

/** The server's task of every ten minutes, this many days from now. */
const sweep = (days = 0) =>
  sweepChanges(server.database, new Date(Date.now() + days * 86_400_000), {
    expiredChanges: (why, count) => void expired.set(why, (expired.get(why) ?? 0) + count),
  });

/** Without what differs from run to run. */
const facts = ({ id: _id, at: _at, user, ...rest }: any) => {
  const { platform_id: _platform, ...names } = user ?? {};
  return { ...rest, user: names };
};

test("a change has the new values, the identifiers of its user, and the earlier values", async () => {
  const workspace = await withFeed();
  const time = "2026-01-02T03:04:05.000Z";
  const subscription_groups = [
    { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" },
  ];
  await workspace.track({
    attributes: [{ external_id: "a", email: "A@example.com", plan: "pro", subscription_groups }],
    events: [{ external_id: "a", name: "opened", time, properties: { n: 1 } }],
  });
  await workspace.track({
    attributes: [{ external_id: "a", plan: null, first_name: "Ada" }],
    purchases: [{ external_id: "a", product_id: "p", currency: "EUR", price: 2.5, time }],
  });
  await workspace.call("POST", "/email/status", {
    email: "a@example.com",
    subscription_state: "unsubscribed",
  });
  const user = { external_id: "a" };
  const changes = await changesOf(workspace);
  const [created] = changes;
  assert.match(created.values.created_at, /^\d{4}-/);
  const activity = { properties: {}, app_id: null };
  assert.deepEqual(changes.slice(1).map(facts), [
    { type: "event.logged", user, name: "opened", time, ...activity, properties: { n: 1 } },
    {
      type: "subscription.changed",
      user,
      subscription_group_id: NEWSLETTER,
      before: null,
      after: "subscribed",
      source: "POST /users/track",
    },
    {
      type: "user.updated",
      user,
      changed: ["first_name", "custom_attributes.plan"],
      values: { first_name: "Ada", "custom_attributes.plan": null },
    },
    {
      type: "purchase.logged",
      user,
      product_id: "p",
      currency: "EUR",
      price: 2.5,
      quantity: 1,
      time,
      ...activity,
    },
    {
      type: "email_state.changed",
      user,
      email: "a@example.com",
      before: null,
      after: "unsubscribed",
      source: "POST /email/status",
    },
  ]);
  const types = await changesOf(workspace, "cursor=beginning&types=purchase.logged,user.created");
  assert.deepEqual(
    types.map(({ type }) => type),
    ["user.created", "purchase.logged"],
  );
});

test("identifying and merging users is told with the identifiers before and the user who is kept", async () => {
  const workspace = await withFeed();
  const alias = { alias_name: "n", alias_label: "l" };
  await workspace.track({ attributes: [{ external_id: "kept", plan: "pro" }] });
  await workspace.call("POST", "/users/alias/new", { user_aliases: [alias] });
  await workspace.call("POST", "/users/identify", {
    aliases_to_identify: [{ external_id: "new", user_alias: alias }],
  });
  await workspace.call("POST", "/users/merge", {
    merge_updates: [
      { identifier_to_merge: { external_id: "new" }, identifier_to_keep: { external_id: "kept" } },
    ],
  });
  const changes = await changesOf(workspace);
  const identified = changes.find(({ type }) => type === "user.identified");
  assert.equal(identified.user.external_id, "new");
  assert.deepEqual(identified.previous, { external_id: null, user_aliases: [alias] });
  const merged = changes.find(({ type }) => type === "user.merged");
  assert.equal(merged.user.external_id, "kept");
  assert.deepEqual(merged.merged, { ...merged.merged, external_id: "new" });
  assert.equal(merged.merged.platform_id, identified.user.platform_id);
  const updated = changes.findLast(({ type }) => type === "user.updated");
  assert.deepEqual(updated.values, { user_aliases: [alias] });
});

test("a change names the user by the present external_id if a call uses a deprecated one, also one that was in use before the feed was on", async () => {
  const workspace = await server.workspace();
  const rename = (current_external_id: string, new_external_id: string) =>
    workspace.call("POST", "/users/external_ids/rename", {
      external_id_renames: [{ current_external_id, new_external_id }],
    });
  const attributes = (external_id: string, visits: number) => ({
    attributes: [{ external_id, visits }],
  });
  await workspace.track(attributes("first", 1));
  await rename("first", "second");
  await workspace.track(attributes("first", 2));
  await server.admin("PUT", `/admin/v1/workspaces/${workspace.name}/settings`, {
    change_feed: true,
  });
  await workspace.track(attributes("first", 3));
  await workspace.track(attributes("second", 4));
  await rename("second", "third");
  const time = new Date().toISOString();
  await workspace.track({ events: [{ external_id: "second", name: "seen", time }] });
  await workspace.track({
    events: [{ external_id: "first", name: "seen", time }],
    attributes: [{ external_id: "first", visits: 5 }],
  });
  await workspace.call("POST", "/v2/subscription/status/set", {
    subscription_groups: [
      {
        subscription_group_id: NEWSLETTER,
        subscription_state: "subscribed",
        external_ids: ["second"],
      },
    ],
  });
  const named = (await changesOf(workspace)).map(({ type, user }) => [type, user.external_id]);
  assert.deepEqual(named, [
    ["user.updated", "second"],
    ["user.updated", "second"],
    ["user.updated", "third"],
    ["event.logged", "third"],
    ["user.updated", "third"],
    ["event.logged", "third"],
    ["subscription.changed", "third"],
  ]);
});

test("a waiting reader gets a change as soon as it is committed", async () => {
  const workspace = await withFeed();
  const { body } = await workspace.call<any>("GET", "/changes");
  assert.deepEqual([body.changes, body.caught_up], [[], true]);
  const waiting = changesOf(workspace, `cursor=${body.cursor}&wait_s=30`);
  await sleep(100);
  await workspace.track({ attributes: [{ external_id: "a", plan: "pro" }] });
  assert.deepEqual(
    (await waiting).map(({ type }) => type),
    ["user.created"],
  );
});

test("a reader that waits for types that do not come is answered at the end of its time", async () => {
  const workspace = await withFeed();
  const waiting = workspace.call<any>("GET", "/changes?wait_s=1&types=user.deleted");
  await workspace.track({ attributes: [{ external_id: "a", plan: "pro" }] });
  const { body } = await waiting;
  assert.deepEqual(body.changes, []);
  assert.deepEqual(await changesOf(workspace, `cursor=${body.cursor}`), []);
});

test("deleting a user leaves user.deleted and the platform_ids of merges, and the changes are deleted from the database", async () => {
  const workspace = await withFeed();
  await workspace.track({ attributes: [{ external_id: "secret-1", plan: "pro" }] });
  await workspace.track({ attributes: [{ external_id: "secret-2", plan: "pro" }] });
  await workspace.track({ attributes: [{ external_id: "other", plan: "pro" }] });
  await workspace.call("POST", "/users/merge", {
    merge_updates: [
      {
        identifier_to_merge: { external_id: "secret-1" },
        identifier_to_keep: { external_id: "secret-2" },
      },
    ],
  });
  const { cursor } = (await workspace.call<any>("GET", "/changes")).body;
  await workspace.call("POST", "/users/delete", { external_ids: ["secret-2"] });
  const check = async () => {
    const changes = await changesOf(workspace);
    const types = changes.map(({ type }) => type).sort();
    assert.deepEqual(types, ["user.created", "user.deleted", "user.merged"]);
    assert.ok(!JSON.stringify(changes).includes("secret"));
    assert.equal((await changesOf(workspace, `cursor=${cursor}`)).length, 1);
  };
  await check();
  await sweep();
  await check();
  const rows = await server.database.query<{ body: string }>(
    "select body from change_batches where workspace_id = (select workspace_id from workspaces where name = $1)",
    [workspace.name],
  );
  assert.ok(rows.length > 0);
  assert.ok(rows.every(({ body }) => !body.includes("secret")));
});

test("a refusal stays in the feed when the user who has the address is deleted, and names no user", async () => {
  const workspace = await withFeed();
  await workspace.track({
    attributes: [{ external_id: "secret", email: "ada@example.com", email_subscribe: "opted_in" }],
  });
  await workspace.call("POST", "/email/status", {
    email: "ada@example.com",
    subscription_state: "unsubscribed",
  });
  await workspace.call("POST", "/users/delete", { external_ids: ["secret"] });
  const check = async () => {
    const changes = await changesOf(workspace);
    const states = changes.filter(({ type }) => type === "email_state.changed");
    assert.deepEqual(
      states.map(({ user, email, before, after }) => [user, email, before, after]),
      [
        [undefined, "ada@example.com", null, "opted_in"],
        [undefined, "ada@example.com", "opted_in", "unsubscribed"],
      ],
    );
    assert.ok(!JSON.stringify(changes).includes("secret"));
    const others = changes.map(({ type }) => type).filter((type) => type !== "email_state.changed");
    assert.deepEqual(others, ["user.deleted"]);
  };
  await check();
  await sweep();
  await check();
});

test("when changes are too old or take too much space, the oldest are deleted, and readers behind get 410 with the oldest cursor", async () => {
  const workspace = await withFeed({ change_max_mb: 1 });
  const { cursor } = (await workspace.call<any>("GET", "/changes")).body;
  const text = "x".repeat(30_000);
  for (let round = 0; round < 6; round++) {
    const event = { external_id: "a", name: `e${round}`, properties: { text } };
    await workspace.track({ events: [{ ...event, time: new Date().toISOString() }] });
  }
  await sweep();
  const gone = await workspace.call<any>("GET", `/changes?cursor=${cursor}`);
  assert.equal(gone.status, 410);
  const kept = await changesOf(workspace, `cursor=${gone.body.oldest}`);
  assert.ok(kept.length > 0 && kept.length < 6, `${kept.length}`);
  assert.equal(kept.at(-1).name, "e5");
  assert.deepEqual(await changesOf(workspace), kept);
  assert.ok((expired.get("size") ?? 0) > 0);
  await sweep(8);
  assert.ok((expired.get("age") ?? 0) > 0);
  assert.deepEqual(await changesOf(workspace), []);
  assert.equal((await workspace.call("GET", `/changes?cursor=${gone.body.oldest}`)).status, 410);
});

test("a reader from before the feed was off gets 410 with the oldest cursor", async () => {
  const workspace = await withFeed();
  await workspace.track({ attributes: [{ external_id: "a", plan: "pro" }] });
  const { cursor } = (await workspace.call<any>("GET", "/changes")).body;
  const path = `/admin/v1/workspaces/${workspace.name}/settings`;
  const { settings } = (await server.admin("GET", path)).body;
  await server.admin("PUT", path, { ...settings, change_feed: false });
  const changes = `/admin/v1/workspaces/${workspace.name}/changes`;
  assert.equal((await server.admin("GET", changes)).status, 404);
  await server.admin("PUT", path, { ...settings, change_feed: true });
  const gone = await server.admin("GET", `${changes}?cursor=${cursor}`);
  assert.equal(gone.status, 410);
  assert.equal((await server.admin("GET", `${changes}?cursor=${gone.body.oldest}`)).status, 200);
  assert.deepEqual((await server.admin("GET", `${changes}?cursor=beginning`)).body.changes, []);
});

test("a cursor or a type that is none is refused, and so is the cursor of another workspace", async () => {
  const workspace = await withFeed();
  const other = await withFeed();
  const { cursor } = (await other.call<any>("GET", "/changes")).body;
  for (const query of ["cursor=x", `cursor=${cursor}`, "types=user", "limit=0", "wait_s=61"]) {
    assert.equal((await workspace.call("GET", `/changes?${query}`)).status, 400, query);
  }
  const ahead = cursor
    .replace(/^c\w+/, (await workspace.call<any>("GET", "/changes")).body.cursor.split(".")[0])
    .replace(/\.0$/, ".9");
  assert.equal((await workspace.call("GET", `/changes?cursor=${ahead}`)).status, 410);
});
