/* Every request to the SCIM endpoints is accepted as a whole or refused with a SCIM error. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { anyText } from "../../any-text.ts";
import { startOwnServer } from "../../harness.ts";
import { declare, newUser, PATCH_SCHEMA, scimClient, USER_SCHEMA } from "../../scim-client.ts";

const server = await startOwnServer();
await declare(server);
const scim = scimClient(server);

const NAMES = [
  "userName",
  "name",
  "name.givenName",
  "givenName",
  "displayName",
  "externalId",
  "active",
  "emails",
  'emails[type eq "work"]',
  'emails[type eq "work"].value',
  "emails.primary",
  "value",
  "primary",
  "department",
  "permissions",
  "permissions.companyPermissions",
  'permissions.appGroup[appGroupName eq "demo"].team',
  "companyPermissions",
  "appGroup",
  "appGroupName",
  "team",
  "teamName",
  "id",
  "meta",
  "schemas",
  "title",
  "constructor",
  "__proto__",
  "toString",
  `${USER_SCHEMA}:displayName`,
  "urn:x:y",
];
const name = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...NAMES) }, fc.string());
const scalar = fc.oneof(
  fc.constantFrom(
    null,
    true,
    false,
    "True",
    0,
    1e300,
    "",
    "a",
    "demo",
    "Red",
    "admin",
    "bi",
    "work",
  ),
  anyText(),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

const show = async (id: string) => (await scim.users("GET", `/${id}`)).body;

describe("arbitrary SCIM input", () => {
  test("any new SCIM user is stored as returned, or refused with 400 or 409", async () => {
    const members = fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true });
    await fc.assert(
      fc.asyncProperty(members, async (any) => {
        const { status, body } = await scim.users("POST", "", { ...newUser(), ...any });
        assert.ok([201, 400, 409].includes(status), JSON.stringify(body));
        if (status === 201) assert.deepEqual(await show(body.id), body);
        if (status === 400) assert.ok(body.scimType);
      }),
      { numRuns: 120 },
    );
  });

  test("any SCIM PATCH is accepted or refused with 400, and a refused PATCH changes nothing", async () => {
    const operation = fc.record(
      { op: fc.constantFrom("add", "Replace", "remove", "move"), path: name, value },
      { requiredKeys: ["op"] },
    );
    let user = await scim.user({ emails: [{ value: "a", type: "work" }], displayName: "A" });
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 3 }), async (Operations) => {
        const patch = { schemas: [PATCH_SCHEMA], Operations };
        const { status, body } = await scim.users("PATCH", `/${user.id}`, patch);
        assert.ok([200, 400].includes(status), JSON.stringify(body));
        if (status === 400) assert.ok(body.scimType);
        else user = body;
        assert.deepEqual(await show(user.id as string), user);
      }),
      { numRuns: 150 },
    );
  });

  test("any SCIM query is accepted or refused with 400", async () => {
    const query = fc.dictionary(
      fc.constantFrom("filter", "startIndex", "count", "attributes", "excludedAttributes"),
      fc.oneof(name, anyText(), fc.constantFrom("1", "-1", "1e9", "0.5")),
      { noNullPrototype: true },
    );
    await fc.assert(
      fc.asyncProperty(query, async (any) => {
        const { status, body } = await scim.list(any);
        assert.ok([200, 400].includes(status), JSON.stringify(body));
      }),
      { numRuns: 120 },
    );
  });
});
