import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startOwnServer } from "../../harness.ts";
import { declare, PATCH_SCHEMA, scimClient, USER_SCHEMA } from "../../scim-client.ts";

const server = await startOwnServer();
await declare(server);
const scim = scimClient(server);

const WORK = { value: "ada@acme.example", type: "work", primary: true };
const HOME = { value: "ada@home.example", type: "home" };
const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

const ada = () => scim.user({ externalId: "ext-1", displayName: "Ada", emails: [WORK, HOME] });

type Operation = Record<string, unknown>;

/** Ada after operations, as far as the named attributes. */
async function after(operations: readonly Operation[], ...names: string[]) {
  const user = await ada();
  const { status, body } = await scim.patch(user.id, ...operations);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual((await scim.users("GET", `/${user.id}`)).body, body, "as the next read has it");
  return Object.fromEntries(names.map((name) => [name, body[name]]));
}

describe("PATCH /scim/v2/Users/{id}", () => {
  const name = (givenName: string, familyName = "Lovelace") => ({ givenName, familyName });
  const groupOf = async (...operations: Operation[]) => {
    const { permissions } = await after(operations, "permissions");
    const [{ appGroupId: _, ...group }] = permissions.appGroup;
    return group;
  };

  const cases: [string, Operation[], Record<string, unknown>][] = [
    // RFC 7644, 3.5.2.1
    [
      "add sets a value that is not there",
      [{ op: "add", path: "displayName", value: "A" }],
      { displayName: "A" },
    ],
    [
      "add without a path adds attributes",
      [{ op: "add", value: { displayName: "A", name: name("B") } }],
      { displayName: "A", name: name("B") },
    ],
    [
      "attributes may be below their schema, as a value",
      [{ op: "replace", value: { [USER_SCHEMA]: { active: false, displayName: "A" } } }],
      { active: false, displayName: "A" },
    ],
    [
      "attributes may be below their schema, as a path",
      [{ op: "replace", path: USER_SCHEMA.toLowerCase(), value: { active: "False" } }],
      { active: false },
    ],
    [
      "one of two names may be removed",
      [{ op: "remove", path: "name.familyName" }],
      { name: { givenName: "Ada" } },
    ],
    [
      "add to a list appends",
      [{ op: "add", path: "emails", value: [{ value: "c" }] }],
      { emails: [WORK, HOME, { value: "c" }] },
    ],
    [
      "add takes one value for a list",
      [{ op: "add", path: "emails", value: { value: "c" } }],
      { emails: [WORK, HOME, { value: "c" }] },
    ],
    [
      "add of a value that is there changes nothing",
      [{ op: "add", path: "emails", value: [HOME] }],
      { emails: [WORK, HOME] },
    ],
    [
      "add of a primary value ends the other's",
      [{ op: "add", path: "emails", value: [{ value: "c", primary: true }] }],
      { emails: [{ ...WORK, primary: false }, HOME, { value: "c", primary: true }] },
    ],
    [
      "add with a filter changes the value that it picks",
      [{ op: "add", path: 'emails[type eq "home"].display', value: "Home" }],
      { emails: [WORK, { ...HOME, display: "Home" }] },
    ],
    [
      "add with a filter that picks nothing makes the value",
      [{ op: "add", path: 'emails[type eq "other"].value', value: "c" }],
      { emails: [WORK, HOME, { type: "other", value: "c" }] },
    ],
    [
      "add to a part of a complex attribute",
      [{ op: "add", path: "name.givenName", value: "A" }],
      { name: name("A") },
    ],
    // RFC 7644, 3.5.2.2
    [
      "remove takes an attribute away",
      [
        { op: "remove", path: "displayName" },
        { op: "remove", path: "emails" },
      ],
      { displayName: undefined, emails: undefined },
    ],
    [
      "remove with a filter takes values away",
      [{ op: "remove", path: 'emails[type eq "home" and value ew ".example"]' }],
      { emails: [WORK] },
    ],
    [
      "remove of the last value takes the list away",
      [{ op: "remove", path: "emails[value pr]" }],
      { emails: undefined },
    ],
    [
      "remove with a filter that picks nothing changes nothing",
      [{ op: "remove", path: 'emails[type eq "x"]' }],
      { emails: [WORK, HOME] },
    ],
    [
      "remove of a part of the values that a filter picks",
      [{ op: "remove", path: 'emails[type eq "work"].primary' }],
      { emails: [{ value: WORK.value, type: "work" }, HOME] },
    ],
    [
      "remove of what is not there changes nothing",
      [
        { op: "remove", path: "externalId" },
        { op: "remove", path: "externalId" },
      ],
      { externalId: undefined },
    ],
    // RFC 7644, 3.5.2.3
    [
      "replace sets a value",
      [{ op: "replace", path: "externalId", value: "ext-2" }],
      { externalId: "ext-2" },
    ],
    [
      "replace without a path sets attributes",
      [{ op: "replace", value: { active: false, department: "pm" } }],
      { active: false, department: "pm" },
    ],
    [
      "replace of a complex attribute leaves the other parts",
      [{ op: "replace", path: "name", value: { givenName: "A" } }],
      { name: name("A") },
    ],
    [
      "replace of a list replaces all of it",
      [{ op: "replace", path: "emails", value: [{ value: "c" }] }],
      { emails: [{ value: "c" }] },
    ],
    [
      "replace with a filter replaces the value",
      [{ op: "replace", path: 'emails[type eq "home"]', value: { value: "c" } }],
      { emails: [WORK, { value: "c" }] },
    ],
    [
      "replace of a part of the values that a filter picks",
      [{ op: "replace", path: 'emails[type eq "home"].value', value: "c" }],
      { emails: [WORK, { ...HOME, value: "c" }] },
    ],
    [
      "replace of a part of all values",
      [{ op: "replace", path: "emails.type", value: "other" }],
      {
        emails: [
          { ...WORK, type: "other" },
          { ...HOME, type: "other" },
        ],
      },
    ],
    [
      "replace making another value primary",
      [{ op: "replace", path: 'emails[type eq "home"].primary', value: true }],
      {
        emails: [
          { ...WORK, primary: false },
          { ...HOME, primary: true },
        ],
      },
    ],
    [
      "replace of a part of a list that is not there adds to it",
      [
        { op: "remove", path: "emails" },
        { op: "replace", path: "emails.value", value: "c" },
      ],
      { emails: [{ value: "c" }] },
    ],
    [
      "null takes a value away",
      [{ op: "replace", path: "displayName", value: null }],
      { displayName: undefined },
    ],
    [
      "operations see what the ones before them did",
      [
        { op: "remove", path: "emails" },
        { op: "add", path: "emails", value: [HOME] },
        { op: "replace", path: 'emails[type eq "home"].value', value: "c" },
      ],
      { emails: [{ ...HOME, value: "c" }] },
    ],
    [
      "paths are matched in any case, with and without the schema",
      [
        { op: "replace", path: "NAME.GIVENNAME", value: "A" },
        { op: "replace", path: `${USER_SCHEMA}:displayName`, value: "B" },
      ],
      { name: name("A"), displayName: "B" },
    ],
  ];
  for (const [what, operations, expected] of cases) {
    test(what, async () => {
      assert.deepEqual(await after(operations, ...Object.keys(expected)), expected);
    });
  }

  test("a SCIM PATCH responds with 200 and the requested attributes of the user", async () => {
    const user = await ada();
    const body = { schemas: [PATCH_SCHEMA], Operations: [{ op: "remove", path: "displayName" }] };
    const answer = await scim.users("PATCH", `/${user.id}?attributes=userName`, body);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, { schemas: [USER_SCHEMA], id: user.id, userName: user.userName });
  });

  test("a SCIM PATCH accepts the user's current userName in any case", async () => {
    const user = await ada();
    const value = user.userName.toUpperCase();
    const { status, body } = await scim.patch(user.id, { op: "replace", path: "userName", value });
    assert.deepEqual([status, body], [200, user]);
  });

  test("a SCIM PATCH that changes nothing leaves lastModified unchanged", async () => {
    const user = await ada();
    const same = await scim.patch(user.id, { op: "replace", path: "displayName", value: "Ada" });
    assert.deepEqual(same.body, user);
  });

  test("a SCIM PATCH of permissions identifies a workspace and a team by name", async () => {
    const path = 'permissions.appGroup[appGroupName eq "demo"]';
    const before = {
      appGroupName: "demo",
      appGroupPermissions: ["basic_access"],
      team: [],
      appGroupPermissionSets: [],
    };
    assert.deepEqual(
      await groupOf({ op: "add", path: `${path}.appGroupPermissions`, value: ["admin"] }),
      { ...before, appGroupPermissions: ["basic_access", "admin"] },
    );
    assert.deepEqual(
      await groupOf(
        {
          op: "add",
          path: `${path}.team`,
          value: [{ teamName: "Red", teamPermissions: ["admin"] }],
        },
        { op: "add", path: `${path}.team`, value: { teamName: "Red" } },
      ),
      { ...before, team: [{ teamId: "team-red", teamName: "Red", teamPermissions: [] }] },
    );
    assert.deepEqual(
      await groupOf({
        op: "add",
        path: "permissions",
        value: { appGroup: [{ appGroupName: "demo" }] },
      }),
      { ...before, appGroupPermissions: [] },
    );
    const { permissions } = await after(
      [
        { op: "remove", path: "permissions.appGroup" },
        { op: "remove", path: "permissions.companyPermissions" },
      ],
      "permissions",
    );
    assert.deepEqual(permissions, { companyPermissions: [], appGroup: [] });
  });

  test("a SCIM PATCH that replaces permissions by empty lists takes them away, and names only those it changes", async () => {
    const replaceBy = async (value: Record<string, unknown>, path?: string) => {
      const operation = path ? { path, value } : { value: { permissions: value } };
      const { permissions } = await after([{ op: "replace", ...operation }], "permissions");
      return permissions.appGroup.length;
    };
    assert.equal(await replaceBy({ companyPermissions: [], appGroup: [] }, "permissions"), 0);
    assert.equal(await replaceBy({ appgroup: [] }), 0);
    assert.equal(await replaceBy({ appGroup: null }), 0);
    assert.equal(await replaceBy({ companyPermissions: [] }), 1);
    const added = await after(
      [{ op: "add", path: "permissions", value: { appGroup: [] } }],
      "permissions",
    );
    assert.equal(added.permissions.appGroup.length, 1);
  });
});

describe("a SCIM PATCH accepts what Microsoft Entra and Okta send", () => {
  const cases: [string, Operation[], Record<string, unknown>][] = [
    [
      "names of operations with a capital",
      [
        { op: "Replace", path: "displayName", value: "A" },
        { op: "Remove", path: "externalId" },
        { op: "Add", path: "externalId", value: "B" },
      ],
      { displayName: "A", externalId: "B" },
    ],
    ["booleans as strings", [{ op: "Replace", path: "active", value: "False" }], { active: false }],
    [
      "paths as the names of a value without a path",
      [
        {
          op: "Add",
          value: {
            "name.familyName": "King",
            'emails[type eq "work"].value': "c",
            [`${ENTERPRISE}:department`]: "Numbers",
          },
        },
      ],
      {
        name: { givenName: "Ada", familyName: "King" },
        emails: [{ ...WORK, value: "c" }, HOME],
        department: "engineering",
      },
    ],
    [
      "a single value wrapped in a list",
      [{ op: "Replace", path: "displayName", value: [{ $ref: null, value: "A" }] }],
      { displayName: "A" },
    ],
    [
      "remove of the values that it names",
      [{ op: "Remove", path: "emails", value: [{ value: HOME.value }] }],
      { emails: [WORK] },
    ],
    [
      "remove of one value that it names",
      [{ op: "Remove", path: "emails", value: { type: "work" } }],
      { emails: [HOME] },
    ],
    [
      "remove with an empty value",
      [{ op: "Remove", path: "displayName", value: "" }],
      { displayName: undefined },
    ],
    [
      "attributes that are not kept are passed over",
      [
        { op: "Add", path: "title", value: "Countess" },
        { op: "Replace", path: "name.formatted", value: "A" },
        { op: "Add", path: 'addresses[type eq "work"].country', value: "GB" },
        { op: "Replace", path: `${ENTERPRISE}:manager`, value: "1" },
        { op: "replace", path: `${ENTERPRISE}.manager`, value: "1" },
        { op: "Replace", path: "displayName", value: "A" },
      ],
      { displayName: "A", title: undefined },
    ],
    [
      "id and schemas in a value without a path are passed over",
      [{ op: "replace", value: { id: "x", schemas: ["x"], active: false, nonsense: 1 } }],
      { active: false },
    ],
    [
      "members in another case",
      [{ Op: "replace", PATH: "displayName", Value: "A" }],
      { displayName: "A" },
    ],
  ];
  for (const [what, operations, expected] of cases) {
    test(what, async () => {
      assert.deepEqual(await after(operations, ...Object.keys(expected)), expected);
    });
  }
});

test("concurrent changes to one SCIM user are all kept", async () => {
  const user = await scim.user();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      scim.patch(user.id, { op: "add", path: "emails", value: [{ value: `a${index}` }] }),
    ),
  );
  assert.ok(answers.every(({ status }) => status === 200));
  const { emails } = (await scim.users("GET", `/${user.id}`)).body;
  assert.equal(new Set(emails.map(({ value }: { value: string }) => value)).size, 20);
});
