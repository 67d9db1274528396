/* How an address that several users share names one of them, in merge, identify and delete. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  alias,
  byAlias,
  byEmail,
  byPhone,
  id,
  identify,
  makeUsers,
  merge,
  notesOf,
  refuses,
  remove,
  skips,
  succeeds,
} from "../../../../core/people/identity/identity-calls.ts";
import { NEWSLETTER, startServer, type TestWorkspace } from "../../../../harness.ts";

const server = await startServer();

const EMAIL = "shared@example.com";
const PHONE = "+14155552671";

/** Two identified users and two alias-only ones share the addresses; they are in the order of updates. */
async function sharers(order: readonly string[]): Promise<TestWorkspace> {
  const workspace = await server.workspace();
  for (const name of order) {
    const identifier = name.startsWith("id") ? id(name) : byAlias(name);
    await makeUsers(workspace, { ...identifier, email: EMAIL, phone: PHONE });
  }
  return workspace;
}

/** Which users no longer exist after users with the address are deleted with a prioritization. */
async function goneAfter(
  workspace: TestWorkspace,
  order: readonly string[],
  prioritization: readonly string[],
): Promise<string[]> {
  await remove(workspace, { email_addresses: [byEmail(EMAIL, prioritization)] });
  const left = await workspace.profiles({
    external_ids: order.filter((name) => name.startsWith("id")),
    user_aliases: order.filter((name) => !name.startsWith("id")).map((name) => alias(name)),
  });
  const names = left.map((user) => user.external_id ?? user.user_aliases[0].alias_name);
  return order.filter((name) => !names.includes(name));
}

describe("the entries of a prioritization narrow the match in order", () => {
  const cases: [why: string, order: string[], prioritization: string[], gone: string[]][] = [
    ["the latest", ["id1", "a1", "id2", "a2"], ["most_recently_updated"], ["a2"]],
    [
      "the latest identified",
      ["id1", "id2", "a1"],
      ["identified", "most_recently_updated"],
      ["id2"],
    ],
    [
      "the latest unidentified",
      ["a1", "a2", "id1"],
      ["unidentified", "most_recently_updated"],
      ["a2"],
    ],
    ["the only identified", ["id1", "a1", "a2"], ["identified"], ["id1"]],
    ["the only unidentified", ["a1", "id1", "id2"], ["unidentified"], ["a1"]],
    [
      "the latest, which is not identified",
      ["id1", "a1"],
      ["most_recently_updated", "identified"],
      [],
    ],
    [
      "the latest, which is identified",
      ["a1", "id1"],
      ["most_recently_updated", "identified"],
      ["id1"],
    ],
    ["the earliest", ["id1", "a1", "id2", "a2"], ["least_recently_updated"], ["id1"]],
    [
      "the earliest unidentified",
      ["id1", "a1", "a2"],
      ["unidentified", "least_recently_updated"],
      ["a1"],
    ],
    ["several identified are left", ["id1", "id2"], ["identified"], []],
    ["several unidentified are left", ["a1", "a2", "id1"], ["unidentified"], []],
    ["no user is identified", ["a1"], ["identified"], []],
    ["no entry, one match", ["id1"], [], ["id1"]],
    ["no entry, two matches", ["id1", "a1"], [], []],
  ];
  for (const [why, order, prioritization, gone] of cases) {
    test(`prioritization ${prioritization.join(", ") || "none"} among ${order.join(", ")} resolves correctly: ${why}`, async () => {
      const workspace = await sharers(order);
      assert.deepEqual(await goneAfter(workspace, order, prioritization), gone);
    });
  }
});

test("an event makes its user the most recently updated one", async () => {
  const workspace = await sharers(["id1", "id2"]);
  await workspace.track({
    events: [{ external_id: "id1", name: "late", time: "2020-01-01T00:00:00Z" }],
  });
  assert.deepEqual(await goneAfter(workspace, ["id1", "id2"], ["most_recently_updated"]), ["id1"]);
});

describe("of two users updated at the same moment, the one created later counts as most recently updated", () => {
  const headers = { "idempotency-key": "profiles are locked before they are read" };
  for (const [how, options] of [
    ["as a request comes", {}],
    ["with an Idempotency-Key", { headers }],
  ] as const) {
    test(how, async () => {
      const order = ["id1", "id2", "id3"];
      const workspace = await sharers(order);
      // One item reaches all three: whom it names is the last, the others are equal.
      const group = { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" };
      await workspace.track({ attributes: [{ ...id("id3"), subscription_groups: [group] }] });
      await succeeds(remove(workspace, { external_ids: ["id3"] }));
      const body = { email_addresses: [byEmail(EMAIL)] };
      await succeeds(workspace.call("POST", "/users/delete", body, options));
      const left = await workspace.profiles({ external_ids: order });
      assert.deepEqual(
        left.map((user) => user.external_id),
        ["id1"],
      );
    });
  }
});

test("an ambiguous match in merge, identify or delete changes nothing and is reported as skipped", async () => {
  const order = ["id1", "id2", "a1", "a2"];
  const workspace = await sharers(order);
  await makeUsers(workspace, id("ada"));
  const identified = byEmail(EMAIL, ["identified"]);
  const phone = byPhone(PHONE, ["identified"]);
  await skips(
    merge(workspace, [
      [identified, id("ada")],
      [id("ada"), identified],
      [phone, id("ada")],
    ]),
    "merge_updates 0 AMBIGUOUS_MATCH",
    "merge_updates 1 AMBIGUOUS_MATCH",
    "merge_updates 2 AMBIGUOUS_MATCH",
  );
  const unidentified = ["unidentified"];
  const { aliases_processed } = await skips(
    identify(workspace, {
      emails_to_identify: [{ ...id("new"), ...byEmail(EMAIL, unidentified) }],
      phone_numbers_to_identify: [{ ...id("new"), ...byPhone(PHONE, unidentified) }],
    }),
    "emails_to_identify 0 AMBIGUOUS_MATCH",
    "phone_numbers_to_identify 0 AMBIGUOUS_MATCH",
  );
  const byAddress = remove(workspace, { email_addresses: [identified] });
  const { deleted } = await skips(byAddress, "email_addresses 0 AMBIGUOUS_MATCH");
  await skips(remove(workspace, { phone_numbers: [phone] }), "phone_numbers 0 AMBIGUOUS_MATCH");
  assert.deepEqual([aliases_processed, deleted], [2, 1], "what is accepted counts");
  const left = await workspace.profiles({ external_ids: ["ada", "id1", "id2", "new"] });
  assert.equal(left.length, 3);
  assert.equal((await workspace.profiles({ email_address: EMAIL })).length, 4);
});

test("a merge item sees the effects of earlier items, so its match may no longer be ambiguous", async () => {
  const workspace = await sharers(["id1", "id2"]);
  await makeUsers(workspace, id("ada"));
  const identified = byEmail(EMAIL, ["identified"]);
  await skips(
    merge(workspace, [
      [identified, id("ada")],
      [id("id1"), id("id2")],
      [identified, id("ada")],
    ]),
    "merge_updates 0 AMBIGUOUS_MATCH",
  );
  const [ada, ...others] = await workspace.profiles({ external_ids: ["ada", "id1", "id2"] });
  assert.deepEqual([ada?.external_id, ada?.email, others], ["ada", EMAIL, []]);
});

test("an email address in a delete request is matched case-insensitively", async () => {
  const workspace = await server.workspace();
  await makeUsers(workspace, { ...id("ada"), email: "Ada@Example.com" });
  await succeeds(remove(workspace, { email_addresses: [byEmail("aDA@eXAMPLE.com")] }));
  assert.deepEqual(await workspace.profiles({ external_ids: ["ada"] }), []);
});

describe("an invalid prioritization is refused", () => {
  const cases: [why: string, prioritization: unknown][] = [
    ["it is missing", undefined],
    ["it is null", null],
    ["it is no array", "identified"],
    ["it holds another value", ["recently_updated"]],
    ["it holds no string", [1]],
    ["it holds both identified and unidentified", ["identified", "unidentified"]],
    [
      "it holds both, apart from each other",
      ["unidentified", "most_recently_updated", "identified"],
    ],
  ];
  for (const [why, prioritization] of cases) {
    test(`merge, identify and delete refuse a prioritization if ${why}`, async () => {
      const workspace = await sharers(["id1", "a1"]);
      const email = { email: EMAIL, prioritization };
      const phone = { phone: PHONE, prioritization };
      for (const selector of [email, phone]) {
        await refuses(merge(workspace, [[selector, id("id1")]]), /'prioritization' m/);
        await refuses(merge(workspace, [[id("id1"), selector]]), /'prioritization' m/);
      }
      const refusals = [
        identify(workspace, { emails_to_identify: [{ ...id("x"), ...email }] }),
        identify(workspace, { phone_numbers_to_identify: [{ ...id("x"), ...phone }] }),
        remove(workspace, { email_addresses: [email] }),
        remove(workspace, { phone_numbers: [phone] }),
      ];
      for (const refusal of refusals) {
        const { errors } = await refuses(refusal, /'prioritization' m/);
        assert.match(notesOf(errors).join(), /^\w+ 0 INVALID_PRIORITIZATION$/);
      }
      assert.equal((await workspace.profiles({ email_address: EMAIL })).length, 2);
    });
  }
});
