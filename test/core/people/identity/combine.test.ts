/*
 * The rules for merging two profiles (src/core/people/identity/combine/), line by line.
 * identity-merge-data.test.ts shows the same on stored rows.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { combine } from "../../../../src/core/people/identity/combine/combine.ts";
import type { Whole } from "../../../../src/core/people/identity/combine/whole.ts";
import {
  alias,
  app,
  campaign,
  canvas,
  custom,
  device,
  EARLY,
  event,
  group,
  LATE,
  MIDDLE,
  person,
  purchase,
  standard,
  token,
} from "./wholes.ts";

type Case = readonly [what: string, kept: Whole, merged: Whole, result: Whole];

const TAKEN_WHERE_MISSING = [
  ["first_name", "Ada"],
  ["last_name", "Lovelace"],
  ["gender", "F"],
  ["dob", "1915-12-10"],
  ["time_zone", "Europe/London"],
  ["home_city", "London"],
  ["country", "GB"],
  ["language", "en"],
  ["image_url", "https://example.com/ada.png"],
  ["marked_email_as_spam_at", EARLY],
] as const;

describe("a merge takes a single value only if the kept profile lacks it", () => {
  const cases: Case[] = [
    ...TAKEN_WHERE_MISSING.flatMap(([name, value]): Case[] => [
      [`${name}, missing`, standard({}), standard({ [name]: value }), standard({ [name]: value })],
      [
        `${name}, present`,
        standard({ [name]: "own" }),
        standard({ [name]: value }),
        standard({ [name]: "own" }),
      ],
      [
        `${name}, only kept`,
        standard({ [name]: "own" }),
        standard({}),
        standard({ [name]: "own" }),
      ],
    ]),
    [
      "email and phone, missing",
      person(),
      person({ email: "m@x.org", phone: "+1" }),
      person({ email: "m@x.org", phone: "+1" }),
    ],
    [
      "email, present; phone, missing",
      person({ email: "k@x.org" }),
      person({ email: "m@x.org", phone: "+1" }),
      person({ email: "k@x.org", phone: "+1" }),
    ],
    ["external_id, missing", person(), person({ externalId: "m" }), person({ externalId: "m" })],
    [
      "external_id, present",
      person({ externalId: "k" }),
      person({ externalId: "m" }),
      person({ externalId: "k" }),
    ],
    [
      "custom attributes, one present and one missing",
      custom({ plan: "own", nested: { a: 1 } }),
      custom({ plan: "other", nested: { b: 2 }, seats: 3 }),
      custom({ plan: "own", nested: { a: 1 }, seats: 3 }),
    ],
    [
      "false, zero and the empty text are values too",
      custom({ yes: false, count: 0, text: "" }),
      custom({ yes: true, count: 1, text: "x" }),
      custom({ yes: false, count: 0, text: "" }),
    ],
    [
      "group states, present",
      group("g", "unsubscribed"),
      group("g", "subscribed"),
      group("g", "unsubscribed"),
    ],
    [
      "group states, missing",
      group("g", "unsubscribed"),
      group("h", "subscribed"),
      person(
        {},
        {
          groupStates: [
            { groupId: "g", state: "unsubscribed" },
            { groupId: "h", state: "subscribed" },
          ],
        },
      ),
    ],
    [
      "device information: fields of one device",
      device("d", { model: "own" }),
      device("d", { model: "other", os: "17" }),
      device("d", { model: "own" }),
    ],
    [
      "device information: a device",
      device("d", { model: "one" }),
      device("e", { model: "two" }),
      device("d", { model: "one" }),
    ],
    [
      "device information: all devices, if the kept profile has none",
      person({}, {}),
      device("d", { model: "one" }),
      device("d", { model: "one" }),
    ],
  ];
  table(cases);
});

describe("a merge keeps all aliases and push tokens of both profiles, each once", () => {
  table([
    [
      "aliases with one label",
      person({ aliases: [alias("a"), alias("b")] }),
      person({ aliases: [alias("c"), alias("c", "m")] }),
      person({ aliases: [alias("a"), alias("b"), alias("c"), alias("c", "m")] }),
    ],
    [
      "push tokens",
      standard({ push_tokens: [token("one"), token("two", "own")] }),
      standard({ push_tokens: [token("two", "other"), token("three")] }),
      standard({ push_tokens: [token("one"), token("two", "own"), token("three")] }),
    ],
  ]);
});

describe("a merge keeps the earlier or the later date, depending on the field", () => {
  table([
    [
      "the first session, earlier on the merged profile",
      standard({ date_of_first_session: MIDDLE }),
      standard({ date_of_first_session: EARLY }),
      standard({ date_of_first_session: EARLY }),
    ],
    [
      "the first session, later on the merged profile",
      standard({ date_of_first_session: MIDDLE }),
      standard({ date_of_first_session: LATE }),
      standard({ date_of_first_session: MIDDLE }),
    ],
    [
      "the last session, later on the merged profile",
      standard({ date_of_last_session: MIDDLE }),
      standard({ date_of_last_session: LATE }),
      standard({ date_of_last_session: LATE }),
    ],
    [
      "the last session, earlier on the merged profile",
      standard({ date_of_last_session: MIDDLE }),
      standard({ date_of_last_session: EARLY }),
      standard({ date_of_last_session: MIDDLE }),
    ],
    [
      "Last_X_at fields, newer on the merged profile",
      standard({ last_opened_email_at: MIDDLE }),
      standard({ last_opened_email_at: LATE, last_clicked_push_at: EARLY }),
      standard({ last_opened_email_at: LATE, last_clicked_push_at: EARLY }),
    ],
    [
      "Last_X_at fields, older on the merged profile",
      standard({ last_opened_email_at: MIDDLE }),
      standard({ last_opened_email_at: EARLY }),
      standard({ last_opened_email_at: MIDDLE }),
    ],
    [
      "a campaign: the later date, what was done stays done, the rest is the newer one's",
      campaign({
        last_received: MIDDLE,
        variation_name: "old",
        in_control: true,
        converted: true,
        engaged: { opened_email: true, clicked_email: false },
      }),
      campaign({
        last_received: LATE,
        variation_name: "new",
        in_control: false,
        converted: false,
        engaged: { opened_email: false, clicked_email: true, opened_push: false },
      }),
      campaign({
        last_received: LATE,
        variation_name: "new",
        in_control: false,
        converted: true,
        engaged: { opened_email: true, clicked_email: true, opened_push: false },
      }),
    ],
    [
      "a campaign that is older on the merged profile",
      campaign({ last_received: MIDDLE, variation_name: "own" }),
      campaign({ last_received: EARLY, variation_name: "other", name: "Welcome" }),
      campaign({ last_received: MIDDLE, variation_name: "own", name: "Welcome" }),
    ],
    [
      "a canvas and its steps: each date is the later one",
      canvas({
        last_entered: LATE,
        last_exited: EARLY,
        steps_received: [{ api_canvas_step_id: "s", last_received: EARLY }],
      }),
      canvas({
        last_entered: EARLY,
        last_exited: MIDDLE,
        last_received_message: MIDDLE,
        steps_received: [
          { api_canvas_step_id: "s", last_received: LATE },
          { api_canvas_step_id: "t", last_received: EARLY },
        ],
      }),
      canvas({
        last_entered: LATE,
        last_exited: MIDDLE,
        last_received_message: MIDDLE,
        steps_received: [
          { api_canvas_step_id: "s", last_received: LATE },
          { api_canvas_step_id: "t", last_received: EARLY },
        ],
      }),
    ],
  ]);
});

describe("a merge adds up counts and amounts", () => {
  table([
    ["an event of both", event(2, MIDDLE, MIDDLE), event(3, EARLY, LATE), event(5, EARLY, LATE)],
    [
      "an event within the other's dates",
      event(2, EARLY, LATE),
      event(3, MIDDLE, MIDDLE),
      event(5, EARLY, LATE),
    ],
    ["an event of the merged profile", person(), event(3, EARLY, LATE), event(3, EARLY, LATE)],
    ["an event of the kept profile", event(3, EARLY, LATE), person(), event(3, EARLY, LATE)],
    [
      "purchases of one product in one currency, to the cent",
      purchase(1, "0.10", MIDDLE, MIDDLE),
      purchase(2, "0.2", EARLY, LATE),
      purchase(3, "0.30", EARLY, LATE),
    ],
    [
      "a refund",
      purchase(1, "10.00", EARLY, EARLY),
      purchase(1, "-12.50", LATE, LATE),
      purchase(2, "-2.50", EARLY, LATE),
    ],
    [
      "amounts beyond what a number holds",
      purchase(1, "9007199254740993.01", EARLY, EARLY),
      purchase(1, "0.01", LATE, LATE),
      purchase(2, "9007199254740993.02", EARLY, LATE),
    ],
    [
      "currencies stay apart",
      purchase(1, "1", EARLY, EARLY),
      purchase(1, "1", LATE, LATE, "EUR"),
      person(
        {},
        {
          purchases: [
            ...purchase(1, "1", EARLY, EARLY).belongings.purchases,
            ...purchase(1, "1", LATE, LATE, "EUR").belongings.purchases,
          ],
        },
      ),
    ],
    [
      "sessions of an app that both have, with the version that was used last",
      app(2, MIDDLE, MIDDLE, "1"),
      app(3, EARLY, LATE, "2"),
      app(5, EARLY, LATE, "2"),
    ],
    [
      "the summary of an app that only the merged profile has, as it is",
      app(2, MIDDLE, MIDDLE),
      app(3, EARLY, LATE, "2", "other"),
      person(
        {},
        {
          apps: [
            ...app(2, MIDDLE, MIDDLE).belongings.apps,
            ...app(3, EARLY, LATE, "2", "other").belongings.apps,
          ],
        },
      ),
    ],
    [
      "messages",
      person({}, { messages: 2 }),
      person({}, { messages: 3 }),
      person({}, { messages: 5 }),
    ],
  ]);
});

function table(cases: readonly Case[]): void {
  for (const [what, kept, merged, result] of cases) {
    test(what, () => assert.deepEqual(combine(kept, merged, "all", false).value, result));
  }
}
