import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startOwnServer } from "../harness.ts";
import {
  assertRefused,
  declare,
  ERROR_SCHEMA,
  newUser,
  scimClient,
  USER_SCHEMA,
} from "../scim-client.ts";

const server = await startOwnServer();
await declare(server);
const scim = scimClient(server);

const without = (key: string) => ({ ...newUser(), [key]: undefined });

const UNKNOWN_ID = "01a1fbaf-f926-76e9-9f88-ff84832d9fb9";

describe("POST /scim/v2/Users", () => {
  test("POST /scim/v2/Users responds with 201 and the user, including its id and lastSignInAt", async () => {
    const sent = newUser({ userName: "Ada.Lovelace@acme.example" });
    const { status, body, headers } = await scim.users("POST", "", sent);
    assert.equal(status, 201);
    assert.match(body.id, /^[0-9a-f-]{36}$/);
    assert.equal(headers.get("location"), `/scim/v2/Users/${body.id}`);
    assert.deepEqual(body.schemas, [USER_SCHEMA]);
    assert.equal(body.userName, "Ada.Lovelace@acme.example");
    assert.deepEqual(body.name, sent.name);
    assert.equal(body.department, "engineering");
    assert.deepEqual(body.permissions.companyPermissions, ["manage_company_settings"]);
    assert.equal(body.permissions.appGroup[0].appGroupName, "demo");
    assert.equal(body.active, true);
    assert.equal(body.lastSignInAt, "Thursday, January 1, 1970 12:00:00 AM");
    assert.equal(body.meta.resourceType, "User");
    assert.equal(body.meta.location, `/scim/v2/Users/${body.id}`);
    assert.equal(body.meta.created, new Date(body.meta.created).toISOString());
  });

  test("a created SCIM user can be read by the next request", async () => {
    const user = await scim.user();
    assert.deepEqual((await scim.users("GET", `/${user.id}`)).body, user);
  });

  test("POST /scim/v2/Users accepts both JSON types and a trailing slash", async () => {
    for (const type of [
      "application/json",
      "application/scim+json",
      "application/scim+json; charset=utf-8",
    ]) {
      const headers = { "content-type": type };
      const { status } = await scim.call("POST", "/scim/v2/Users/", newUser(), { headers });
      assert.equal(status, 201, type);
    }
  });

  test("a SCIM user keeps externalId, displayName, active and emails", async () => {
    const beside = {
      externalId: "00u1",
      displayName: "Ada L.",
      active: false,
      emails: [
        { value: "ada@acme.example", type: "work", primary: true },
        { value: "ada@home.example", type: "home", display: "Home" },
      ],
    };
    const user = await scim.user(beside);
    const { externalId, displayName, active, emails } = user;
    assert.deepEqual({ externalId, displayName, active, emails }, beside);
  });

  test("SCIM attribute names match in any case, and booleans may be sent as strings", async () => {
    const user = await scim.user({
      USERNAME: "case@acme.example",
      userName: undefined,
      emails: [{ Value: "case@acme.example", PRIMARY: "True" }],
      Active: "False",
    });
    assert.equal(user.userName, "case@acme.example");
    assert.deepEqual(user.emails, [{ value: "case@acme.example", primary: true }]);
    assert.equal(user.active, false);
  });

  test("POST /scim/v2/Users ignores read-only and unsupported attributes", async () => {
    const user = await scim.user({
      id: "mine",
      lastSignInAt: "Friday, January 2, 1970 12:00:00 AM",
      meta: { created: "2000-01-01T00:00:00Z" },
      title: "Countess",
      phoneNumbers: [{ value: "+1" }],
      "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { department: "Numbers" },
    });
    assert.notEqual(user.id, "mine");
    assert.equal(user.lastSignInAt, "Thursday, January 1, 1970 12:00:00 AM");
    assert.notEqual(user.meta.created, "2000-01-01T00:00:00Z");
    assert.ok(!("title" in user || "phoneNumbers" in user));
    assert.equal(user.department, "engineering");
  });

  describe("POST /scim/v2/Users requires schemas, userName, name, department and permissions", () => {
    for (const member of ["schemas", "userName", "name", "department", "permissions"]) {
      test(`a new SCIM user is refused if ${member} is missing or null`, async () => {
        const scimType = member === "schemas" ? "invalidSyntax" : "invalidValue";
        for (const body of [without(member), newUser({ [member]: null })]) {
          const answer = await scim.users("POST", "", body);
          assertRefused(answer, 400, scimType, new RegExp(`'${member}'`));
        }
      });
    }

    test("the refusal of a new SCIM user names all missing members at once", async () => {
      const answer = await scim.users("POST", "", { schemas: [USER_SCHEMA] });
      const detail = "'userName', 'name', 'department', 'permissions' are required";
      assertRefused(answer, 400, "invalidValue", detail);
    });
  });

  describe("an invalid new SCIM user is refused with a scimType and the attribute, and is not created", () => {
    const long = "x".repeat(256);
    const cases: [string, Record<string, unknown>, string, RegExp][] = [
      [
        "schemas is no array",
        { schemas: USER_SCHEMA },
        "invalidSyntax",
        /'schemas' must be an array/,
      ],
      [
        "schemas without the user schema",
        { schemas: ["urn:x"] },
        "invalidSyntax",
        /must contain urn/,
      ],
      ["schemas of numbers", { schemas: [1] }, "invalidSyntax", /array of strings/],
      [
        "userName is no address",
        { userName: "ada" },
        "invalidValue",
        /'userName' must be an email/,
      ],
      ["userName is a number", { userName: 7 }, "invalidValue", /'userName' must be a string/],
      ["name is a string", { name: "Ada" }, "invalidValue", /'name' must be an object/],
      [
        "attributes below the schema that are given twice",
        { [USER_SCHEMA]: { active: false }, active: true },
        "invalidValue",
        /'active' is given twice/,
      ],
      ["a schema that is no object", { [USER_SCHEMA]: true }, "invalidValue", /must be an object/],
      [
        "a number as a name",
        { name: { givenName: 1, familyName: "A" } },
        "invalidValue",
        /must be a string/,
      ],
      [
        "a long name",
        { name: { givenName: long, familyName: "A" } },
        "invalidValue",
        /at most 255/,
      ],
      [
        "an unknown department",
        { department: "numbers" },
        "invalidValue",
        /'department' must be one of/,
      ],
      [
        "a department that is no string",
        { department: ["bi"] },
        "invalidValue",
        /must be a string/,
      ],
      ["active is a word", { active: "perhaps" }, "invalidValue", /'active' must be true or false/],
      [
        "emails is an object",
        { emails: { value: "a@b.example" } },
        "invalidValue",
        /'emails' must be an array/,
      ],
      [
        "an email is a string",
        { emails: ["a@b.example"] },
        "invalidValue",
        /'emails\[0\]' must be an object/,
      ],
      [
        "two primary emails",
        { emails: [{ primary: true }, { primary: true }] },
        "invalidValue",
        /primary/,
      ],
      [
        "too many emails",
        { emails: Array(501).fill({ value: "a" }) },
        "invalidValue",
        /at most 500/,
      ],
      [
        "an attribute twice",
        { username: "b@acme.example" },
        "invalidValue",
        /'userName' is given twice/,
      ],
      ["a NUL character", { displayName: "a\0b" }, "invalidValue", /INVALID_TEXT/],
      ["a lone surrogate", { displayName: "a\ud800" }, "invalidValue", /INVALID_TEXT/],
    ];
    for (const [what, members, scimType, detail] of cases) {
      test(what, async () => {
        const before = (await scim.list({ count: "0" })).body.totalResults;
        assertRefused(await scim.users("POST", "", newUser(members)), 400, scimType, detail);
        assert.equal((await scim.list({ count: "0" })).body.totalResults, before);
      });
    }
  });

  test("creating a SCIM user with an existing userName, in any case, gets 409 with scimType uniqueness", async () => {
    await scim.user({ userName: "taken@acme.example" });
    const answer = await scim.users("POST", "", newUser({ userName: "TAKEN@acme.example" }));
    assert.equal(answer.status, 409);
    assert.deepEqual(answer.body, {
      schemas: [ERROR_SCHEMA],
      scimType: "uniqueness",
      detail: "User already exists in the database.",
      status: 409,
    });
  });

  test("50 concurrent creations of one userName create one SCIM user", async () => {
    const body = newUser({ userName: "once@acme.example" });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => scim.users("POST", "", body)),
    );
    const statuses = answers.map((answer) => answer.status).sort();
    assert.deepEqual(statuses, [201, ...Array(49).fill(409)]);
    const found = await scim.list({ filter: 'userName eq "once@acme.example"' });
    assert.equal(found.body.totalResults, 1);
  });
});

describe("GET /scim/v2/Users/{id}", () => {
  test("GET /scim/v2/Users/{id} responds with the user for an id found with a filter", async () => {
    const user = await scim.user();
    const found = await scim.list({ filter: `userName eq "${user.userName}"` });
    const { status, body } = await scim.users("GET", `/${found.body.Resources[0].id}`);
    assert.equal(status, 200);
    assert.deepEqual(body, user);
  });

  test("GET /scim/v2/Users/{id} with an unknown or malformed id gets 404", async () => {
    for (const id of [UNKNOWN_ID, "00919288221112222", "nobody"]) {
      assertRefused(await scim.users("GET", `/${id}`), 404, undefined, "User not found");
    }
  });
});

describe("PUT /scim/v2/Users/{id}", () => {
  test("PUT /scim/v2/Users/{id} responds with 200 and the user after the update", async () => {
    const user = await scim.user({ externalId: "before", displayName: "Before" });
    const { userName: _, ...sent } = newUser({
      name: { givenName: "Grace", familyName: "Hopper" },
      department: "bi",
      permissions: { companyPermissions: ["admin"] },
      externalId: "after",
    });
    const { status, body } = await scim.users("PUT", `/${user.id}`, sent);
    assert.equal(status, 200);
    assert.deepEqual(body.name, { givenName: "Grace", familyName: "Hopper" });
    assert.equal(body.department, "bi");
    assert.deepEqual(body.permissions, { companyPermissions: ["admin"], appGroup: [] });
    assert.equal(body.externalId, "after");
    assert.ok(!("displayName" in body), "what a PUT leaves out is gone");
    assert.equal(body.userName, user.userName);
    assert.deepEqual((await scim.users("GET", `/${user.id}`)).body, body);
  });

  test("PUT /scim/v2/Users/{id} ignores a different userName", async () => {
    const user = await scim.user();
    for (const userName of ["other@acme.example", "no address"]) {
      const { status, body } = await scim.users("PUT", `/${user.id}`, newUser({ userName }));
      assert.equal(status, 200);
      assert.equal(body.userName, user.userName);
    }
    const other = await scim.list({ filter: 'userName eq "other@acme.example"' });
    assert.equal(other.body.totalResults, 0);
  });

  test("PUT /scim/v2/Users/{id} without active leaves active unchanged", async () => {
    const user = await scim.user({ active: false });
    const { body } = await scim.users("PUT", `/${user.id}`, newUser());
    assert.equal(body.active, false);
  });

  test("PUT /scim/v2/Users/{id} leaves lastModified unchanged if nothing changes", async () => {
    const sent = newUser();
    const user = await scim.user(sent);
    const same = await scim.users("PUT", `/${user.id}`, sent);
    assert.deepEqual(same.body, user);
    const other = await scim.users("PUT", `/${user.id}`, { ...sent, displayName: "New" });
    assert.ok(other.body.meta.lastModified >= user.meta.lastModified);
    assert.equal(other.body.meta.created, user.meta.created);
    assert.equal(other.body.displayName, "New");
  });

  describe("PUT /scim/v2/Users/{id} requires schemas, name, department and permissions", () => {
    for (const member of ["schemas", "name", "department", "permissions"]) {
      test(`a SCIM PUT without ${member} is refused and changes nothing`, async () => {
        const user = await scim.user();
        const answer = await scim.users("PUT", `/${user.id}`, without(member));
        const scimType = member === "schemas" ? "invalidSyntax" : "invalidValue";
        assertRefused(answer, 400, scimType, new RegExp(`'${member}'`));
        assert.deepEqual((await scim.users("GET", `/${user.id}`)).body, user);
      });
    }
  });

  test("PUT /scim/v2/Users/{id} with an unknown id gets 404", async () => {
    const answer = await scim.users("PUT", `/${UNKNOWN_ID}`, newUser());
    assert.equal(answer.status, 404);
    assert.deepEqual(answer.body, {
      schemas: [ERROR_SCHEMA],
      detail: "User not found",
      status: 404,
    });
    assertRefused(await scim.users("PUT", "/nobody", newUser()), 404);
  });
});

describe("DELETE /scim/v2/Users/{id}", () => {
  test("DELETE /scim/v2/Users/{id} responds with 204 and removes the user", async () => {
    const user = await scim.user();
    assert.equal((await scim.users("DELETE", `/${user.id}`)).status, 204);
    assertRefused(await scim.users("GET", `/${user.id}`), 404, undefined, "User not found");
    assertRefused(await scim.users("DELETE", `/${user.id}`), 404, undefined, "User not found");
    await scim.user({ userName: user.userName });
  });

  test("DELETE /scim/v2/Users/{id} accepts a Content-Type without a body", async () => {
    const user = await scim.user();
    const headers = { "content-type": "application/json" };
    const answer = await scim.call("DELETE", `/scim/v2/Users/${user.id}`, undefined, { headers });
    assert.equal(answer.status, 204);
  });
});
