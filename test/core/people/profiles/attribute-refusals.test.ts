import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkStandardAttribute } from "../../../../src/core/people/profiles/standard-attributes.ts";

const now = new Date("2026-05-28T12:00:00Z");
const check = (name: string, value: unknown) => checkStandardAttribute(name, value, now);

describe("messages about refused attributes", () => {
  const sentences: readonly (readonly [name: string, value: unknown, message: string])[] = [
    ["email", "mickey", "The value provided for the 'email' field is not a valid email."],
    [
      "country",
      "Disneyland",
      "'country' is not valid: 'Disneyland' is neither an ISO 3166-1 code nor the English name " +
        "of a country",
    ],
    ["first_name", 12, "'first_name' is not valid: 12 is not a string"],
    [
      "phone",
      "9988123321",
      "'phone' is not valid: '9988123321' is not an existing number with its country code, " +
        "such as '+14155552671'",
    ],
    [
      "email_subscribe",
      "yes",
      "'email_subscribe' is not valid: 'yes' is none of 'opted_in', 'subscribed' and " +
        "'unsubscribed'",
    ],
    [
      "dob",
      "31/12/1999",
      "'dob' is not valid: '31/12/1999' is not a day from 1880 to today, as YYYY-MM-DD",
    ],
    [
      "current_location",
      { longitude: 200, latitude: 1 },
      "'current_location' is not valid: 'longitude' is 200, not a number from -180 to 180",
    ],
    [
      "current_location",
      { longitude: 20 },
      "'current_location' is not valid: 'latitude' is absent, not a number from -90 to 90",
    ],
    [
      "push_tokens",
      [{ app_id: "7f1c", token: "abcd", device_id: "12345678" }, { app_id: "a" }],
      "'push_tokens[1].token' is not valid: it is absent, not a string of 1 to 4096 bytes",
    ],
    [
      "twitter",
      { likes: 1 },
      "'twitter.likes' is not valid: the object takes only 'id', 'screen_name', " +
        "'followers_count', 'friends_count' and 'statuses_count'",
    ],
  ];
  for (const [name, value, message] of sentences) {
    test(message, () => {
      const outcome = check(name, value);
      assert.equal("fault" in outcome && outcome.fault.message, message);
    });
  }
});
