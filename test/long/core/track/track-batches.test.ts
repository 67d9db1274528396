/*
 * However objects are grouped into requests, they have the effects of one after the other: random
 * objects about a few people and addresses are sent once one by one and once in requests of random
 * sizes, and both workspaces must end up with the same people.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ALERTS, NEWSLETTER, startServer, type TestWorkspace } from "../../../harness.ts";
import { sized } from "../../../sizes.ts";

const server = await startServer();

const ARRAYS = ["attributes", "events", "purchases"] as const;
type Sent = { readonly array: (typeof ARRAYS)[number]; readonly object: object };

const EXTERNAL_IDS = ["a", "b", "c"];
const EMAILS = ["x@example.com", "X@Example.com", "y@example.com"];
const PHONES = ["+14155552671", "+442071838750"];
const ALIASES = ["p", "q"].map((name) => ({ alias_name: name, alias_label: "l" }));

const flags = fc.option(fc.boolean(), { nil: undefined });
const identifier = fc.oneof(
  { weight: 3, arbitrary: fc.record({ external_id: fc.constantFrom(...EXTERNAL_IDS) }) },
  { weight: 2, arbitrary: fc.record({ email: fc.constantFrom(...EMAILS) }) },
  fc.record({ phone: fc.constantFrom(...PHONES) }),
  fc.record({ user_alias: fc.constantFrom(...ALIASES) }),
);
const state = fc.constantFrom("subscribed", "unsubscribed");
const group = fc.record({
  subscription_group_id: fc.constantFrom(NEWSLETTER, ALERTS),
  subscription_state: state,
});
const changes = fc.record(
  {
    email: fc.constantFrom(...EMAILS, null),
    phone: fc.constantFrom(...PHONES, null),
    first_name: fc.constantFrom("Ada", null),
    email_subscribe: fc.constantFrom("opted_in", "unsubscribed", null),
    subscription_groups: fc.array(group, { minLength: 1, maxLength: 2 }),
    count: fc.constantFrom<unknown>({ inc: 1 }, { inc: -3 }, 5, "text", null),
    tags: fc.constantFrom<unknown>({ add: ["t"] }, { add: ["u"], remove: ["t"] }, ["v"], null),
    nested: fc.constantFrom<unknown>({ a: 1 }, { b: { c: 2 } }, null),
    _merge_objects: fc.boolean(),
  },
  { requiredKeys: [] },
);
const object = (parts: object[], update: boolean | undefined) =>
  Object.assign({}, ...parts, update === undefined ? {} : { _update_existing_only: update });
const TIME = { time: "2026-01-01T12:00:00Z" };
const sent: fc.Arbitrary<Sent> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(changes, identifier, flags).map(([change, named, update]) => ({
      array: "attributes" as const,
      object: object([change, named], update),
    })),
  },
  fc.tuple(identifier, flags).map(([named, update]) => ({
    array: "events" as const,
    object: object([named, { name: "e", ...TIME }], update),
  })),
  fc.tuple(identifier, flags).map(([named, update]) => ({
    array: "purchases" as const,
    object: object([named, { product_id: "p", currency: "EUR", price: 0.1, ...TIME }], update),
  })),
);
/** Requests, each with its objects in the order of their effects. */
const requests = fc
  .array(fc.array(sent, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 5 })
  .map((lists) =>
    lists.map((list) => ARRAYS.flatMap((name) => list.filter((s) => s.array === name))),
  );

/** Sends objects in one request; answers with what became of each. */
async function verdictsOn(workspace: TestWorkspace, list: readonly Sent[]): Promise<string[]> {
  const body = Object.fromEntries(
    ARRAYS.map((name) => [name, list.filter((s) => s.array === name).map((s) => s.object)]),
  );
  const { status, body: answer } = await workspace.track(body);
  assert.ok(status === 201 || status === 400, answer.message);
  const notes = [...(answer.errors ?? []), ...(answer.skipped ?? [])];
  return ARRAYS.flatMap((name) =>
    (body[name] ?? []).map((_, index) => {
      const note = notes.find((each) => each.input_array === name && each.index === index);
      return note?.code ?? "applied";
    }),
  );
}

/** Everybody, without what differs from workspace to workspace. */
async function everybody(workspace: TestWorkspace): Promise<unknown[]> {
  const lists = await Promise.all([
    workspace.profiles({ external_ids: EXTERNAL_IDS, user_aliases: ALIASES }),
    ...EMAILS.map((email_address) => workspace.profiles({ email_address })),
    ...PHONES.map((phone) => workspace.profiles({ phone })),
  ]);
  const found = new Map(lists.flat().map((profile) => [profile.platform_id, profile]));
  return [...found.values()]
    .map(({ platform_id: _1, braze_id: _2, created_at: _3, random_bucket: _4, ...rest }) => ({
      ...rest,
      subscription_groups: rest.subscription_groups
        .map((each: any) => `${each.id} ${each.status}`)
        .sort(),
    }))
    .map((profile) => JSON.stringify(profile))
    .sort();
}

async function sameTogether(lists: readonly (readonly Sent[])[]): Promise<void> {
  const [single, together] = [await server.workspace(), await server.workspace()];
  for (const list of lists) {
    const expected: string[] = [];
    for (const each of list) expected.push(...(await verdictsOn(single, [each])));
    assert.deepEqual(await verdictsOn(together, list), expected);
  }
  assert.deepEqual(await everybody(together), await everybody(single));
}

test("objects have the same effects and results in one request as in separate requests", async () => {
  await fc.assert(fc.asyncProperty(requests, sameTogether), { numRuns: sized(5, 20) });
});

test("a user whom a request updates after a state for everyone with an address is the most recently updated of them", async () => {
  const workspace = await server.workspace();
  const holders = ["a", "b", "c", "d", "e", "f"];
  for (const [address, subscription_group_id] of [
    [{ email: EMAILS[0] }, NEWSLETTER],
    [{ phone: PHONES[0] }, ALERTS],
  ] as const) {
    const attributes = holders.map((external_id) => ({ external_id, ...address }));
    await workspace.track({ attributes });
    const subscription_groups = [{ subscription_group_id, subscription_state: "subscribed" }];
    for (const updated of ["a", "c", "e"]) {
      const { body } = await workspace.track({
        attributes: [
          { external_id: "f", subscription_groups },
          { external_id: updated, first_name: "Ada" },
          { ...address, last_name: updated },
        ],
      });
      assert.equal(body.errors, undefined);
      const [profile] = await workspace.profiles({ external_ids: [updated] });
      assert.equal(profile?.last_name, updated);
    }
  }
});

const emailStates: fc.Arbitrary<Sent> = fc
  .tuple(
    fc.record(
      {
        email: fc.constantFrom("x@example.com", "y@example.com", null),
        email_subscribe: fc.constantFrom("opted_in", "unsubscribed", null),
      },
      { requiredKeys: [] },
    ),
    fc.constantFrom(...EXTERNAL_IDS),
  )
  .map(([change, external_id]) => ({ array: "attributes", object: { ...change, external_id } }));

test("email states end the same in one request as in separate requests", async () => {
  const lists = fc.array(fc.array(emailStates, { minLength: 1, maxLength: 8 }), { maxLength: 3 });
  await fc.assert(fc.asyncProperty(lists, sameTogether), { numRuns: sized(6, 25) });
});

test("an email state that a request sets again counts from its last object, even if the request set another in between", async () => {
  const email = "x@example.com";
  const set = (email_subscribe: string) => ({ external_id: "a", email, email_subscribe });
  const pending = { external_id: "b", email_subscribe: "opted_in" };
  const requests = [
    [[set("unsubscribed")], [pending], [set("unsubscribed"), set("opted_in"), set("unsubscribed")]],
    [[set("opted_in"), set("unsubscribed"), pending, set("unsubscribed")]],
  ];
  for (const lists of requests) {
    const workspace = await server.workspace();
    for (const attributes of lists) await workspace.track({ attributes });
    await workspace.track({ attributes: [{ external_id: "b", email }] });
    const [profile] = await workspace.profiles({ external_ids: ["a"] });
    assert.equal(profile?.email_subscribe, "unsubscribed");
  }
});

test("a pending email state counts as newer than a state that the same request set for the address before", async () => {
  const [single, together] = [await server.workspace(), await server.workspace()];
  const both = [
    { external_id: "a", email: "x@example.com", email_subscribe: "opted_in" },
    { external_id: "b", email_subscribe: null },
  ];
  for (const each of both) await single.track({ attributes: [each] });
  await together.track({ attributes: both });
  for (const workspace of [single, together]) {
    await workspace.track({ attributes: [{ external_id: "b", email: "x@example.com" }] });
    const [profile] = await workspace.profiles({ external_ids: ["a"] });
    assert.equal(profile?.email_subscribe, "subscribed");
  }
});
