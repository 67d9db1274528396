/* Subscription calls where users share an address, and how the calls read what clients send. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  setV1,
  setV2,
  statesOf,
  users,
  VERSIONS,
  workspaceWithGroups,
} from "../../../../core/people/subscriptions/subscription-calls.ts";
import { NEWSLETTER, startServer, type TestWorkspace } from "../../../../harness.ts";

const server = await startServer();

const SHARED = "shared@example.com";

const get = (workspace: TestWorkspace, query: string) =>
  workspace.call<any>(
    "GET",
    `/subscription/status/get?subscription_group_id=${NEWSLETTER}&${query}`,
  );

/** A user who is only known by an alias. */
const nameless = (name: string, changes: object = {}) => ({
  user_alias: { alias_name: name, alias_label: "crm" },
  _update_existing_only: false,
  ...changes,
});

/** The user who gets an event that only names the address: the most recently updated one. */
async function latestOf(workspace: TestWorkspace, email: string): Promise<string> {
  await workspace.track({ events: [{ email, name: "asked", time: "2026-01-01T00:00:00Z" }] });
  const holders = await workspace.profiles({ email_address: email });
  return holders.find((each) => each.custom_events?.length > 0)?.external_id;
}

describe("GET /subscription/status/get", () => {
  test("a group state read by external_id ignores any number of emails and phones", async () => {
    const workspace = await workspaceWithGroups(server);
    await users(workspace, { external_id: "ada", email: SHARED });
    await setV2(workspace, NEWSLETTER, "subscribed", { external_ids: ["ada"] });
    const others = Array.from({ length: 51 }, (_, index) => `email[]=no-address-${index}`);
    const answer = await get(workspace, `external_id=ada&phone=1&${others.join("&")}`);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body.status, { ada: "Subscribed" });
  });

  test("a group state read without external_id refuses more than 50 emails", async () => {
    const workspace = await workspaceWithGroups(server);
    const many = Array.from({ length: 51 }, (_, index) => `email[]=a${index}@example.com`);
    const answer = await get(workspace, many.join("&"));
    assert.equal(answer.status, 400);
    assert.match(answer.body.message, /'email' must have at most 50 items/);
  });

  test("among users without external_id at one address, Unsubscribed prevails over Subscribed and Unknown", async () => {
    const workspace = await workspaceWithGroups(server);
    const state = (subscription_state: string) => ({
      subscription_groups: [{ subscription_group_id: NEWSLETTER, subscription_state }],
    });
    const shown = async () => (await get(workspace, `email=${SHARED}`)).body.status;
    await users(workspace, nameless("none", { email: SHARED }));
    assert.deepEqual(await shown(), { [SHARED]: "Unknown" });
    await users(
      workspace,
      nameless("yes", state("subscribed")),
      nameless("no", state("unsubscribed")),
    );
    await users(workspace, nameless("yes", { email: SHARED }));
    await users(workspace, nameless("none", { email: SHARED, first_name: "N" }));
    assert.deepEqual(await shown(), { [SHARED]: "Subscribed" });
    await users(workspace, nameless("no", { email: SHARED }));
    await users(workspace, nameless("yes", { first_name: "Y" }));
    assert.deepEqual(await shown(), { [SHARED]: "Unsubscribed" });
  });

  test("the entry of a user whose external_id is a requested address is never overwritten", async () => {
    const workspace = await workspaceWithGroups(server);
    const other = "other@example.com";
    await users(workspace, { external_id: other, email: SHARED }, nameless("no", { email: other }));
    await setV2(workspace, NEWSLETTER, "unsubscribed", { emails: [other] });
    await setV2(workspace, NEWSLETTER, "subscribed", { external_ids: [other] });
    for (const query of [`email=${SHARED}&email=${other}`, `email=${other}&email=${SHARED}`]) {
      assert.deepEqual((await get(workspace, query)).body.status, { [other]: "Subscribed" });
    }
  });
});

test("setting a group state makes the named user the most recently updated one at the address", async () => {
  for (const set of VERSIONS) {
    const workspace = await workspaceWithGroups(server);
    const ids = ["ada", "bob", "cy"];
    await users(workspace, ...ids.map((external_id) => ({ external_id, email: SHARED })));
    for (const id of ["bob", "ada", "cy"]) {
      await set(workspace, NEWSLETTER, "subscribed", { external_ids: [id] });
      await set(workspace, NEWSLETTER, "unsubscribed", { external_ids: [id] });
    }
    assert.equal(await latestOf(workspace, SHARED), "cy");
    const before = await workspaceWithGroups(server);
    await users(before, ...ids.map((external_id) => ({ external_id, email: SHARED })));
    await set(before, NEWSLETTER, "subscribed", { external_ids: ["bob"] });
    assert.equal(await latestOf(before, SHARED), "bob");
  }
});

test("every call accepts the id of a subscription group in upper case", async () => {
  const workspace = await workspaceWithGroups(server);
  const upper = NEWSLETTER.toUpperCase();
  await users(workspace, { external_id: "ada" });
  for (const [set, state] of [
    [setV1, "Subscribed"],
    [setV2, "Unsubscribed"],
  ] as const) {
    const answer = await set(workspace, upper, state.toLowerCase(), { external_ids: ["ada"] });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    assert.deepEqual(await statesOf(workspace, NEWSLETTER, "ada"), { ada: state });
    assert.deepEqual(await statesOf(workspace, upper, "ada"), { ada: state });
  }
  const groups = [{ subscription_group_id: upper, subscription_state: "subscribed" }];
  await users(workspace, { external_id: "ada", subscription_groups: groups });
  assert.deepEqual(await statesOf(workspace, NEWSLETTER, "ada"), { ada: "Subscribed" });
});

test("a single-valued parameter is refused when it is repeated", async () => {
  const workspace = await workspaceWithGroups(server);
  const answer = await get(workspace, `external_id=ada&subscription_group_id=${NEWSLETTER}`);
  assert.equal(answer.status, 400);
  assert.match(answer.body.message, /'subscription_group_id' is given more than once/);
});

test("a later user of an address inherits no group state and is not subscribed", async () => {
  const workspace = await workspaceWithGroups(server);
  const emails = { emails: [SHARED] };
  await users(workspace, { external_id: "ada", email: SHARED });
  for (const [state, read] of [
    ["unsubscribed", "Unsubscribed"],
    ["subscribed", "Subscribed"],
  ] as const) {
    await setV2(workspace, NEWSLETTER, state, emails);
    await users(workspace, { external_id: state, email: SHARED });
    const states = await statesOf(workspace, NEWSLETTER, "ada", state);
    assert.deepEqual(states, { ada: read, [state]: "Unknown" });
  }
});

test("a refused set reports every invalid group and every invalid identifier with its position", async () => {
  const workspace = await workspaceWithGroups(server);
  const set = (subscription_group_id: string, names: object) => ({
    subscription_group_id,
    subscription_state: "subscribed",
    ...names,
  });
  const answer = await workspace.call<any>("POST", "/v2/subscription/status/set", {
    subscription_groups: [
      set("unknown", { emails: ["no-address", "ada@example.com", "neither"] }),
      set(NEWSLETTER, { external_ids: ["ada"] }),
      set(NEWSLETTER, { phones: ["123"] }),
    ],
  });
  assert.equal(answer.status, 400);
  assert.deepEqual(
    answer.body.errors.map((each: any) => [each.input_array, each.index, each.code]),
    [
      ["subscription_groups", 0, "INVALID_SUBSCRIPTION_GROUP_ID"],
      ["subscription_groups[0].emails", 0, "EMAIL_BAD_FORMAT"],
      ["subscription_groups[0].emails", 2, "EMAIL_BAD_FORMAT"],
      ["subscription_groups[2].phones", 0, "INVALID_PHONE"],
    ],
  );
});
