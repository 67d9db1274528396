/*
 * Subscription states that a track request sets: of groups, which belong to a profile, and of email,
 * which belongs to the address.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ALERTS, NEWSLETTER, startServer, type TestWorkspace } from "../../harness.ts";

const server = await startServer();

const EMAIL = "shared@example.com";
const PHONE = "+14155552671";

const send = (workspace: TestWorkspace, ...attributes: object[]) => workspace.track({ attributes });

const groups = (...states: [id: string, state: unknown][]) => ({
  subscription_groups: states.map(([subscription_group_id, subscription_state]) => ({
    subscription_group_id,
    subscription_state,
  })),
});

/** The state of one group for each person who has one. */
async function statesOf(workspace: TestWorkspace, group: string, external_ids: string[]) {
  const all = await workspace.profiles({ external_ids });
  const states = all.map(({ external_id, subscription_groups }) => [
    external_id,
    subscription_groups.find((each: any) => each.id === group)?.status,
  ]);
  return Object.fromEntries(states);
}

const emailStateOf = async (workspace: TestWorkspace, external_id: string) =>
  (await workspace.profile({ external_ids: [external_id] })).email_subscribe;

describe("subscription_groups of an attributes object set group states", () => {
  test("subscription_groups give the user their states, replacing any earlier states", async () => {
    const workspace = await server.workspace();
    for (const state of ["subscribed", "unsubscribed", "unsubscribed", "subscribed"]) {
      const answer = await send(workspace, { external_id: "ada", ...groups([NEWSLETTER, state]) });
      assert.deepEqual(answer.body, { attributes_processed: 1, message: "success" });
      assert.deepEqual(await statesOf(workspace, NEWSLETTER, ["ada"]), { ada: state });
    }
    await send(workspace, {
      external_id: "ada",
      ...groups([ALERTS, "unsubscribed"], [NEWSLETTER, "unsubscribed"], [ALERTS, "subscribed"]),
    });
    assert.deepEqual(await statesOf(workspace, NEWSLETTER, ["ada"]), { ada: "unsubscribed" });
    assert.deepEqual(await statesOf(workspace, ALERTS, ["ada"]), { ada: "subscribed" });
  });

  for (const identifier of [{ external_id: "ada" }, { email: EMAIL.toUpperCase() }]) {
    test(`subscription_groups also reach every user with the same email as ${JSON.stringify(identifier)}`, async () => {
      const workspace = await server.workspace();
      await send(
        workspace,
        { external_id: "ada", email: EMAIL },
        { external_id: "bob", email: "Shared@Example.com" },
        { external_id: "eve", email: "eve@example.com" },
      );
      await send(workspace, { ...identifier, ...groups([NEWSLETTER, "unsubscribed"]) });
      const states = await statesOf(workspace, NEWSLETTER, ["ada", "bob", "eve"]);
      assert.deepEqual(states, { ada: "unsubscribed", bob: "unsubscribed", eve: undefined });
    });
  }

  test("subscription_groups reach the users who share the email of the same object", async () => {
    const workspace = await server.workspace();
    await send(
      workspace,
      { external_id: "bob", email: EMAIL },
      { external_id: "ada", email: "old@example.com" },
      { external_id: "eve", email: "old@example.com" },
    );
    await send(workspace, { external_id: "ada", email: EMAIL, ...groups([ALERTS, "subscribed"]) });
    const states = await statesOf(workspace, ALERTS, ["ada", "bob", "eve"]);
    assert.deepEqual(states, { ada: "subscribed", bob: "subscribed", eve: undefined });
  });

  test("subscription_groups reach users who got the email earlier in the request, not those who lost it", async () => {
    const workspace = await server.workspace();
    await send(
      workspace,
      { external_id: "ada", email: EMAIL },
      { external_id: "left", email: EMAIL },
    );
    await send(
      workspace,
      { external_id: "came", email: EMAIL },
      { external_id: "left", email: null },
      { external_id: "ada", ...groups([NEWSLETTER, "subscribed"]) },
    );
    const states = await statesOf(workspace, NEWSLETTER, ["ada", "came", "left"]);
    assert.deepEqual(states, { ada: "subscribed", came: "subscribed", left: undefined });
  });

  test("a phone group state reaches every user with the same phone, and an email group state does not", async () => {
    const workspace = await server.workspace();
    await send(
      workspace,
      { external_id: "ada", phone: PHONE },
      { external_id: "bob", phone: PHONE },
    );
    await send(workspace, {
      external_id: "ada",
      ...groups([ALERTS, "subscribed"], [NEWSLETTER, "subscribed"]),
    });
    const people = ["ada", "bob"];
    assert.deepEqual(await statesOf(workspace, ALERTS, people), {
      ada: "subscribed",
      bob: "subscribed",
    });
    assert.deepEqual(await statesOf(workspace, NEWSLETTER, people), {
      ada: "subscribed",
      bob: undefined,
    });
  });

  test("a group state counts as an update of every user that it reaches", async () => {
    const workspace = await server.workspace();
    const address = "second@example.com";
    await send(
      workspace,
      { external_id: "bob", email: EMAIL, phone: PHONE },
      { external_id: "ada", email: EMAIL },
      { external_id: "eve", email: address, phone: PHONE },
    );
    await send(workspace, { external_id: "ada", ...groups([NEWSLETTER, "subscribed"]) });
    await send(workspace, { phone: PHONE, found: true });
    const bob = await workspace.profile({ external_ids: ["bob"] });
    assert.deepEqual(bob.custom_attributes, { found: true });
  });

  const CONFIRMED = { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" };
  const bad: [value: unknown, code: string, names: RegExp][] = [
    ["text", "BAD_SUBSCRIPTION_GROUP_ARRAY", /'subscription_groups'/],
    [{}, "BAD_SUBSCRIPTION_GROUP_ARRAY", /'subscription_groups'/],
    [
      Array.from({ length: 6_001 }, () => CONFIRMED),
      "BAD_SUBSCRIPTION_GROUP_ARRAY",
      /at most 6000 objects/,
    ],
    [["text"], "BAD_SUBSCRIPTION_GROUP_HASH", /'subscription_groups\[0\]'/],
    [[null], "BAD_SUBSCRIPTION_GROUP_HASH", /'subscription_groups\[0\]'/],
    [[{ subscription_state: "subscribed" }], "BAD_SUBSCRIPTION_GROUP_ID", /group_id'/],
    [groups([5 as never, "subscribed"]).subscription_groups, "BAD_SUBSCRIPTION_GROUP_ID", /_id'/],
    [groups(["none", "subscribed"]).subscription_groups, "BAD_SUBSCRIPTION_GROUP_ID", /_id'/],
    [
      groups([NEWSLETTER, undefined]).subscription_groups,
      "BAD_SUBSCRIPTION_GROUP_STATE",
      /_state'/,
    ],
    [
      groups([NEWSLETTER, "Subscribed"]).subscription_groups,
      "BAD_SUBSCRIPTION_GROUP_STATE",
      /_sta/,
    ],
    [
      groups([NEWSLETTER, "opted_in"]).subscription_groups,
      "BAD_SUBSCRIPTION_GROUP_STATE",
      /_state'/,
    ],
    [groups([NEWSLETTER, true]).subscription_groups, "BAD_SUBSCRIPTION_GROUP_STATE", /_state'/],
    [[{ ...CONFIRMED, use_double_opt_in_logic: "yes" }], "INVALID_FLAG", /_logic'/],
    [[{ ...CONFIRMED, use_double_opt_in_logic: true }], "DOUBLE_OPT_IN_NOT_SUPPORTED", /_logic'/],
  ];
  for (const [value, code, names] of bad) {
    test(`subscription_groups of ${JSON.stringify(value).slice(0, 90)} refuse the object with ${code}`, async () => {
      const workspace = await server.workspace();
      const good = groups([ALERTS, "subscribed"]).subscription_groups;
      const list = Array.isArray(value) ? [...value, ...good] : value;
      const answer = await send(
        workspace,
        { external_id: "ada", beside: 1, subscription_groups: list },
        { external_id: "ada", other: 1 },
      );
      assert.deepEqual(
        answer.body.errors?.map((error) => [error.index, error.code]),
        [[0, code]],
      );
      assert.match(answer.body.errors?.[0]?.message ?? "", names);
      const ada = await workspace.profile({ external_ids: ["ada"] });
      assert.deepEqual([ada.custom_attributes, ada.subscription_groups], [{ other: 1 }, []]);
    });
  }

  test("of several states of a group in one object the last one counts", async () => {
    const workspace = await server.workspace();
    const answer = await send(workspace, {
      external_id: "ada",
      ...groups(
        [NEWSLETTER, "subscribed"],
        [ALERTS, "unsubscribed"],
        [NEWSLETTER.toUpperCase(), "unsubscribed"],
        [ALERTS, "subscribed"],
      ),
    });
    assert.equal(answer.body.errors, undefined);
    assert.deepEqual(await statesOf(workspace, NEWSLETTER, ["ada"]), { ada: "unsubscribed" });
    assert.deepEqual(await statesOf(workspace, ALERTS, ["ada"]), { ada: "subscribed" });
  });

  test("a subscription group of another workspace is unknown", async () => {
    const theirs = { id: "group-of-theirs", name: "Theirs", channel: "email" };
    await server.workspace({ subscription_groups: [theirs] });
    const workspace = await server.workspace();
    const answer = await send(workspace, {
      external_id: "ada",
      ...groups([theirs.id, "subscribed"]),
    });
    assert.equal(answer.body.errors?.[0]?.code, "BAD_SUBSCRIPTION_GROUP_ID");
  });
});

describe("email_subscribe of an attributes object", () => {
  test("email_subscribe sets the state of the user's address, and null resets it to subscribed", async () => {
    const workspace = await server.workspace();
    await send(workspace, { external_id: "ada", email: EMAIL });
    assert.equal(await emailStateOf(workspace, "ada"), "subscribed");
    for (const state of ["unsubscribed", "opted_in", "subscribed", "unsubscribed"]) {
      await send(workspace, { external_id: "ada", email_subscribe: state });
      assert.equal(await emailStateOf(workspace, "ada"), state);
    }
    await send(workspace, { external_id: "ada", email_subscribe: null });
    assert.equal(await emailStateOf(workspace, "ada"), "subscribed");
  });

  test("email_subscribe applies to every user with the address, in any case", async () => {
    const workspace = await server.workspace();
    await send(
      workspace,
      { external_id: "ada", email: EMAIL },
      { external_id: "bob", email: EMAIL.toUpperCase() },
    );
    await send(workspace, { external_id: "bob", email_subscribe: "unsubscribed" });
    assert.equal(await emailStateOf(workspace, "ada"), "unsubscribed");
    assert.equal(await emailStateOf(workspace, "bob"), "unsubscribed");
  });

  test("email_subscribe belongs to the address: it is kept when the user leaves it, for the next user", async () => {
    const workspace = await server.workspace();
    await send(workspace, { external_id: "ada", email: EMAIL, email_subscribe: "unsubscribed" });
    await send(workspace, { external_id: "ada", email: "new@example.com" });
    assert.equal(await emailStateOf(workspace, "ada"), "subscribed");
    await send(workspace, { external_id: "bob", email: "SHARED@example.com" });
    assert.equal(await emailStateOf(workspace, "bob"), "unsubscribed");
    await send(workspace, { external_id: "ada", email: null });
    assert.equal(await emailStateOf(workspace, "ada"), "subscribed");
  });

  test("email_subscribe of a user without an address becomes the state of the address linked later", async () => {
    const workspace = await server.workspace();
    await send(workspace, { external_id: "ada", email_subscribe: "opted_in" });
    assert.equal(await emailStateOf(workspace, "ada"), "opted_in");
    await send(workspace, { external_id: "ada", email: EMAIL });
    await send(workspace, { external_id: "bob", email: EMAIL });
    assert.equal(await emailStateOf(workspace, "ada"), "opted_in");
    assert.equal(await emailStateOf(workspace, "bob"), "opted_in");
    await send(workspace, { external_id: "ada", email: "next@example.com" });
    assert.equal(await emailStateOf(workspace, "ada"), "subscribed");
  });

  test("email_subscribe next to an email in one object sets the state of that email", async () => {
    const workspace = await server.workspace();
    await send(workspace, { external_id: "ada", email: "old@example.com" });
    await send(workspace, { external_id: "ada", email: EMAIL, email_subscribe: "unsubscribed" });
    await send(workspace, { external_id: "bob", email: "old@example.com" });
    await send(workspace, { external_id: "eve", email: EMAIL });
    assert.equal(await emailStateOf(workspace, "ada"), "unsubscribed");
    assert.equal(await emailStateOf(workspace, "bob"), "subscribed");
    assert.equal(await emailStateOf(workspace, "eve"), "unsubscribed");
  });

  test("email_subscribe is applied in the order of the objects of a request", async () => {
    const workspace = await server.workspace();
    await send(
      workspace,
      { external_id: "ada", email_subscribe: "opted_in" },
      { external_id: "ada", email: EMAIL },
      { external_id: "bob", email: EMAIL, email_subscribe: "unsubscribed" },
      { external_id: "eve", email_subscribe: "opted_in" },
      { external_id: "eve", email: EMAIL },
    );
    // Eve's state is the last one that was set, though it was pending.
    assert.equal(await emailStateOf(workspace, "ada"), "opted_in");
    assert.equal(await emailStateOf(workspace, "eve"), "opted_in");
  });

  test("email_subscribe of an email-only profile that it creates is stored", async () => {
    const workspace = await server.workspace();
    await send(workspace, { email: EMAIL, email_subscribe: "unsubscribed" });
    const profile = await workspace.profile({ email_address: EMAIL });
    assert.equal(profile.email_subscribe, "unsubscribed");
  });
});

test("push_subscribe belongs to the profile, not to an address", async () => {
  const workspace = await server.workspace();
  await send(
    workspace,
    { external_id: "ada", email: EMAIL, push_subscribe: "unsubscribed" },
    { external_id: "bob", email: EMAIL },
  );
  const [ada, bob] = [
    await workspace.profile({ external_ids: ["ada"] }),
    await workspace.profile({ external_ids: ["bob"] }),
  ];
  assert.deepEqual([ada.push_subscribe, bob.push_subscribe], ["unsubscribed", "subscribed"]);
});
