import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { signInText } from "../../src/features/scim/protocol/user-view.ts";
import { startOwnServer } from "../harness.ts";
import { assertRefused, declare, scimClient, USER_SCHEMA } from "../scim-client.ts";

const server = await startOwnServer();
await declare(server);
const scim = scimClient(server);

describe("a SCIM response", () => {
  test("attributes and excludedAttributes select which attributes a SCIM response shows besides id and schemas", async () => {
    const emails = [
      { value: "a@acme.example", type: "work" },
      { value: "b@acme.example", type: "home" },
    ];
    const { id } = await scim.user({ emails });
    const show = async (query: string) => (await scim.users("GET", `/${id}?${query}`)).body;
    const always = { schemas: [USER_SCHEMA], id };
    assert.deepEqual(await show("attributes=name.familyName,NAME.givenname,nothing"), {
      ...always,
      name: { givenName: "Ada", familyName: "Lovelace" },
    });
    assert.deepEqual(await show("attributes=emails.value"), {
      ...always,
      emails: [{ value: "a@acme.example" }, { value: "b@acme.example" }],
    });
    assert.deepEqual(await show(`attributes=${encodeURIComponent('emails[type eq "work"]')}`), {
      ...always,
      emails: [emails[0]],
    });
    assert.deepEqual(await show(`attributes=${USER_SCHEMA}:department`), {
      ...always,
      department: "engineering",
    });
    const rest = await show(
      "excludedAttributes=id,schemas,meta,permissions,emails.type,name,lastSignInAt",
    );
    assert.deepEqual(Object.keys(rest).sort(), [
      "active",
      "department",
      "emails",
      "id",
      "schemas",
      "userName",
    ]);
    assert.deepEqual(rest.emails, [{ value: "a@acme.example" }, { value: "b@acme.example" }]);
    const both = await scim.users("GET", `/${id}?attributes=name&excludedAttributes=emails`);
    assertRefused(both, 400, "invalidValue");
    assertRefused(await scim.users("GET", `/${id}?attributes=na%22me`), 400, "invalidPath");
  });
});

describe("lastSignInAt is written in UTC", () => {
  // Elsewhere than in UTC: what is said of UTC must not hold by chance.
  process.env.TZ = "Asia/Kolkata";

  const times: [string | null, string][] = [
    [null, "Thursday, January 1, 1970 12:00:00 AM"],
    ["2024-02-29T00:05:09Z", "Thursday, February 29, 2024 12:05:09 AM"],
    ["2025-12-31T12:00:00Z", "Wednesday, December 31, 2025 12:00:00 PM"],
    ["2026-07-04T23:59:59+02:00", "Saturday, July 4, 2026 9:59:59 PM"],
    ["2026-01-05T01:00:00Z", "Monday, January 5, 2026 1:00:00 AM"],
  ];
  for (const [time, text] of times) {
    test(`lastSignInAt is written in UTC as ${text}`, () => {
      assert.equal(signInText(time === null ? null : new Date(time)), text);
    });
  }
});
