/* A member of a standard attribute that is null is absent: docs/decisions/null-is-absent.md */
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkStandardAttribute } from "../../../../src/core/people/profiles/standard-attributes.ts";

const token = { app_id: "7f1c", token: "abcd" };
const location = { longitude: 1, latitude: 2 };

for (const [name, sent, stored] of [
  ["facebook", { id: "1", likes: null, num_friends: null }, { id: "1" }],
  ["twitter", { id: null, screen_name: "ada" }, { screen_name: "ada" }],
  ["current_location", { ...location, accuracy: null, altitude: 3 }, { ...location, altitude: 3 }],
  ["push_tokens", [{ ...token, device_id: null }], [token]],
] as const) {
  test(`a member of ${name} that is null is absent`, () => {
    assert.deepEqual(checkStandardAttribute(name, sent), { value: stored });
  });
}
