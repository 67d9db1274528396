/*
 * Requests of Okta's and Microsoft's published test collections, replayed line by line: once to a
 * company without defaults, where all attributes are required as in the specification, and once
 * with them. The lines are kept in test/fixtures/ as they were published.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import { startOwnServer } from "../../harness.ts";
import { declare, scimClient } from "../../scim-client.ts";

interface Recorded {
  /** The method, and the path. */
  readonly endpoint: string;
  /** With the collection's own variables: `{{lastUserId}}`. */
  readonly path: string;
  readonly body: Record<string, unknown> | null;
  readonly source: string;
}

const FINE = "200";
const MADE = "201";
/** Neither collection knows department and permissions, which the specification requires. */
const REQUIRED = "400 invalidValue: 'department', 'permissions' are required";
const NO_NAME = "400 invalidValue: 'userName', 'department', 'permissions' are required";
const NO_ADDRESS_GIVEN = "400 invalidValue: 'userName' is required";
/** The specification: userName is an email address. Microsoft's collection sends plain names. */
const NO_ADDRESS = "400 invalidValue: 'userName' must be an email address";
/** The specification: userName cannot be changed. A PUT passes it over, a PATCH asks for nothing else. */
const FIXED = "400 mutability: 'userName' cannot be changed";
const TAKEN = "409 uniqueness: User already exists in the database.";
const NOBODY = "404: User not found";

/** The verdicts, in the order of the lines: without and with defaults. */
const VERDICTS: readonly [name: string, without: string, withDefaults: string][] = [
  ["Test Users endpoint", FINE, FINE],
  ["Get Users/{{id}}", FINE, FINE],
  ["Test invalid User by username", FINE, FINE],
  ["Test invalid User by ID", NOBODY, NOBODY],
  ["Make sure random user doesn't exist", FINE, FINE],
  ["Create Okta user with realistic values", REQUIRED, MADE],
  ["Verify that user was created", FINE, FINE],
  ["Expect failure when recreating user with same values", REQUIRED, TAKEN],
  ["Username Case Sensitivity Check", FINE, FINE],
  ["Check status 404", NOBODY, NOBODY],
  ["Endpoint tests/Get empty Users", FINE, FINE],
  ["User tests/Post User", REQUIRED, NO_ADDRESS],
  ["User tests/Post EnterpriseUser", REQUIRED, NO_ADDRESS],
  ["User tests/Get user1", FINE, FINE],
  ["User tests/Get user2", FINE, FINE],
  ["User tests/Get User Attributes", FINE, FINE],
  ["User tests/Get User Filters", FINE, FINE],
  ["User tests/patch user1", FIXED, FIXED],
  ["User tests/User 2 replace test", REQUIRED, FINE],
  ["Group tests/create user for group 2", REQUIRED, NO_ADDRESS],
  ["Group tests/Create user 4 for group 2", REQUIRED, NO_ADDRESS],
  ["ComplexAttribute tests/create user1", REQUIRED, NO_ADDRESS],
  ["ComplexAttribute tests/create user2", REQUIRED, NO_ADDRESS],
  ["ComplexAttribute tests/Get user attributes", FINE, FINE],
  ["ComplexAttribute tests/Get user via attributes filter", FINE, FINE],
  ['User tests with garbage/Post user "OMalley"', REQUIRED, NO_ADDRESS],
  ['User tests with garbage/Post emp1 with string "True"', REQUIRED, NO_ADDRESS],
  ["User tests with garbage/Post emp2", REQUIRED, NO_ADDRESS],
  ["User tests with garbage/Post emp3", REQUIRED, NO_ADDRESS],
  ["User tests with garbage/Post no username", NO_NAME, NO_ADDRESS_GIVEN],
  ["User tests with garbage/Put a user no username", REQUIRED, FINE],
  ["User tests with garbage/Put a user misspelled attribute", REQUIRED, FINE],
  ["User tests with garbage/Post enterprise user", REQUIRED, NO_ADDRESS],
  ["User tests with garbage/Patch user omalley new username", FIXED, FIXED],
  ["User tests with garbage/patch user omalley active with boolean", FINE, FINE],
  ["User tests with garbage/get user1", FINE, FINE],
  ["User tests with garbage/Put a user OMalley", REQUIRED, FINE],
  ["User tests with garbage/Paginate", FINE, FINE],
  ["User tests with garbage/filter eq and (val or val)", FINE, FINE],
  ["User tests with garbage/filter starts with", FINE, FINE],
  ["User tests with garbage/filter greater than", FINE, FINE],
  ["Get all users", FINE, FINE],
  ["Test Connection", FINE, FINE],
  ["Create Employee", REQUIRED, MADE],
  ["Create Contractor with manager (last user)", REQUIRED, MADE],
  ["Create Employee with manager (last user)", REQUIRED, MADE],
  ["Create Employee (inactive)", REQUIRED, MADE],
  ["On Demand", FINE, FINE],
  ["FullSync (page 1)", FINE, FINE],
  ["FullSync (page 2)", FINE, FINE],
  ["Update User (lastname)", FINE, FINE],
  ["Update User (active)", FINE, FINE],
  ["Update User (manager)", FINE, FINE],
  ["DeltaSync", FINE, FINE],
  ["DeltaSync 2", FINE, FINE],
  ["Get User by ID", FINE, FINE],
];

const recorded: readonly Recorded[] = readFileSync(
  join(packageRoot(), "test/fixtures/scim-identity-providers.jsonl"),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

const server = await startOwnServer();
await declare(server);
const scim = scimClient(server);
const present = await scim.user({ name: { givenName: "Bob", familyName: "Employee" } });

let fresh = 0;

/** Replaces a collection's variables; ids name an existing user. */
const fill = (text: string): string =>
  text
    .replaceAll("{{UserIdThatDoesNotExist}}", "00000000-0000-7000-8000-000000000000")
    .replaceAll(/\{\{\w*id\w*\}\}/gi, present.id)
    .replaceAll(/\{\{(?:lastWatermark|currentTime)\}\}/g, "2100-01-01T00:00:00Z")
    .replaceAll("{{userName}}", () => `person${++fresh}@acme.example`);

async function verdictOn({ endpoint, path, body }: Recorded): Promise<string> {
  const [method] = endpoint.split(" ") as [string];
  const sent = body ? JSON.parse(fill(JSON.stringify(body))) : undefined;
  const { status, body: answer } = await scim.call(method, encodeURI(decodeURI(fill(path))), sent);
  if (status < 400) return String(status);
  return `${[status, answer.scimType].filter(Boolean).join(" ")}: ${answer.detail}`;
}

const total = async (): Promise<number> => (await scim.list({ count: "0" })).body.totalResults;

describe("the requests of the Okta and Microsoft test collections", () => {
  test("every request of the Okta and Microsoft test collections has an expected verdict", () => {
    assert.deepEqual(
      VERDICTS.map(([name]) => name),
      recorded.map(({ source }) =>
        source.split(/: Required Test: |collection\.json\//i)[1]?.trim(),
      ),
    );
  });

  test("without SCIM defaults, Okta and Microsoft requests get their expected verdicts and create no user", async () => {
    for (const [index, line] of recorded.entries()) {
      assert.equal(await verdictOn(line), VERDICTS[index]?.[1], line.source);
    }
    assert.equal(await total(), 1, "a refusal creates no user");
  });

  test("with SCIM defaults, Okta and Microsoft requests get their expected verdicts and create their users", async () => {
    const scim_defaults = { department: "marketing", permissions: {} };
    await declare(server, { scim_defaults });
    for (const [index, line] of recorded.entries()) {
      assert.equal(await verdictOn(line), VERDICTS[index]?.[2], line.source);
    }
    const made = VERDICTS.filter(([, , verdict]) => verdict === MADE).length;
    assert.equal(await total(), 1 + made);
  });

  test("a user of the Microsoft collection is stored with its emails and the default department and permissions", async () => {
    const { body } = await scim.list({ filter: 'userName sw "person" and active eq false' });
    assert.ok(body.totalResults > 0);
    const [employee] = body.Resources;
    assert.equal(employee.department, "marketing");
    assert.deepEqual(employee.permissions, { companyPermissions: [], appGroup: [] });
    assert.deepEqual(employee.emails[0], {
      value: "john@woodgrove.com",
      display: "john@woodgrove.com",
      type: "work",
      primary: true,
    });
  });
});
