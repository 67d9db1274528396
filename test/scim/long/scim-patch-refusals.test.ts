import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startOwnServer } from "../../harness.ts";
import {
  assertRefused,
  declare,
  PATCH_SCHEMA,
  scimClient,
  USER_SCHEMA,
} from "../../scim-client.ts";

const server = await startOwnServer();
await declare(server);
const scim = scimClient(server);

const WORK = { value: "ada@acme.example", type: "work", primary: true };
const HOME = { value: "ada@home.example", type: "home" };
const ada = () => scim.user({ externalId: "ext-1", displayName: "Ada", emails: [WORK, HOME] });

type Operation = Record<string, unknown>;

describe("a refused SCIM PATCH reports a scimType and changes nothing", () => {
  const cases: [string, Operation, string, RegExp][] = [
    [
      "an unknown operation",
      { op: "move", path: "displayName" },
      "invalidSyntax",
      /'Operations\[1\].op' must be one of/,
    ],
    ["no operation", { path: "displayName" }, "invalidSyntax", /'Operations\[1\].op'/],
    [
      "add without a value",
      { op: "add", path: "displayName" },
      "invalidValue",
      /'Operations\[1\].value' is required/,
    ],
    ["remove without a path", { op: "remove" }, "noTarget", /needs a 'path'/],
    ["no path and no object", { op: "replace", value: "A" }, "invalidValue", /must be an object/],
    ["an empty path", { op: "remove", path: "" }, "invalidPath", /'Operations\[1\].path'/],
    [
      "a path that is no string",
      { op: "remove", path: 7 },
      "invalidPath",
      /'Operations\[1\].path'/,
    ],
    [
      "a path that cannot be read",
      { op: "remove", path: "emails[" },
      "invalidFilter",
      /name of an attribute was expected/,
    ],
    [
      "something after a path",
      { op: "remove", path: "displayName x" },
      "invalidPath",
      /the end of the path/,
    ],
    [
      "an unknown attribute",
      { op: "replace", path: "wrong", value: 1 },
      "invalidPath",
      /'wrong' is not an attribute/,
    ],
    [
      "an unknown part",
      { op: "replace", path: "name.wrong", value: 1 },
      "invalidPath",
      /'name.wrong' is no/,
    ],
    [
      "a part of a simple attribute",
      { op: "replace", path: "displayName.x", value: 1 },
      "invalidPath",
      /is not an attribute/,
    ],
    [
      "a filter on a single value",
      { op: "replace", path: "name[givenName pr]", value: {} },
      "invalidPath",
      /no values to choose/,
    ],
    [
      "an unknown attribute in a filter",
      { op: "remove", path: "emails[wrong pr]" },
      "invalidFilter",
      /'wrong' is no/,
    ],
    [
      "replace with a filter that picks nothing",
      { op: "replace", path: 'emails[type eq "x"]', value: {} },
      "noTarget",
      /matches no value/,
    ],
    [
      "replace of a part of what is not there",
      { op: "replace", path: 'emails[type eq "x"].value', value: "c" },
      "noTarget",
      /matches/,
    ],
    [
      "another userName",
      { op: "replace", path: "userName", value: "other@acme.example" },
      "mutability",
      /'userName' cannot be changed/,
    ],
    [
      "another userName without a path",
      { op: "replace", value: { userName: "other@acme.example" } },
      "mutability",
      /userName/,
    ],
    [
      "removing userName",
      { op: "remove", path: "userName" },
      "mutability",
      /'userName' is required/,
    ],
    [
      "removing what is required",
      { op: "remove", path: "department" },
      "mutability",
      /'department' is required/,
    ],
    ["removing the name", { op: "remove", path: "name" }, "mutability", /'name' is required/],
    [
      "removing whether the user is active",
      { op: "remove", path: "active" },
      "mutability",
      /'active' is required/,
    ],
    [
      "null for what is required",
      { op: "replace", path: "department", value: null },
      "invalidValue",
      /'department' is required/,
    ],
    ["changing id", { op: "replace", path: "id", value: "x" }, "mutability", /'id' is read-only/],
    [
      "changing meta",
      { op: "replace", path: "meta.created", value: "x" },
      "mutability",
      /'meta' is read-only/,
    ],
    [
      "changing lastSignInAt",
      { op: "add", path: "lastSignInAt", value: "x" },
      "mutability",
      /'lastSignInAt' is read-only/,
    ],
    [
      "changing a team's id",
      { op: "add", path: 'permissions.appGroup[appGroupName eq "demo"].appGroupId', value: "1" },
      "mutability",
      /read-only/,
    ],
    [
      "a value of another type",
      { op: "replace", path: "displayName", value: 7 },
      "invalidValue",
      /'displayName' must be a string/,
    ],
    [
      "a text for a complex attribute",
      { op: "replace", path: "name", value: "Ada" },
      "invalidValue",
      /'name' must be an object/,
    ],
    [
      "an unknown department",
      { op: "replace", path: "department", value: "x" },
      "invalidValue",
      /'department' must be one of/,
    ],
    [
      "an unknown workspace",
      { op: "add", path: "permissions.appGroup", value: [{ appGroupName: "moon" }] },
      "invalidValue",
      /does not name a declared workspace/,
    ],
    [
      "an unknown permission",
      { op: "add", path: "permissions.companyPermissions", value: ["fly"] },
      "invalidValue",
      /must be one of/,
    ],
    [
      "a second primary value",
      { op: "replace", path: "emails", value: [WORK, { ...HOME, primary: true }] },
      "invalidValue",
      /primary/,
    ],
    [
      "a NUL character",
      { op: "replace", path: "displayName", value: "a\0" },
      "invalidValue",
      /INVALID_TEXT/,
    ],
  ];
  for (const [what, operation, scimType, detail] of cases) {
    test(what, async () => {
      const user = await ada();
      const harmless = { op: "replace", path: "displayName", value: "Changed" };
      assertRefused(await scim.patch(user.id, harmless, operation), 400, scimType, detail);
      assert.deepEqual((await scim.users("GET", `/${user.id}`)).body, user);
    });
  }

  test("a SCIM PATCH of an unknown id gets 404", async () => {
    const id = "01a1fbaf-f926-76e9-9f88-ff84832d9fb9";
    const answer = await scim.patch(id, { op: "remove", path: "displayName" });
    assertRefused(answer, 404, undefined, "User not found");
  });

  test("a SCIM PATCH without a valid list of operations or schemas is refused with invalidSyntax", async () => {
    const { id } = await ada();
    const bodies: [unknown, RegExp][] = [
      [{ schemas: [PATCH_SCHEMA] }, /'Operations' must be an array/],
      [{ schemas: [PATCH_SCHEMA], Operations: [] }, /at least one operation/],
      [{ schemas: [PATCH_SCHEMA], Operations: {} }, /must be an array/],
      [{ schemas: [PATCH_SCHEMA], Operations: [7] }, /'Operations\[0\]' must be an object/],
      [
        { schemas: [PATCH_SCHEMA], Operations: Array(101).fill({ op: "remove", path: "title" }) },
        /at most 100/,
      ],
      [{ Operations: [{ op: "remove", path: "title" }] }, /'schemas' must be an array/],
      [
        { schemas: [USER_SCHEMA], Operations: [{ op: "remove", path: "title" }] },
        /must contain urn/,
      ],
    ];
    for (const [body, detail] of bodies) {
      assertRefused(await scim.users("PATCH", `/${id}`, body), 400, "invalidSyntax", detail);
    }
  });
});
