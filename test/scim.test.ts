import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startOwnServer } from "./harness.ts";
import {
  assertRefused,
  declare,
  ERROR_SCHEMA,
  newUser,
  scimClient,
  USER_SCHEMA,
} from "./scim-client.ts";

const server = await startOwnServer();
await declare(server);
const scim = scimClient(server);

const without = (key: string) => ({ ...newUser(), [key]: undefined });

const UNKNOWN_ID = "01a1fbaf-f926-76e9-9f88-ff84832d9fb9";

describe("POST /scim/v2/Users", () => {
  test("answers 201 with the dashboard user, its id and lastSignInAt", async () => {
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

  test("what was created can be read by the next request", async () => {
    const user = await scim.user();
    assert.deepEqual((await scim.users("GET", `/${user.id}`)).body, user);
  });

  test("takes both JSON types, and both spellings of the path", async () => {
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

  test("keeps what identity providers hold beside: externalId, displayName, emails, active", async () => {
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

  test("matches the names of attributes in any case, and reads booleans from strings", async () => {
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

  test("passes over what is read-only or not kept, and says so by what it answers", async () => {
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

  describe("requires schemas, userName, name, department and permissions", () => {
    for (const member of ["schemas", "userName", "name", "department", "permissions"]) {
      test(`${member} is missing, or null`, async () => {
        const scimType = member === "schemas" ? "invalidSyntax" : "invalidValue";
        for (const body of [without(member), newUser({ [member]: null })]) {
          const answer = await scim.users("POST", "", body);
          assertRefused(answer, 400, scimType, new RegExp(`'${member}'`));
        }
      });
    }

    test("several missing members are named at once", async () => {
      const answer = await scim.users("POST", "", { schemas: [USER_SCHEMA] });
      const detail = "'userName', 'name', 'department', 'permissions' are required";
      assertRefused(answer, 400, "invalidValue", detail);
    });
  });

  describe("refuses with a keyword, names the attribute, and makes nobody", () => {
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
        "no family name",
        { name: { givenName: "A" } },
        "invalidValue",
        /'name.familyName' is required/,
      ],
      [
        "no given name",
        { name: { familyName: "A" } },
        "invalidValue",
        /'name.givenName' is required/,
      ],
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

  test("an address that has a user, in any case, is answered with 409 and its body", async () => {
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

  test("50 parallel creations of one userName make one user", async () => {
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
  test("takes the id of a creation and of a look-up, and answers with the user", async () => {
    const user = await scim.user();
    const found = await scim.list({ filter: `userName eq "${user.userName}"` });
    const { status, body } = await scim.users("GET", `/${found.body.Resources[0].id}`);
    assert.equal(status, 200);
    assert.deepEqual(body, user);
  });

  test("an id that nobody has, or that is none, is answered with 404 and User not found", async () => {
    for (const id of [UNKNOWN_ID, "00919288221112222", "nobody"]) {
      assertRefused(await scim.users("GET", `/${id}`), 404, undefined, "User not found");
    }
  });
});

describe("PUT /scim/v2/Users/{id}", () => {
  test("answers 200 with the user as it is after the update", async () => {
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

  test("ignores another userName", async () => {
    const user = await scim.user();
    for (const userName of ["other@acme.example", "no address"]) {
      const { status, body } = await scim.users("PUT", `/${user.id}`, newUser({ userName }));
      assert.equal(status, 200);
      assert.equal(body.userName, user.userName);
    }
    const other = await scim.list({ filter: 'userName eq "other@acme.example"' });
    assert.equal(other.body.totalResults, 0);
  });

  test("leaves active as it is where it does not say", async () => {
    const user = await scim.user({ active: false });
    const { body } = await scim.users("PUT", `/${user.id}`, newUser());
    assert.equal(body.active, false);
  });

  test("moves lastModified only where something changes", async () => {
    const sent = newUser();
    const user = await scim.user(sent);
    const same = await scim.users("PUT", `/${user.id}`, sent);
    assert.deepEqual(same.body, user);
    const other = await scim.users("PUT", `/${user.id}`, { ...sent, displayName: "New" });
    assert.ok(other.body.meta.lastModified >= user.meta.lastModified);
    assert.equal(other.body.meta.created, user.meta.created);
    assert.equal(other.body.displayName, "New");
  });

  describe("requires schemas, name, department and permissions, and changes nothing without", () => {
    for (const member of ["schemas", "name", "department", "permissions"]) {
      test(`${member} is missing`, async () => {
        const user = await scim.user();
        const answer = await scim.users("PUT", `/${user.id}`, without(member));
        const scimType = member === "schemas" ? "invalidSyntax" : "invalidValue";
        assertRefused(answer, 400, scimType, new RegExp(`'${member}'`));
        assert.deepEqual((await scim.users("GET", `/${user.id}`)).body, user);
      });
    }
  });

  test("an id that nobody has is answered with 404 and its body", async () => {
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
  test("answers 204 without a body, and the user is gone", async () => {
    const user = await scim.user();
    assert.equal((await scim.users("DELETE", `/${user.id}`)).status, 204);
    assertRefused(await scim.users("GET", `/${user.id}`), 404, undefined, "User not found");
    assertRefused(await scim.users("DELETE", `/${user.id}`), 404, undefined, "User not found");
    await scim.user({ userName: user.userName });
  });

  test("takes a Content-Type without a body, which some clients send with every request", async () => {
    const user = await scim.user();
    const headers = { "content-type": "application/json" };
    const answer = await scim.call("DELETE", `/scim/v2/Users/${user.id}`, undefined, { headers });
    assert.equal(answer.status, 204);
  });
});
