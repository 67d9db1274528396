/* Values that clients write in a form of their own: each is stored in one. docs/decisions/values.md */
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkStandardAttribute } from "../../../../src/core/people/profiles/standard-attributes.ts";

const assertStored = (name: string, spellings: readonly string[], stored: string) => {
  for (const spelling of spellings) {
    assert.deepEqual(checkStandardAttribute(name, spelling), { value: stored }, spelling);
  }
};

test("the day of a date of birth with a time is the one that is written, in whatever time zone", () => {
  const times = ["T00:00:00Z", "T00:00:00.000+14:00", "T23:30:00-10:00", " 00:00:00"];
  assertStored(
    "dob",
    times.map((time) => `1971-01-01${time}`),
    "1971-01-01",
  );
  for (const day of ["1971-01-01T", "1971-01-01T25:00:00Z", "1971-02-30T00:00:00Z"]) {
    assert.ok("fault" in checkStandardAttribute("dob", day), day);
  }
});

test("a time zone without a place stays so, in capitals", () => {
  for (const zone of "CET CST6CDT EET EST EST5EDT HST MET MST MST7MDT PST8PDT WET".split(" ")) {
    assertStored("time_zone", [zone, zone.toLowerCase()], zone);
  }
});

test("a Mexican number is stored without the 1 that was part of it until 2019", () => {
  const spellings = ["+5215512345678", "+52 1 55 1234 5678", "5215512345678", "+525512345678"];
  assertStored("phone", spellings, "+525512345678");
});
