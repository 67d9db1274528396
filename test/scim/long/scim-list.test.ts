import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { startWork } from "../../../src/core/base/work.ts";
import { RESOURCE_ATTRIBUTES } from "../../../src/features/scim/protocol/attributes.ts";
import { parseFilter } from "../../../src/features/scim/protocol/filter.ts";
import { conditionOf, matches } from "../../../src/features/scim/protocol/match.ts";
import { searchable } from "../../../src/features/scim/protocol/searchable.ts";
import { startOwnServer } from "../../harness.ts";
import { assertRefused, declare, newUser, scimClient, USER_SCHEMA } from "../../scim-client.ts";

const server = await startOwnServer();
await declare(server);
const scim = scimClient(server);

const people = [
  {
    userName: "ada@acme.example",
    externalId: "Ext-A",
    name: { givenName: "Ada", familyName: "Lovelace" },
    displayName: "Countess",
    department: "engineering",
    emails: [
      { value: "ada@acme.example", type: "work", primary: true },
      { value: "ada@home.example", type: "home" },
    ],
  },
  {
    userName: "Grace@acme.example",
    externalId: "ext-b",
    name: { givenName: "Grace", familyName: "Hopper" },
    active: false,
    department: "bi",
    emails: [{ value: "GRACE@home.example", type: "home" }],
    permissions: { companyPermissions: ["admin"] },
  },
  {
    userName: "zoe.o'neil@other.example",
    name: { givenName: "Zoë", familyName: "O'Neil" },
    displayName: "",
    department: "bi",
    permissions: { appGroup: [{ appGroupName: "demo", team: [{ teamName: "Red" }] }] },
  },
];
const ids: string[] = [];
for (const person of people) ids.push((await scim.user(person)).id);
const [ada, grace, zoe] = ids as [string, string, string];
const { created } = (await scim.users("GET", `/${ada}`)).body.meta;
const everybody: Record<string, string> = { [ada]: "ada", [grace]: "grace", [zoe]: "zoe" };

/** Who of the three meets a filter. */
async function found(filter: string): Promise<string> {
  const { status, body } = await scim.list({ filter });
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.totalResults, body.Resources.length);
  return body.Resources.map(({ id }: { id: string }) => everybody[id]).join(" ");
}

describe("GET /scim/v2/Users with a filter", () => {
  const cases: [string, string][] = [
    ['userName eq "ada@acme.example"', "ada"],
    ['USERNAME Eq "ADA@ACME.EXAMPLE"', "ada"],
    ['userName eq "grace@acme.example"', "grace"],
    ['userName eq "nobody@acme.example"', ""],
    [`urn:ietf:params:scim:schemas:core:2.0:User:userName sw "z"`, "zoe"],
    ['userName ne "ada@acme.example"', "grace zoe"],
    ['userName co "@acme."', "ada grace"],
    ['userName ew ".example" and not (userName sw "ada")', "grace zoe"],
    ['userName gt "b"', "grace zoe"],
    ['userName ge "grace@acme.example" and userName lt "z"', "grace"],
    ['userName le "b"', "ada"],
    ["userName sw g", "grace"],
    ["userName pr", "ada grace zoe"],
    ['userName co "%"', ""],
    ['userName co "o\'n"', "zoe"],
    ['externalId eq "ext-b"', "grace"],
    ['externalId eq "ext-a"', ""],
    ["externalId pr", "ada grace"],
    ["not (externalId pr)", "zoe"],
    ["externalId eq null", "zoe"],
    ["externalId ne null", "ada grace"],
    ['externalId ne "ext-b"', "ada zoe"],
    ['not (externalId eq "ext-b")', "ada zoe"],
    [`id eq "${zoe}"`, "zoe"],
    ['id eq "no id"', ""],
    ['name.familyName co "\'Neil"', "zoe"],
    ['name.givenName eq "ZOË"', "zoe"],
    ["name pr", "ada grace zoe"],
    ["displayName pr", "ada"],
    ['displayName eq ""', "zoe"],
    ['displayName ne "countess"', "grace zoe"],
    ["active eq true", "ada zoe"],
    ['ActiVe eq "False"', "grace"],
    ["active ne true", "grace"],
    ['department eq "bi"', "grace zoe"],
    ['emails co "home.example"', "ada grace"],
    ['emails.value eq "grace@home.example"', "grace"],
    ['emails.type eq "work"', "ada"],
    ['emails.type ne "work"', "ada grace zoe"],
    ["emails pr", "ada grace"],
    ["emails.primary eq true", "ada"],
    ['emails[type eq "work" and value co "home"]', ""],
    ['emails[type eq "home" and value co "home"]', "ada grace"],
    ['emails[not (type eq "home")]', "ada"],
    ['emails[value pr and (type eq "work" or primary eq true)]', "ada"],
    ['emails[type eq "work"].value eq "ada@acme.example"', "ada"],
    ['emails[type eq "work"].value co "home"', ""],
    ['not (emails[type eq "work"].value pr)', "grace zoe"],
    ['emails[type eq "home"].value eq "Grace@home.example" and active eq false', "grace"],
    ['permissions.companyPermissions eq "admin"', "grace"],
    ['permissions.appGroup.team.teamName eq "Red"', "zoe"],
    ['permissions.appGroup[appGroupName eq "demo" and team[teamName eq "Red"]]', "zoe"],
    [`meta.created ge "${created}"`, "ada grace zoe"],
    [`meta.created lt "${created}"`, ""],
    ["meta.lastModified gt 2015-10-10T14:38:21.8617979-07:00", "ada grace zoe"],
    ['meta.lastModified ge "0001-01-03T00:00:00.0000000Z" and active eq true', "ada zoe"],
    ['schemas eq "urn:ietf:params:scim:schemas:core:2.0:User"', "ada grace zoe"],
    ['meta.resourceType eq "User"', "ada grace zoe"],
    ["title pr", ""],
    ['title ne "Countess"', "ada grace zoe"],
    ['name.formatted eq "Ada Lovelace" or userName sw "a"', "ada"],
    ['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "bi"', ""],
    [
      "name.FamilyName eq Hopper and (emails.Value co acme.example or emails.Value co home.example)",
      "grace",
    ],
  ];
  for (const [filter, identifier] of cases) {
    test(`the SCIM filter ${filter} finds ${identifier || "no user"}`, async () => {
      assert.equal(await found(filter), identifier);
    });
  }

  const refused: [string, RegExp][] = [
    ["userName eq", /a value was expected/],
    ['userName regex "a"', /an operator was expected at position 9, not 'regex'/],
    ['wrong eq "a"', /'wrong' is not an attribute of a user/],
    ['name.wrong eq "a"', /'name.wrong' is not an attribute of a user/],
    ['userName.wrong eq "a"', /is not an attribute of a user/],
    ['name eq "a"', /has several parts/],
    ['active eq "perhaps"', /true or false/],
    ["active gt true", /cannot be compared by gt/],
    ["active co true", /cannot be compared by co/],
    ['meta.created eq "yesterday"', /ISO 8601/],
    ['meta.created sw "2026"', /cannot be compared by sw/],
    ["userName gt null", /cannot be compared with null/],
    ['userName[value eq "a"]', /has no attributes that \[\] could filter by/],
    ['emails[wrong eq "a"]', /'wrong' is not an attribute/],
    [String.raw`userName eq "a\u0000"`, /text that no user can have/],
    [String.raw`emails[value co "\ud800"]`, /text that no user can have/],
    ["lastSignInAt pr", /cannot be filtered by/],
    ['permissions.appGroup[appGroupId eq "1"]', /cannot be filtered by/],
    ['permissions.appGroup.team.teamId eq "1"', /cannot be filtered by/],
  ];
  for (const [filter, detail] of refused) {
    test(`the SCIM filter ${JSON.stringify(filter)} is refused with invalidFilter`, async () => {
      assertRefused(await scim.list({ filter }), 400, "invalidFilter", detail);
    });
  }

  test("a SCIM filter may be URL-encoded with blanks as + or %20, and follow a slash after Users", async () => {
    for (const query of [
      "?filter=userName+eq+%22ada%40acme.example%22",
      "?filter=userName%20eq%20%22ada@acme.example%22",
    ]) {
      for (const slash of ["", "/"]) {
        assert.equal((await scim.users("GET", slash + query)).body.totalResults, 1);
      }
    }
  });

  test("a filtered SCIM list has the ListResponse schema, totalResults and Resources", async () => {
    const { body } = await scim.list({ filter: `id eq "${ada}"` });
    assert.deepEqual(body.schemas, ["urn:ietf:params:scim:api:messages:2.0:ListResponse"]);
    assert.deepEqual([body.totalResults, body.startIndex, body.itemsPerPage], [1, 1, 1]);
    assert.deepEqual(body.Resources, [(await scim.users("GET", `/${ada}`)).body]);
  });

  test("a SCIM filter finds the same users in the database as in memory", async () => {
    const resources = (await scim.list({})).body.Resources as Record<string, any>[];
    const text = fc.constantFrom(
      "ada",
      "ADA@acme.example",
      "home",
      "work",
      "a",
      "é",
      "O'Neil",
      "bi",
      "",
      "zoë",
    );
    const attribute = fc.constantFrom(
      "userName",
      "externalId",
      "displayName",
      "name.givenName",
      "name.familyName",
      "department",
      "emails",
      "emails.value",
      "emails.type",
      "title",
      "permissions.companyPermissions",
    );
    const op = fc.constantFrom("eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le");
    const compare = (name: fc.Arbitrary<string>) =>
      fc.oneof(
        fc.tuple(name, op, text).map(([left, o, right]) => `${left} ${o} ${JSON.stringify(right)}`),
        name.map((left) => `${left} pr`),
        fc.tuple(name, fc.constantFrom("eq", "ne")).map(([left, o]) => `${left} ${o} null`),
      );
    const { filter } = fc.letrec<{ filter: string }>((tie) => ({
      filter: fc.oneof(
        { maxDepth: 3 },
        compare(attribute),
        compare(fc.constantFrom("value", "type", "display")).map((inner) => `emails[${inner}]`),
        fc
          .tuple(tie("filter"), fc.constantFrom("and", "or"), tie("filter"))
          .map((parts) => `(${parts.join(" ")})`),
        tie("filter").map((inner) => `not (${inner})`),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(filter, async (any) => {
        const condition = conditionOf(parseFilter(any), RESOURCE_ATTRIBUTES);
        const expected = resources
          .filter((each) =>
            matches(condition, searchable(RESOURCE_ATTRIBUTES, each), startWork(Infinity)),
          )
          .map(({ id }) => everybody[id]);
        assert.equal(await found(any), expected.join(" "));
      }),
      { numRuns: 80 },
    );
  });
});

describe("GET /scim/v2/Users, paginated", () => {
  test("SCIM pages of any size show every user once in the order of creation", async () => {
    const tag = "page";
    const made: string[] = [];
    for (let index = 0; index < 23; index++) {
      made.push((await scim.user({ displayName: `${tag}${index}` })).id);
    }
    for (const count of [1, 4, 10, 23, 100]) {
      const seen: string[] = [];
      for (let startIndex = 1; startIndex <= 23; startIndex += count) {
        const query = {
          filter: `displayName sw "${tag}"`,
          count: `${count}`,
          startIndex: `${startIndex}`,
        };
        const { body } = await scim.list(query);
        assert.equal(body.totalResults, 23);
        assert.equal(body.startIndex, startIndex);
        assert.equal(body.itemsPerPage, body.Resources.length);
        assert.ok(body.Resources.length <= count);
        seen.push(...body.Resources.map(({ id }: { id: string }) => id));
      }
      assert.deepEqual(seen, made, `${count} a page`);
    }
  });

  test("startIndex below 1 is read as 1, a negative count as 0, and a page past the end is empty", async () => {
    const first = (await scim.list({ count: "1" })).body;
    assert.equal(first.Resources[0].id, ada);
    for (const startIndex of ["0", "-5"]) {
      assert.deepEqual((await scim.list({ count: "1", startIndex })).body, first);
    }
    for (const query of [
      { count: "0" },
      { count: "-1" },
      { startIndex: "1000" },
      { startIndex: "99999999999999999999" },
    ]) {
      const { body } = await scim.list(query);
      assert.deepEqual(
        [body.totalResults, body.itemsPerPage, body.Resources],
        [first.totalResults, 0, []],
      );
    }
    for (const query of [{ count: "x" }, { startIndex: "1.5" }]) {
      assertRefused(await scim.list(query), 400, "invalidValue");
    }
  });

  test("a SCIM list shows 100 users by default, and the published maximum is 1,000", async () => {
    for (let index = 0; index < 10; index++) {
      await Promise.all(Array.from({ length: 10 }, () => scim.users("POST", "", newUser())));
    }
    const { body } = await scim.list({});
    assert.ok(body.totalResults > 100);
    assert.equal(body.itemsPerPage, 100);
    assert.equal((await scim.list({ count: "1000000" })).body.itemsPerPage, body.totalResults);
    const config = (await scim.call("GET", "/scim/v2/ServiceProviderConfig")).body;
    assert.equal(config.filter.maxResults, 1_000);
    // Copies of a user: a thousand requests would say no more.
    await server.database.query(
      `insert into dashboard_users (company_id, user_id, user_name_key, attributes, searchable, created_at, updated_at)
       select company_id, gen_random_uuid(), 'copy-' || n, attributes, searchable, created_at, updated_at
       from (select * from dashboard_users limit 1) one, generate_series(1, 1000) n`,
    );
    const most = (await scim.list({ count: "1000000", attributes: "id" })).body;
    assert.ok(most.totalResults > 1_000);
    assert.equal(most.itemsPerPage, 1_000);
  });

  test("a SCIM list contains only the requested attributes", async () => {
    const { body } = await scim.list({ filter: `id eq "${ada}"`, attributes: "userName" });
    assert.deepEqual(body.Resources, [
      { schemas: [USER_SCHEMA], id: ada, userName: "ada@acme.example" },
    ]);
  });
});
