/* Rules for the merge of any two profiles (src/core/people/identity/combine/). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { addDecimals, centsOf } from "../../../../src/core/base/values/decimals.ts";
import type { Interaction } from "../../../../src/core/people/activity/activity.ts";
import { combine } from "../../../../src/core/people/identity/combine/combine.ts";
import type { Extent } from "../../../../src/core/people/identity/combine/effects.ts";
import { EMPTY, type Whole } from "../../../../src/core/people/identity/combine/whole.ts";

/** Records as `JSON.parse` and the engine give them. */
const plain = <Members>(members: { [Name in keyof Members]: fc.Arbitrary<Members[Name]> }) =>
  fc.record(members, { noNullPrototype: true }) as fc.Arbitrary<Members>;

const name = fc.constantFrom("a", "b", "c", "d");

const time = fc
  .integer({ min: 0, max: 1_000 })
  .map((days) => new Date(Date.UTC(2024, 0, 1) + days * 86_400_000));

const isoTime = time.map((date) => date.toISOString());

const span = fc.tuple(time, time).map(([one, other]) => ({
  firstAt: one < other ? one : other,
  lastAt: one < other ? other : one,
}));

const count = fc.integer({ min: 1, max: 1_000 });

const decimal = fc
  .tuple(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.integer({ min: 0, max: 4 }))
  .map(([units, digits]) => (units / 10 ** digits).toFixed(digits));

const listOf = <Thing>(thing: fc.Arbitrary<Thing>, key: (thing: Thing) => string) =>
  fc.uniqueArray(thing, { selector: key, maxLength: 4 });

const attributes = (value: fc.Arbitrary<any>) =>
  fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true });

const interaction: fc.Arbitrary<Interaction> = plain({
  kind: fc.constantFrom("campaign", "canvas", "card"),
  id: name,
  details: plain({ last_received: isoTime, converted: fc.boolean() }),
});

const whole: fc.Arbitrary<Whole> = plain({
  profile: plain({
    externalId: fc.option(name),
    aliases: listOf(plain({ alias_name: name, alias_label: name }), JSON.stringify),
    email: fc.option(name),
    phone: fc.option(name),
    standardAttributes: fc
      .record(
        {
          first_name: name,
          date_of_first_session: isoTime,
          date_of_last_session: isoTime,
          last_opened_email_at: isoTime,
        },
        { requiredKeys: [], noNullPrototype: true },
      )
      .map((values) => values as Record<string, string>),
    customAttributes: attributes(fc.oneof(name, fc.integer(), fc.boolean())),
  }),
  belongings: plain({
    events: listOf(
      fc.tuple(name, count, span).map(([event, times, dates]) => ({
        name: event,
        count: times,
        ...dates,
      })),
      (event) => event.name,
    ),
    purchases: listOf(
      fc
        .tuple(name, fc.constantFrom("USD", "EUR"), count, decimal, span)
        .map(([productId, currency, times, revenue, dates]) => ({
          productId,
          currency,
          count: times,
          revenue,
          ...dates,
        })),
      ({ productId, currency }) => `${productId} ${currency}`,
    ),
    groupStates: listOf(
      plain({ groupId: name, state: fc.constantFrom("subscribed", "unsubscribed") }),
      ({ groupId }) => groupId,
    ),
    apps: listOf(
      fc.tuple(name, count, name, time, time).map(([appId, sessions, version, a, b]) => ({
        appId,
        sessions,
        version,
        firstUsedAt: a,
        lastUsedAt: b,
      })),
      ({ appId }) => appId,
    ),
    devices: listOf(
      plain({ deviceId: name, details: attributes(name) }),
      ({ deviceId }) => deviceId,
    ),
    interactions: listOf(interaction, ({ kind, id }) => `${kind} ${id}`),
    messages: fc.nat(100),
  }),
});

const extent = fc.constantFrom<Extent>("all", "all_but_devices", "tokens_and_messages");

const merge = (kept: Whole, merged: Whole, how: Extent = "all") =>
  combine(kept, merged, how, false).value;

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

/** A whole in a form that is equal for any order of its lists. */
function unordered({ profile, belongings }: Whole): unknown {
  const sorted = (list: readonly unknown[]) => list.map((each) => JSON.stringify(each)).sort();
  const { messages, ...lists } = belongings;
  return {
    ...profile,
    aliases: sorted(profile.aliases),
    messages,
    ...Object.fromEntries(Object.entries(lists).map(([key, list]) => [key, sorted(list)])),
  };
}

describe("a merge of any two profiles", () => {
  test("merging two profiles adds up their counts and amounts", () => {
    fc.assert(
      fc.property(whole, whole, (kept, merged) => {
        const result = merge(kept, merged).belongings;
        const [a, b] = [kept.belongings, merged.belongings];
        for (const list of ["events", "purchases"] as const) {
          const total = (of: typeof a) => sum(of[list].map((each) => each.count));
          assert.equal(total(result), total(a) + total(b));
        }
        const sessions = (of: typeof a) => sum(of.apps.map((each) => each.sessions));
        assert.equal(sessions(result), sessions(a) + sessions(b));
        const amount = (of: typeof a) => of.purchases.map((each) => each.revenue);
        assert.equal(
          centsOf(amount(result).reduce(addDecimals, "0")),
          centsOf([...amount(a), ...amount(b)].reduce(addDecimals, "0")),
        );
        assert.equal(result.messages, a.messages + b.messages);
      }),
    );
  });

  test("merging loses nothing of the kept profile", () => {
    fc.assert(
      fc.property(whole, whole, extent, (kept, merged, how) => {
        const result = merge(kept, merged, how);
        assert.deepEqual(
          { ...result.profile.customAttributes, ...kept.profile.customAttributes },
          result.profile.customAttributes,
        );
        for (const field of ["externalId", "email", "phone"] as const) {
          if (kept.profile[field] !== null) {
            assert.equal(result.profile[field], kept.profile[field]);
          }
        }
        const { first_name } = kept.profile.standardAttributes;
        if (first_name) assert.equal(result.profile.standardAttributes.first_name, first_name);
        for (const alias of kept.profile.aliases) {
          assert.ok(result.profile.aliases.some((each) => each.alias_name === alias.alias_name));
        }
        for (const { groupId, state } of kept.belongings.groupStates) {
          const own = result.belongings.groupStates.find((each) => each.groupId === groupId);
          assert.equal(own?.state, state);
        }
        for (const { deviceId, details } of kept.belongings.devices) {
          const own = result.belongings.devices.find((each) => each.deviceId === deviceId);
          assert.deepEqual({ ...own?.details, ...details }, own?.details);
        }
      }),
    );
  });

  test("the first and last times of merged events cover both profiles", () => {
    fc.assert(
      fc.property(whole, whole, (kept, merged) => {
        const result = merge(kept, merged).belongings.events;
        for (const part of [...kept.belongings.events, ...merged.belongings.events]) {
          const both = result.find((each) => each.name === part.name);
          assert.ok(both && both.firstAt <= part.firstAt && both.lastAt >= part.lastAt);
        }
      }),
    );
  });

  test("merging an empty profile into another one changes nothing", () => {
    fc.assert(
      fc.property(whole, extent, (kept, how) => {
        assert.deepEqual(merge(kept, EMPTY, how), kept);
      }),
    );
  });

  test("merging a profile into an empty one yields the merged profile", () => {
    fc.assert(
      fc.property(whole, (merged) => {
        assert.deepEqual(merge(EMPTY, merged), merged);
      }),
    );
  });

  test("merging A into B and then into C gives the same result as merging B into C and then A", () => {
    fc.assert(
      fc.property(whole, whole, whole, (a, b, c) => {
        const chained = merge(c, merge(b, a));
        const direct = merge(merge(c, b), a);
        assert.deepEqual(unordered(chained), unordered(direct));
      }),
    );
  });

  test("merged event counts do not depend on which profile is kept", () => {
    fc.assert(
      fc.property(whole, whole, (one, other) => {
        const counted = ({ belongings }: Whole) =>
          unordered({
            profile: EMPTY.profile,
            belongings: { ...EMPTY.belongings, events: belongings.events },
          });
        assert.deepEqual(counted(merge(one, other)), counted(merge(other, one)));
      }),
    );
  });

  test("a merge reports an effect for every attribute, event and device of the merged profile", () => {
    fc.assert(
      fc.property(whole, whole, extent, (kept, merged, how) => {
        const { effects } = combine(kept, merged, how, false);
        const told = (field: string) => effects.filter((each) => each.field === field).length;
        assert.equal(
          told("custom_attributes"),
          Object.keys(merged.profile.customAttributes).length,
        );
        assert.equal(told("custom_events"), merged.belongings.events.length);
        assert.equal(told("devices"), merged.belongings.devices.length);
      }),
    );
  });
});

describe("decimal addition", () => {
  test("adding decimal amounts is exact", () => {
    const cents = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n });
    const text = (amount: bigint) => {
      const digits = String(amount < 0n ? -amount : amount).padStart(3, "0");
      return `${amount < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
    };
    fc.assert(
      fc.property(cents, cents, (one, other) => {
        assert.equal(addDecimals(text(one), text(other)), text(one + other));
      }),
    );
  });

  test("adding decimals keeps the longer fraction, and an amount may include fractions of a cent", () => {
    assert.equal(addDecimals("1", "2"), "3");
    assert.equal(addDecimals("0.1", "0.025"), "0.125");
    assert.equal(addDecimals("-0.05", "0.05"), "0.00");
    assert.equal(centsOf("12.5"), 1250);
    assert.equal(centsOf("-0.125"), -12.5);
    assert.equal(centsOf("7"), 700);
  });
});
