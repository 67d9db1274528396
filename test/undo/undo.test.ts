import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createFeedModel, type FeedChange, shownIn } from "../core/people/changes/feed-model.ts";
import {
  alias,
  byAlias,
  countsOf,
  id,
  identifyAliases,
  merge,
  renameAliases,
  succeeds,
  TIME,
  userOf,
} from "../core/people/identity/identity-calls.ts";
import { ALERTS, NEWSLETTER, startServer, type TestWorkspace } from "../harness.ts";
import { mergesOf, refusesUndo, rowsOf, undo, undone } from "./undo-calls.ts";

const server = await startServer();

const latestOf = async (workspace: TestWorkspace) => {
  const [latest] = await mergesOf(server, workspace);
  assert.ok(latest);
  return latest;
};

/** Merges one user into another. @returns the id of the merge. */
async function merged(workspace: TestWorkspace, from: string, into: string): Promise<string> {
  await succeeds(merge(workspace, [[id(from), id(into)]]));
  return (await latestOf(workspace)).id;
}

const state = (subscription_group_id: string, subscription_state: string) => ({
  subscription_group_id,
  subscription_state,
});

const event = (external_id: string, name: string, time = TIME) => ({ external_id, name, time });

suite("undoing a merge", () => {
  test("a record that an earlier version wrote in two pieces brings its group states back", async () => {
    const workspace = await server.workspace();
    const subscription_groups = [state(ALERTS, "subscribed")];
    await workspace.track({ attributes: [id("ada"), { ...id("eve"), subscription_groups }] });
    const merge_id = await merged(workspace, "eve", "ada");
    await server.database.query(
      `insert into merge_records (workspace_id, bucket, merge_id, piece, body)
       select workspace_id, bucket, merge_id, -1, json_build_object(
         'merged', json_build_object('groups', body::json #> '{merged,groups}'),
         'kept', json_build_object('groups', body::json #> '{kept,groups}',
           'groupEntries', body::json #> '{kept,groupEntries}'))::text
       from merge_records where merge_id = $1 and piece = 0`,
      [merge_id],
    );
    await server.database.query(
      `update merge_records
       set body = (body::jsonb #- '{merged,groups}' #- '{kept,groups}' #- '{kept,groupEntries}')::text
       where merge_id = $1 and piece = 0`,
      [merge_id],
    );
    await undone(server, workspace, merge_id);
    const groups = async (name: string) => (await userOf(workspace, name))?.subscription_groups;
    assert.equal((await groups("eve"))?.[0].status, "subscribed");
    assert.deepEqual(await groups("ada"), []);
  });

  test("a field that was taken and has the same value goes back; one with another value stays", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [
        { ...id("ada"), plan: "free" },
        {
          ...id("eve"),
          first_name: "Eve",
          home_city: "Rome",
          phone: "+14155552671",
          plan: "pro",
          color: "red",
        },
      ],
    });
    const merge_id = await merged(workspace, "eve", "ada");
    const phone = "+14155552672";
    await workspace.track({
      attributes: [{ ...id("ada"), home_city: "Bonn", phone, since: true }],
    });
    const preview = await undo(server, workspace, merge_id, { dry_run: true });
    const { effects, merged: back, kept } = await undone(server, workspace, merge_id);
    assert.deepEqual(preview.body.effects, effects);
    assert.deepEqual([back.external_id, kept.external_id], ["eve", "ada"]);
    const of = (field: string, name?: string) =>
      effects.find((each: any) => each.field === field && each.name === name)?.effect;
    assert.equal(of("external_id"), "restored");
    assert.equal(of("first_name"), "returned");
    assert.equal(of("home_city"), "stays");
    assert.equal(of("phone"), "stays");
    assert.equal(of("custom_attributes", "plan"), "restored");
    assert.equal(of("custom_attributes", "color"), "returned");
    const [ada, eve] = [await userOf(workspace, "ada"), await userOf(workspace, "eve")];
    assert.deepEqual(
      [ada?.first_name, ada?.home_city, ada?.phone, ada?.custom_attributes],
      [null, "Bonn", phone, { plan: "free", since: true }],
    );
    assert.deepEqual(
      [eve?.first_name, eve?.home_city, eve?.phone, eve?.custom_attributes],
      ["Eve", "Rome", "+14155552671", { plan: "pro", color: "red" }],
    );
  });

  test("counts and money are subtracted; dates become those of what remains, even after retention removed the events", async () => {
    const workspace = await server.workspace();
    const [early, middle, late] = ["2026-01-01", "2026-01-02", "2026-01-03"].map(
      (day) => `${day}T12:00:00.000Z`,
    );
    await workspace.track({
      attributes: [id("ada"), id("eve")],
      events: [event("ada", "a", middle), event("eve", "a", early), event("eve", "a", late)],
      purchases: [
        { ...id("eve"), product_id: "p", currency: "EUR", price: 2.5, time: early },
        { ...id("ada"), product_id: "p", currency: "EUR", price: 1.05, quantity: 2, time: middle },
      ],
    });
    const merge_id = await merged(workspace, "eve", "ada");
    await workspace.track({ events: [event("ada", "a", middle), event("ada", "b", late)] });
    await server.database.query("delete from events where name = 'a' and occurred_at < $1", [late]);
    await undone(server, workspace, merge_id);
    const [ada, eve] = [await userOf(workspace, "ada"), await userOf(workspace, "eve")];
    assert.deepEqual(ada?.custom_events, [
      { name: "a", first: middle, last: middle, count: 2 },
      { name: "b", first: late, last: late, count: 1 },
    ]);
    assert.deepEqual(eve?.custom_events, [{ name: "a", first: early, last: late, count: 2 }]);
    assert.deepEqual([ada?.total_revenue, eve?.total_revenue], [2.1, 2.5]);
    assert.deepEqual(ada?.purchases[0]?.first, middle);
  });

  test("a user who was identified without a merge comes back with events, states and history, which nobody could reach meanwhile", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [
        id("ada"),
        {
          ...byAlias("x"),
          _update_existing_only: false,
          plan: "pro",
          email: "x@example.com",
          subscription_groups: [state(NEWSLETTER, "subscribed")],
        },
      ],
    });
    await workspace.track({ events: [{ ...byAlias("x"), name: "a", time: TIME }] });
    const before = await rowsOf(server, workspace);
    await succeeds(identifyAliases(workspace, [["x", "ada"]], { merge_behavior: "none" }));
    assert.deepEqual(countsOf(await userOf(workspace, "ada")), {});
    const entry = await latestOf(workspace);
    assert.equal(entry.kind, "identify");
    await undone(server, workspace, entry.id);
    assert.deepEqual(await rowsOf(server, workspace), before);
  });

  test("of a chain the later merge has to be undone first, and the refusal names it", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [id("a"), id("b"), id("c")], events: [event("a", "x")] });
    const before = await rowsOf(server, workspace);
    const first = await merged(workspace, "a", "b");
    const second = await merged(workspace, "b", "c");
    const refused = await refusesUndo(server, workspace, first, "UNDO_LATER_FIRST");
    assert.equal(refused.later, second);
    assert.ok(refused.message.includes(second));
    await undone(server, workspace, second);
    await undone(server, workspace, first);
    assert.deepEqual(await rowsOf(server, workspace), before);
  });

  test("of merges in one request each can be undone", async () => {
    const workspace = await server.workspace();
    const users = ["a", "b", "c", "d"];
    await workspace.track({
      attributes: users.map((each) => ({ ...id(each), [`own_${each}`]: 1, shared: each })),
      events: users.map((each) => event(each, "x")),
    });
    const before = await rowsOf(server, workspace);
    await succeeds(
      merge(workspace, [
        [id("a"), id("b")],
        [id("b"), id("d")],
        [id("c"), id("d")],
      ]),
    );
    const merges = await mergesOf(server, workspace);
    const into = (from: string) =>
      merges.find((each) => each.merged.external_id === from)?.id ?? "";
    await undone(server, workspace, into("b"));
    assert.deepEqual(countsOf(await userOf(workspace, "b")), { x: 2 });
    await undone(server, workspace, into("a"));
    await undone(server, workspace, into("c"));
    assert.deepEqual(await rowsOf(server, workspace), before);
  });

  test("messages that both users had come back to both", async () => {
    const workspace = await server.workspace();
    const message = (message_id: string, channel: string) => ({
      message_id,
      channel,
      sent_at: TIME,
    });
    const users = [
      { ...id("ada"), messages: [message("m1", "email"), message("m2", "email")] },
      { ...id("eve"), messages: [message("m1", "sms"), message("m3", "sms")] },
    ];
    const path = `/admin/v1/workspaces/${workspace.name}/import`;
    const imported = await server.admin("POST", path, { users });
    assert.equal(imported.body.imported, 2, JSON.stringify(imported.body));
    const before = await rowsOf(server, workspace);
    const merge_id = await merged(workspace, "eve", "ada");
    await undone(server, workspace, merge_id);
    assert.deepEqual(await rowsOf(server, workspace), before);
  });

  test("users with more rows than one statement moves come back exactly", async () => {
    const workspace = await server.workspace();
    for (let page = 0; page < 6; page++) {
      const events = Array.from({ length: 50 }, (_, index) =>
        event(index % 2 ? "ada" : "eve", `e${page}`),
      );
      await workspace.track({ events });
    }
    const before = await rowsOf(server, workspace);
    const merge_id = await merged(workspace, "eve", "ada");
    await undone(server, workspace, merge_id);
    assert.deepEqual(await rowsOf(server, workspace), before);
  });

  test("a state that waited for the address of the kept user waits again, and a state of the address that was set since stays", async () => {
    for (const isSet of [false, true]) {
      const workspace = await server.workspace();
      await workspace.track({
        attributes: [
          { ...id("ada"), email: "ada@example.com" },
          { ...id("eve"), email_subscribe: "unsubscribed" },
        ],
      });
      const before = await rowsOf(server, workspace);
      const merge_id = await merged(workspace, "eve", "ada");
      assert.equal((await userOf(workspace, "ada"))?.email_subscribe, "unsubscribed");
      if (isSet) {
        const body = { email: "ada@example.com", subscription_state: "opted_in" };
        await workspace.call("POST", "/email/status", body);
      }
      await undone(server, workspace, merge_id);
      const after = await rowsOf(server, workspace);
      if (!isSet) assert.deepEqual(after, before);
      const [ada, eve] = [await userOf(workspace, "ada"), await userOf(workspace, "eve")];
      assert.equal(ada?.email_subscribe, isSet ? "opted_in" : "subscribed");
      assert.equal(eve?.email_subscribe, "unsubscribed");
    }
  });

  test("a group state that the merge brought goes back, one that was set since stays with its history", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [
        id("ada"),
        {
          ...id("eve"),
          subscription_groups: [state(NEWSLETTER, "subscribed"), state(ALERTS, "subscribed")],
        },
      ],
    });
    const merge_id = await merged(workspace, "eve", "ada");
    for (const each of ["unsubscribed", "subscribed"]) {
      await workspace.track({
        attributes: [{ ...id("ada"), subscription_groups: [state(ALERTS, each)] }],
      });
    }
    await undone(server, workspace, merge_id);
    const groups = async (name: string) =>
      (await userOf(workspace, name))?.subscription_groups.map((each: any) => [
        each.id,
        each.status,
      ]);
    assert.deepEqual(await groups("ada"), [[ALERTS, "subscribed"]]);
    assert.equal((await groups("eve"))?.length, 2);
    const history = await server.admin(
      "GET",
      `/admin/v1/workspaces/${workspace.name}/subscription-history?external_id=ada`,
    );
    const states = history.body.changes.map((each: any) => each.subscription_state);
    assert.deepEqual(states, ["subscribed", "unsubscribed", "subscribed"]);
  });

  test("an alias that was renamed since stays under its new name, and the returning user has the old one", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [id("ada"), { ...byAlias("x"), _update_existing_only: false }],
    });
    await succeeds(identifyAliases(workspace, [["x", "ada"]]));
    const { id: merge_id } = await latestOf(workspace);
    await renameAliases(workspace, { alias_label: "l", old_alias_name: "x", new_alias_name: "y" });
    await undone(server, workspace, merge_id);
    const [back] = await workspace.profiles({ user_aliases: [alias("x")] });
    assert.equal(back?.external_id, null);
    assert.deepEqual((await userOf(workspace, "ada"))?.user_aliases, [alias("y")]);
  });

  test("ids that led to the kept user lead to the returning user again", async () => {
    const workspace = await server.workspace({ settings: { redirect_merged_ids: true } });
    await workspace.track({ attributes: [id("a"), id("b"), id("c")] });
    const [a, b] = [await userOf(workspace, "a"), await userOf(workspace, "b")];
    await merged(workspace, "a", "b");
    const second = await merged(workspace, "b", "c");
    assert.equal((await userOf(workspace, "a"))?.external_id, "c");
    await undone(server, workspace, second);
    assert.equal((await userOf(workspace, "a"))?.platform_id, b?.platform_id);
    const [led] = await workspace.profiles({ platform_ids: [a?.platform_id] });
    assert.equal(led?.platform_id, b?.platform_id);
  });

  test("the audit names who undid which merge", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [id("ada"), id("eve")] });
    const merge_id = await merged(workspace, "eve", "ada");
    await undone(server, workspace, merge_id);
    const { body } = await server.admin("GET", `/admin/v1/audit?workspace=${workspace.name}`);
    const entry = body.entries.find((each: any) => each.action === "unmerged");
    assert.equal(entry?.details.merge, merge_id);
    assert.equal(entry?.kind, "user");
    assert.ok((await latestOf(workspace)).undone_at);
  });
});

test("a reader of the feed who applies user.unmerged, user.created and user.updated has the exported users", async () => {
  const workspace = await server.workspace({ settings: { change_feed: true } });
  await workspace.track({
    attributes: [
      { ...id("ada"), plan: "free" },
      {
        ...id("eve"),
        first_name: "Eve",
        email: "eve@example.com",
        // Members of every object.
        constructor: "c",
        toString: "t",
        subscription_groups: [state(NEWSLETTER, "subscribed")],
      },
    ],
    events: [event("ada", "a"), event("eve", "a"), event("eve", "b")],
    purchases: [{ ...id("eve"), product_id: "p", currency: "EUR", price: 2, time: TIME }],
  });
  const merge_id = await merged(workspace, "eve", "ada");
  await workspace.track({ events: [event("ada", "b")] });
  await undone(server, workspace, merge_id);
  const model = createFeedModel();
  const { body } = await workspace.call<any>("GET", "/changes?cursor=beginning&limit=1000");
  for (const change of body.changes) model.apply(change as FeedChange);
  const types = body.changes.map((change: FeedChange) => change.type);
  assert.ok(types.indexOf("user.unmerged") > types.indexOf("user.merged"));
  const unmerged = body.changes.find((change: FeedChange) => change.type === "user.unmerged");
  assert.deepEqual([unmerged.user.external_id, unmerged.merged.external_id], ["ada", "eve"]);
  const users = await workspace.profiles({ external_ids: ["ada", "eve"] });
  assert.deepEqual(model.view(), shownIn(users));
});
