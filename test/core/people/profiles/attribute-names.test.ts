import assert from "node:assert/strict";
import { test } from "node:test";
import railsTimeZones from "../../../../src/core/people/profiles/attribute-rules/rails-time-zones.json" with {
  type: "json",
};
import { checkStandardAttribute } from "../../../../src/core/people/profiles/standard-attributes.ts";

const now = new Date("2026-05-28T12:00:00Z");
const check = (name: string, value: unknown) => checkStandardAttribute(name, value, now);

test("every Rails time zone name maps to a time zone that Node supports", () => {
  assert.equal(Object.keys(railsTimeZones).length, 154);
  for (const railsName of Object.keys(railsTimeZones)) {
    const outcome = check("time_zone", railsName);
    assert.ok("value" in outcome, railsName);
    assert.deepEqual(check("time_zone", outcome.value), outcome);
    assert.doesNotThrow(() => now.toLocaleString("en", { timeZone: String(outcome.value) }));
  }
});

test("every time zone that Node lists is accepted, even in upper case", () => {
  for (const zone of Intl.supportedValuesOf("timeZone")) {
    assert.ok("value" in check("time_zone", zone.toUpperCase()), zone);
  }
});

test("a country is recognized by its code and by its everyday English name", () => {
  const everyday = new Intl.DisplayNames("en", { type: "region" });
  const codes =
    "AE AR AT AU BE BG BO BR CA CD CG CH CI CL CN CO CZ DE DK EC EE EG ES FI FM FR GB GR HK HR " +
    "HU ID IE IL IN IR IT JP KE KP KR LA LT LU LV MA MD MK MO MX MY NG NL NO NZ PE PH PK PL PS " +
    "PT RO RS RU SA SE SG SI SK SY SZ TH TL TR TW TZ UA US VA VE VG VI VN ZA";
  for (const code of codes.split(" ")) {
    assert.deepEqual(check("country", code.toLowerCase()), { value: code });
    assert.deepEqual(check("country", everyday.of(code)), { value: code });
  }
});
