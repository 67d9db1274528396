/* How much data is copied when two profiles are merged, and what the merge reports about itself. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { combine } from "../../../../src/core/people/identity/combine/combine.ts";
import type { Extent } from "../../../../src/core/people/identity/combine/effects.ts";
import type { Whole } from "../../../../src/core/people/identity/combine/whole.ts";
import { alias, app, campaign, EARLY, event, LATE, person, purchase, token } from "./wholes.ts";

/** A profile with something of everything. */
const everything = person(
  {
    aliases: [alias("a")],
    email: "m@x.org",
    phone: "+1",
    standardAttributes: {
      first_name: "Ada",
      push_tokens: [token("t")],
      last_opened_email_at: LATE,
    },
    customAttributes: { plan: "x" },
  },
  {
    events: event(3, EARLY, LATE).belongings.events,
    purchases: purchase(2, "3.50", EARLY, LATE).belongings.purchases,
    groupStates: [{ groupId: "g", state: "subscribed" }],
    apps: app(4, EARLY, LATE).belongings.apps,
    devices: [{ deviceId: "d", details: { model: "m" } }],
    interactions: campaign({ last_received: EARLY }).belongings.interactions,
    messages: 2,
  },
);

/** The same events, products, apps, … with other values. */
const OTHER_BELONGINGS = {
  events: event(1, LATE, LATE).belongings.events,
  purchases: purchase(1, "1.00", LATE, LATE).belongings.purchases,
  groupStates: [{ groupId: "g", state: "unsubscribed" }],
  apps: app(1, LATE, LATE).belongings.apps,
  devices: [{ deviceId: "d", details: { model: "k" } }],
  interactions: campaign({ last_received: LATE }).belongings.interactions,
} as const;

describe("the extent of a merge", () => {
  const identified = person({ externalId: "k" });

  test("a merge of all carries over everything from the merged profile", () => {
    const { value } = combine(identified, everything, "all", false);
    assert.deepEqual(value, {
      ...everything,
      profile: { ...everything.profile, externalId: "k" },
    });
  });

  test("a merge of all_but_devices carries over everything but device information", () => {
    const { value } = combine(identified, everything, "all_but_devices", false);
    assert.deepEqual(value.belongings, { ...everything.belongings, devices: [] });
    assert.deepEqual(value.profile, { ...everything.profile, externalId: "k" });
  });

  test("a merge of tokens_and_messages carries over only aliases, push tokens and messages", () => {
    const { value } = combine(identified, everything, "tokens_and_messages", false);
    assert.deepEqual(
      value,
      person(
        {
          externalId: "k",
          aliases: [alias("a")],
          standardAttributes: { push_tokens: [token("t")] },
        },
        { messages: 2 },
      ),
    );
  });
});

describe("the effects that a merge reports", () => {
  const effectsOf = (kept: Whole, merged: Whole, extent: Extent = "all", redirects = false) =>
    combine(kept, merged, extent, redirects).effects.map(({ field, name, effect }) =>
      [field, name, effect].filter((each) => each !== undefined).join(" "),
    );

  test("a merge reports every item of the merged profile with its effect", () => {
    assert.deepEqual(effectsOf(person(), everything), [
      "user_aliases combined",
      "email taken",
      "phone taken",
      "first_name taken",
      "last_opened_email_at taken",
      "push_tokens taken",
      "custom_attributes plan taken",
      "custom_events e added_up",
      "purchases p (USD) added_up",
      "subscription_groups g taken",
      "apps app taken",
      "devices d taken",
      "campaigns_received c taken",
      "session_count added_up",
      "purchase_count added_up",
      "purchase_amount_cents added_up",
      "message_history added_up",
    ]);
  });

  test("a merge reports an item that both profiles have as kept, later or combined", () => {
    const same = effectsOf(everything, everything);
    assert.deepEqual(
      same.filter((each) => / (?:kept|later|combined)$/.test(each)),
      [
        "user_aliases combined",
        "email kept",
        "phone kept",
        "first_name kept",
        "last_opened_email_at later",
        "push_tokens combined",
        "custom_attributes plan kept",
        "subscription_groups g kept",
        "devices d kept",
        "campaigns_received c later",
      ],
    );
  });

  test("a merge reports every item that it does not carry over as left", () => {
    const told = effectsOf(person(), everything, "tokens_and_messages");
    assert.deepEqual(
      told.filter((each) => !each.endsWith(" left")),
      ["user_aliases combined", "push_tokens taken", "message_history added_up"],
    );
  });

  test("what a merge leaves behind changes nothing: its result is the value that the kept profile has", () => {
    const holders = [person(), person({ customAttributes: { plan: "own" } }, OTHER_BELONGINGS)];
    for (const extent of ["all_but_devices", "tokens_and_messages"] as const) {
      for (const kept of holders) {
        const left = combine(kept, everything, extent, false).effects.filter(
          ({ effect }) => effect === "left",
        );
        assert.ok(left.length > 0);
        for (const effect of left) {
          assert.deepEqual(effect.result, effect.kept, `${extent}: ${effect.field}`);
          assert.notDeepEqual(effect.result, effect.merged, `${extent}: ${effect.field}`);
        }
      }
    }
  });

  test("a merge reports the external_id as taken, freed or redirected", () => {
    const [named, merged] = [person({ externalId: "k" }), person({ externalId: "m" })];
    assert.deepEqual(effectsOf(person(), merged), ["external_id taken"]);
    assert.deepEqual(effectsOf(named, merged), ["external_id freed"]);
    assert.deepEqual(effectsOf(named, merged, "all", true), ["external_id redirected"]);
  });

  test("a merge reports revenue in cents, before and after", () => {
    const { effects } = combine(
      purchase(1, "10.05", EARLY, EARLY),
      purchase(2, "0.1", EARLY, EARLY, "EUR"),
      "all",
      false,
    );
    const total = effects.find(({ field }) => field === "purchase_amount_cents");
    assert.deepEqual([total?.kept, total?.merged, total?.result], [1005, 10, 1015]);
  });
});
