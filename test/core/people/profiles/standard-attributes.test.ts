import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Json } from "../../../../src/core/base/values/plain-json.ts";
import { checkEmail, checkPhone } from "../../../../src/core/people/profiles/addresses.ts";
import {
  checkStandardAttribute,
  STANDARD_ATTRIBUTES,
  standardAttribute,
} from "../../../../src/core/people/profiles/standard-attributes.ts";
import { DEFAULT_FIELDS } from "../../../../src/features/export/profile-view.ts";
import { anyText } from "../../../any-text.ts";

const now = new Date("2026-05-28T12:00:00Z");
const check = (name: string, value: unknown) => checkStandardAttribute(name, value, now);

const names = (
  "first_name last_name email phone email_subscribe push_subscribe gender dob country language " +
  "home_city time_zone current_location date_of_first_session date_of_last_session " +
  "marked_email_as_spam_at email_open_tracking_disabled email_click_tracking_disabled image_url " +
  "facebook twitter push_tokens"
).split(" ");

const dateTimes = ["date_of_first_session", "date_of_last_session", "marked_email_as_spam_at"];
const switches = ["email_open_tracking_disabled", "email_click_tracking_disabled"];
const location = { longitude: -73.98, latitude: 40.74 };
const pushToken = { app_id: "7f1c", token: "abcd", device_id: "12345678" };

/** An address whose parts have the greatest length. */
const addressOfLength = (length: number) =>
  `${"a".repeat(64)}@${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(length - 197)}.org`;

/** Values that are kept exactly as they came. */
const keptAsSent: Readonly<Record<string, readonly Json[]>> = {
  first_name: ["Mickey", "", "Zoë \u{1f600}", "\u{1f600}".repeat(255), "a".repeat(255)],
  last_name: ["Miranda 2", "a".repeat(255)],
  home_city: ["Mathura"],
  image_url: [
    "https://i.kym-cdn.com/entries/icons/mobile/000/034/772/anuj-1.jpg",
    "h".repeat(2048),
  ],
  email: [
    ...["mickey@disney.com", "123@a.com", "A.B+c@EXAMPLE.com", "o'k@x.ie", "jörg@example.de"],
    ...["a@münchen.de", addressOfLength(254)],
  ],
  email_subscribe: ["opted_in", "subscribed", "unsubscribed"],
  push_subscribe: ["opted_in", "subscribed", "unsubscribed"],
  gender: ["M", "F", "O", "N", "P"],
  dob: ["1971-01-01", "2000-02-29", "1880-01-01", "2026-05-29"],
  country: ["US", "IN", "XK"],
  language: ["en", "nb", "tl"],
  time_zone: ["America/New_York", "Asia/Kolkata", "Europe/Kyiv", "UTC", "Etc/GMT+12"],
  current_location: [
    location,
    { longitude: -180, latitude: 90, altitude: 35.5, accuracy: 0 },
    { longitude: 180, latitude: -90 },
    { ...location, ...Object.fromEntries([..."abcdefghijklmnopqr"].map((key) => [key, 1])) },
  ],
  email_open_tracking_disabled: [true, false],
  email_click_tracking_disabled: [true, false],
  facebook: [
    { id: "i".repeat(255) },
    {},
    { id: "708379", likes: ["look_ma_no_hands"], num_friends: 1234 },
    { likes: [] },
  ],
  twitter: [
    { id: 12345, screen_name: "tw", followers_count: 1, friends_count: 0, statuses_count: 2 },
    { id: "1234567890123456789" },
  ],
  push_tokens: [
    [{ app_id: "a".repeat(255), token: "t".repeat(4096), device_id: "d".repeat(255) }],
    Array(500).fill(pushToken),
    [],
    [pushToken],
    [{ app_id: "a", token: "t" }, pushToken],
  ],
};

/** Values that are stored in another form. */
const translated: readonly (readonly [name: string, value: string, stored: string])[] = [
  ...dateTimes.flatMap(
    (name) =>
      [
        [name, "2020-01-24T11:59:02.403+05:30", "2020-01-24T06:29:02.403Z"],
        [name, "2020-01-24", "2020-01-24T00:00:00.000Z"],
        [name, "01/24/2020", "2020-01-24T00:00:00.000Z"],
      ] as const,
  ),
  ["gender", "m", "M"],
  ["gender", "female", "F"],
  ["gender", "Woman", "F"],
  ["gender", "MALE", "M"],
  ["gender", "man", "M"],
  ["gender", "other", "O"],
  ["gender", "Non-Binary", "O"],
  ["gender", "not_applicable", "N"],
  ["gender", "Prefer not to say", "P"],
  ["dob", "01/01/1971", "1971-01-01"],
  ["dob", "2/3/1971", "1971-02-03"],
  ["country", "USA", "US"],
  ["country", "India", "IN"],
  ["country", "us", "US"],
  ["country", "gbr", "GB"],
  ["country", "UK", "GB"],
  ["country", "united states", "US"],
  ["country", "U.S.A.", "US"],
  ["country", "The Netherlands", "NL"],
  ["country", "CÔTE D’IVOIRE", "CI"],
  ["country", "Cote d'Ivoire", "CI"],
  ["country", "Viet Nam", "VN"],
  ["country", "Vietnam", "VN"],
  ["country", "Korea, Republic of", "KR"],
  ["country", "Turkey", "TR"],
  ["country", "Czechia", "CZ"],
  ["country", "Holy See", "VA"],
  ["country", "St. Lucia", "LC"],
  ["country", "ST", "ST"],
  ["country", "Trinidad & Tobago", "TT"],
  ["country", "Congo", "CG"],
  ["country", "Democratic Republic of the Congo", "CD"],
  ["country", "Georgia", "GE"],
  ["language", "en-IN", "en"],
  ["language", "EN", "en"],
  ["language", "en_US", "en"],
  ["language", "zh-Hant-TW", "zh"],
  ["language", "iw", "he"],
  ["language", "deu", "de"],
  ["language", "fil-PH", "tl"],
  ["language", "English", "en"],
  ["language", "spanish", "es"],
  ["language", "Norwegian Bokmal", "nb"],
  ["time_zone", "america/new_york", "America/New_York"],
  ["time_zone", "Asia/Calcutta", "Asia/Kolkata"],
  ["time_zone", "Etc/UTC", "UTC"],
  ["time_zone", "Eastern Time (US & Canada)", "America/New_York"],
  ["time_zone", "pacific time (us & canada)", "America/Los_Angeles"],
  ["time_zone", "Kyiv", "Europe/Kyiv"],
  ["time_zone", "Buenos Aires", "America/Argentina/Buenos_Aires"],
  ["time_zone", "Samoa", "Pacific/Apia"],
  ["phone", "+1 (415) 555-2671", "+14155552671"],
  ["phone", "14155552671", "+14155552671"],
  ["phone", "919988123321", "+919988123321"],
  ["phone", "4791234567", "+4791234567"],
  ["phone", "+44 20 7946 0958", "+442079460958"],
  ["phone", "+390612345678", "+390612345678"],
];

const notDateTimes = ["", "yesterday", "2020-02-30", "3001-01-01", 1579867142, true];

const refusals: readonly (readonly [name: string, code: string, values: readonly unknown[]])[] = [
  ["first_name", "INVALID_ATTRIBUTE", [1, true, [], {}, "a".repeat(256)]],
  ["last_name", "INVALID_ATTRIBUTE", [0, ["Duck"], "a".repeat(256)]],
  ["home_city", "INVALID_ATTRIBUTE", [12, "\u{1f600}".repeat(256)]],
  ["image_url", "INVALID_ATTRIBUTE", [{}, "h".repeat(2049)]],
  [
    "email",
    "EMAIL_BAD_FORMAT",
    [
      ...["", "a@b", "a@localhost", "a b@c.de", " a@b.co", "a@b.co\n", "a@b.co.", "<a@b.co>"],
      ...["a..b@c.de", "a@b@c.de", "Mickey <a@b.co>", "a\u0000@b.co", "\ud800@b.co", 12, {}, []],
      ...[`${"a".repeat(65)}@b.co`, `a@${"b.".repeat(126)}org`, addressOfLength(255)],
    ],
  ],
  [
    "phone",
    "INVALID_PHONE",
    [
      // Numbers without the country's code, as two of the recorded requests send them.
      ...["9988123321", "5055077683"],
      ...["", "+", "abc", "+12345", "+15555555555", "+99999999999", "00491701234567", 14155552671],
      ...[
        "+1415555267",
        "+141555526711",
        "+14155552671 ext 5",
        "abc +14155552671",
        "+14155552671 abc",
        " +14155552671",
      ],
      // It could be a North American number or a Norwegian one.
      "4757837984",
      ...["tel:4155552671;phone-context=+1", "(415) 555-2671", "+1".padEnd(400, "1")],
    ],
  ],
  ["email_subscribe", "BAD_EMAIL_SUBSCRIPTION_STATE", ["", "Subscribed", "opted-in", true, 1, []]],
  ["push_subscribe", "BAD_PUSH_SUBSCRIPTION_STATE", ["none", "SUBSCRIBED", false, {}]],
  ["gender", "INVALID_ATTRIBUTE", ["", "X", "unknown", "mf", 1, "constructor"]],
  [
    "dob",
    "INVALID_ATTRIBUTE",
    [
      ...["", "1971-02-30", "2026-05-30", "1879-12-31", "13/01/1971", "01-01-1971", 31536000],
      ...["1971-01-01 noon", "19710101", "Fri 01 24 11:59:02.Z 2020"],
    ],
  ],
  ["country", "INVALID_ATTRIBUTE", ["", "Disneyland", "EU", "Korea", "SAINT", "the", "840", 1]],
  ["language", "INVALID_ATTRIBUTE", ["", "xx", "Klingon", "en US", "en-", "x-foo", 1]],
  [
    "time_zone",
    "INVALID_ATTRIBUTE",
    [
      ...["", " UTC", "Z", "+05:30", "-0800", "IST", "PST", "GMT+5", "Europe/Atlantis", "Europe/"],
      ...["SystemV/EST5", "Etc/Unknown", "a/".repeat(100_000), 1],
    ],
  ],
  [
    "current_location",
    "BAD_LOCATION_UPDATE",
    [
      ...["here", [1, 2], {}, { longitude: 1 }, { latitude: 1 }, { ...location, latitude: "40" }],
      ...[
        { ...location, longitude: 180.1 },
        { ...location, latitude: -90.1 },
      ],
      ...[
        { ...location, longitude: Number.NaN },
        { ...location, altitude: "high" },
      ],
      ...[
        { ...location, longitude: null },
        { ...location, ["k".repeat(256)]: 1 },
      ],
      Object.fromEntries([
        ...Object.entries(location),
        ...[..."abcdefghijklmnopqrs"].map((k) => [k, 1]),
      ]),
    ],
  ],
  ...dateTimes.map((name) => [name, "INVALID_ATTRIBUTE", notDateTimes] as const),
  ...switches.map((name) => [name, "INVALID_ATTRIBUTE", ["true", 1, 0, "", {}]] as const),
  [
    "facebook",
    "INVALID_ATTRIBUTE",
    [
      ...[
        "me",
        [],
        { id: 708379 },
        { id: "i".repeat(256) },
        { likes: "all" },
        { likes: [1] },
        { num_friends: 1.5 },
      ],
      ...[{ num_friends: -1 }, { name: "x" }, { likes: Array(1000).fill("a".repeat(200)) }],
    ],
  ],
  ["twitter", "INVALID_ATTRIBUTE", ["@me", { id: "x1" }, { followers_count: "1" }, { bio: "" }]],
  [
    "push_tokens",
    "BAD_PUSH_TOKEN_VALUE",
    ["abcd", {}, ["abcd"], [null], [[]], [{ ...pushToken, platform: "ios" }]],
  ],
  [
    "push_tokens",
    "BAD_PUSH_TOKEN_APP_ID",
    [[{ token: "t" }], [{ app_id: "", token: "t" }], [{ app_id: 1, token: "t" }]],
  ],
  [
    "push_tokens",
    "BAD_PUSH_TOKEN_STRING",
    [[{ app_id: "a" }], [{ app_id: "a", token: "" }], [{ app_id: "a", token: "t".repeat(4097) }]],
  ],
  [
    "push_tokens",
    "BAD_DEVICE_ID",
    ["1234567", "d".repeat(256), "\u{1f600}".repeat(64), 12345678].map((device_id) => [
      { ...pushToken, device_id },
    ]),
  ],
  ["push_tokens", "BAD_PUSH_TOKEN_APP_ID", [[{ ...pushToken, app_id: "a".repeat(256) }]]],
  ["push_tokens", "ARRAY_TOO_LONG", [Array(501).fill(pushToken)]],
];

/** A value in a form for the name of a test. */
const shown = (value: unknown): string => {
  const text = typeof value === "number" ? String(value) : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text;
};

describe("a standard attribute", () => {
  test("every standard attribute is a field of an exported profile", () => {
    const derived: Record<string, string> = { current_location: "last_coordinates" };
    for (const name of Object.keys(STANDARD_ATTRIBUTES)) {
      assert.ok((DEFAULT_FIELDS as readonly string[]).includes(derived[name] ?? name), name);
    }
  });

  test("only the listed names are standard attributes", () => {
    for (const name of names) assert.ok(standardAttribute(name), name);
    const others = ["First_Name", "bio", "external_id", "constructor", "__proto__", ""];
    for (const name of others) assert.ok(!standardAttribute(name), name);
  });

  for (const name of names) {
    test(`null removes the standard attribute ${name}`, () => {
      assert.deepEqual(check(name, null), { value: null });
    });
  }

  for (const [name, values] of Object.entries(keptAsSent)) {
    for (const value of values) {
      test(`${name} stores ${shown(value)} as sent`, () =>
        assert.deepEqual(check(name, value), { value }));
    }
  }

  for (const [name, value, stored] of translated) {
    test(`${name} ${value} is stored as ${stored}`, () => {
      assert.deepEqual(check(name, value), { value: stored });
      assert.deepEqual(check(name, stored), { value: stored });
    });
  }

  for (const [name, code, values] of refusals) {
    for (const value of values) {
      test(`${name} refuses ${shown(value)} with ${code}`, () => {
        const outcome = check(name, value);
        assert.ok("fault" in outcome);
        assert.equal(outcome.fault.code, code);
        assert.ok(outcome.fault.message.includes(`'${name}`), outcome.fault.message);
        assert.ok(outcome.fault.message.length < 250, outcome.fault.message);
      });
    }
  }
});

test("a date of birth may be at most one day in the future", () => {
  const birth = (day: string, present: string) =>
    checkStandardAttribute("dob", day, new Date(present));
  assert.ok("value" in birth("2026-05-29", "2026-05-28T00:00:00.000Z"));
  assert.ok("fault" in birth("2026-05-29", "2026-05-27T23:59:59.999Z"));
  assert.ok("value" in checkStandardAttribute("dob", "2020-01-24"));
});

describe("standard attributes with generated values", () => {
  test("an attribute check never throws, never modifies its input, and accepts or refuses", () => {
    const values = fc.oneof(anyText(), fc.jsonValue({ noUnicodeString: false }));
    fc.assert(
      fc.property(fc.constantFrom(...names), values, (name, value) => {
        const before = JSON.stringify(value);
        const outcome = check(name, value);
        assert.ok("value" in outcome || outcome.fault.message.includes(`'${name}`));
        assert.equal(JSON.stringify(value), before);
      }),
      { numRuns: 1000 },
    );
  });

  test("a stored attribute value is accepted again, unchanged", () => {
    const accepted = [
      ...Object.entries(keptAsSent).flatMap(([name, values]) => values.map((v) => [name, v])),
      ...translated,
    ] as const;
    fc.assert(
      fc.property(fc.constantFrom(...accepted), ([name, value]) => {
        const first = check(String(name), value);
        assert.ok("value" in first);
        assert.deepEqual(check(String(name), first.value), first);
      }),
    );
  });

  test("every point on earth is a valid location", () => {
    const points = fc.record({
      longitude: fc.double({ min: -180, max: 180, noNaN: true }),
      latitude: fc.double({ min: -90, max: 90, noNaN: true }),
    });
    fc.assert(
      fc.property(points, (point) => {
        assert.deepEqual(check("current_location", point), { value: point });
      }),
    );
  });

  test("an address in the common form is always a valid email", () => {
    const addresses = fc.tuple(
      fc.stringMatching(/^[a-z0-9]{1,20}([.+_-][a-z0-9]{1,10})?$/),
      fc.stringMatching(/^[a-z]([a-z0-9-]{0,10}[a-z0-9])?$/),
      fc.constantFrom("com", "org", "de", "co.uk", "example"),
    );
    fc.assert(
      fc.property(addresses, ([local, domain, end]) => {
        const value = `${local}@${domain}.${end}`;
        assert.deepEqual(checkEmail(value), { value });
      }),
    );
  });

  test("punctuation in a phone number makes no difference", () => {
    const spaces = fc.array(fc.constantFrom("", " ", "-", "."), { minLength: 9, maxLength: 9 });
    fc.assert(
      fc.property(spaces, (between) => {
        const digits = [..."4155552671"].map((digit, index) => digit + (between[index] ?? ""));
        assert.deepEqual(checkPhone(`+1 ${digits.join("")}`), { value: "+14155552671" });
      }),
    );
  });
});
