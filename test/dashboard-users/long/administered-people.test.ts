/* Dashboard users as administrators manage them through /admin/v1: who may do it, what is refused, and the effect on sessions. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { freePort } from "../../free-port.ts";
import { type Answer, startOwnServer } from "../../harness.ts";
import { declare, scimClient } from "../../scim-client.ts";
import { startProvider, visit } from "../identity-provider.ts";
import { continueSession, type SignedIn } from "../signed-in.ts";

const port = await freePort();
const provider = await startProvider(port);
const server = await startOwnServer({ port, oidc: provider.settings });
await declare(server);
const scim = scimClient(server);

const PATH = "/admin/v1/dashboard-users";

let made = 0;

const newPerson = (members: Record<string, unknown> = {}) => ({
  user_name: `person${++made}@acme.example`,
  given_name: "Grace",
  family_name: "Hopper",
  department: "engineering",
  ...members,
});

/** Creates a person, who must be accepted. */
async function create(members?: Record<string, unknown>): Promise<any> {
  const { status, body } = await server.admin("POST", PATH, newPerson(members));
  assert.equal(status, 201, JSON.stringify(body));
  return body.person;
}

async function signInAs(person: { readonly user_name: string }): Promise<SignedIn> {
  provider.signsIn({ email: person.user_name, email_verified: true });
  const { cookie } = await visit(server, "/dashboard/sign-in/oidc");
  return continueSession(server, cookie);
}

const isSignedIn = async ({ cookie }: SignedIn): Promise<boolean> => {
  const answer = await server.send("GET", "/dashboard/session", undefined, { headers: { cookie } });
  return answer.status === 200;
};

const refusal = ({ status, body }: Answer<any>) => [status, body.message];

const ADMIN = { companyPermissions: ["admin"], appGroup: [] };

const inDemo = (...appGroupPermissions: string[]) => ({
  companyPermissions: [],
  appGroup: [{ appGroupName: "demo", appGroupPermissions, team: [], appGroupPermissionSets: [] }],
});

describe("dashboard users that administrators manage", () => {
  test("a person who is created signs in with the identity provider and has the permissions that were given", async () => {
    const permissions = {
      companyPermissions: ["manage_company_settings"],
      appGroup: [
        {
          appGroupName: "demo",
          appGroupPermissions: ["dev_console"],
          team: [{ teamName: "Red", teamPermissions: ["basic_access"] }],
          appGroupPermissionSets: [{ appGroupPermissionSetName: "Marketers" }],
        },
      ],
    };
    const person = await create({ permissions, display_name: "Admiral Hopper" });
    assert.deepEqual(person.permissions, permissions);
    assert.deepEqual([person.from_scim, person.last_sign_in_at], [false, null]);
    const browser = await signInAs(person);
    const session = (await browser.call("GET", "/dashboard/session")).body;
    assert.equal(session.person.display_name, "Admiral Hopper");
    assert.deepEqual(session.permissions.company, ["manage_company_settings"]);
    assert.deepEqual([...session.permissions.workspaces.demo].sort(), [
      "basic_access",
      "dev_console",
    ]);
    const { body } = await server.admin("GET", `${PATH}/${person.id}`);
    assert.match(body.person.last_sign_in_at, /^\d{4}-/);
  });

  test("a resource can be sent back as it was read, and a change leaves omitted fields alone", async () => {
    const person = await create({ permissions: inDemo("dev_console") });
    const { id, given_name, family_name, display_name, department, active, permissions } = person;
    const same = await server.admin("PATCH", `${PATH}/${id}`, {
      given_name,
      family_name,
      display_name,
      department,
      active,
      permissions,
    });
    assert.deepEqual(same.body.person, person);
    const renamed = await server.admin("PATCH", `${PATH}/${id}`, { family_name: "Lovelace" });
    assert.deepEqual(
      { ...renamed.body.person, updated_at: person.updated_at },
      { ...person, family_name: "Lovelace" },
    );
  });

  test("people are found by a part of their name or address, ignoring case, page by page in order", async () => {
    const mark = `mark${Date.now()}`;
    const names = ["cy", "ann", "bob"].map((name) => `${mark}.${name}@acme.example`);
    for (const user_name of names) await create({ user_name });
    await create({ family_name: `O'${mark}`, user_name: `${mark}-by-name@acme.example` });
    const byName = await server.admin(
      "GET",
      `${PATH}?query=${encodeURIComponent(`grace o'${mark}`)}`,
    );
    assert.deepEqual(
      byName.body.people.map((each: any) => each.user_name),
      [`${mark}-by-name@acme.example`],
    );
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const query = new URLSearchParams({ query: `${mark.toUpperCase()}.`, limit: "2" });
      if (cursor) query.set("cursor", cursor);
      const { body } = await server.admin("GET", `${PATH}?${query}`);
      assert.ok(body.people.length <= 2);
      found.push(...body.people.map((each: any) => each.user_name));
      cursor = body.next_cursor;
    } while (cursor);
    assert.deepEqual(found, names.sort());
    const wildcard = await server.admin("GET", `${PATH}?query=%25`);
    assert.deepEqual(wildcard.body.people, []);
  });

  test("a person from SCIM is marked, also when a provider takes over a person who was created here", async () => {
    const theirs = await scim.user();
    assert.equal((await server.admin("GET", `${PATH}/${theirs.id}`)).body.person.from_scim, true);
    const ours = await create();
    await scim.patch(ours.id, { op: "replace", path: "externalId", value: "00u1" });
    assert.equal((await server.admin("GET", `${PATH}/${ours.id}`)).body.person.from_scim, true);
    const changed = await server.admin("PATCH", `${PATH}/${ours.id}`, { given_name: "Ada" });
    assert.equal(changed.body.person.from_scim, true);
    assert.equal((await scim.users("GET", `/${ours.id}`)).body.externalId, "00u1");
  });

  test("a permission that is taken away is refused with the next request of the same session", async () => {
    const person = await create({ permissions: inDemo("dev_console") });
    const browser = await signInAs(person);
    const requests = "/admin/v1/workspaces/demo/api-keys";
    assert.equal((await browser.call("GET", requests)).status, 200);
    await server.admin("PATCH", `${PATH}/${person.id}`, { permissions: inDemo() });
    const answer = await browser.call("GET", requests);
    assert.match(answer.body.message, /lack the permission dev_console/);
  });

  test("deactivating, removing and signing out a person end their sessions at once, and a reactivated one signs in again", async () => {
    const person = await create({ permissions: inDemo("basic_access") });
    const one = `${PATH}/${person.id}`;
    const [first, second] = [await signInAs(person), await signInAs(person)];
    const signedOut = await server.admin("DELETE", `${one}/sessions`);
    assert.deepEqual([signedOut.status, signedOut.body.sessions], [200, 2]);
    assert.deepEqual([await isSignedIn(first), await isSignedIn(second)], [false, false]);
    const third = await signInAs(person);
    await server.admin("PATCH", one, { active: false });
    assert.equal(await isSignedIn(third), false);
    await server.admin("PATCH", one, { active: true });
    assert.equal(await isSignedIn(third), false);
    const fourth = await signInAs(person);
    assert.equal((await server.admin("DELETE", one)).status, 200);
    assert.equal(await isSignedIn(fourth), false);
    assert.deepEqual(refusal(await server.admin("DELETE", one)), [404, "User not found"]);
  });

  test("a person who may see dashboard users but is no administrator cannot give rights, not even to themselves", async () => {
    const person = await create({
      permissions: { ...inDemo("admin"), companyPermissions: ["manage_company_settings"] },
    });
    const browser = await signInAs(person);
    const one = `${PATH}/${person.id}`;
    assert.equal((await browser.call("GET", PATH)).status, 200);
    assert.equal((await browser.call("GET", one)).status, 200);
    for (const [method, path, body] of [
      ["PATCH", one, { permissions: ADMIN }],
      ["POST", PATH, newPerson({ permissions: ADMIN })],
      ["DELETE", one, undefined],
      ["DELETE", `${one}/sessions`, undefined],
    ] as const) {
      const expected = [403, "You lack the permission admin of the company."];
      assert.deepEqual(refusal(await browser.call(method, path, body)), expected, method + path);
    }
    const { body } = await server.admin("GET", one);
    assert.deepEqual(body.person, { ...person, last_sign_in_at: body.person.last_sign_in_at });
  });

  test("the audit names the person who changed another one and what the other might do, but not the other's own names", async () => {
    const chief = await create({ permissions: ADMIN });
    const browser = await signInAs(chief);
    const answer = await browser.call("POST", PATH, newPerson({ family_name: "Secretname" }));
    const { id, user_name } = answer.body.person;
    await browser.call("PATCH", `${PATH}/${id}`, { active: false, given_name: "Hidden" });
    await browser.call("DELETE", `${PATH}/${id}/sessions`);
    await browser.call("DELETE", `${PATH}/${id}`);
    const { body } = await server.admin("GET", `/admin/v1/audit?name=${id}`);
    assert.deepEqual(
      body.entries.map((each: any) => [each.action, each.kind, each.actor_name, each.details]),
      [
        ["removed", "dashboard_user", chief.user_name, { user_name }],
        ["ended", "dashboard_session", chief.user_name, { sessions: 0, user_name }],
        [
          "updated",
          "dashboard_user",
          chief.user_name,
          {
            user_name,
            changed: ["active", "name"],
            before: { active: true },
            after: { active: false },
          },
        ],
        ["created", "dashboard_user", chief.user_name, { user_name }],
      ],
    );
    assert.doesNotMatch(JSON.stringify(body), /Secretname|Hidden/);
    await server.admin("PATCH", `${PATH}/${chief.id}`, { permissions: inDemo() });
  });
});

describe("the last administrator among dashboard users", () => {
  const LAST = "This is the last active user with the company's admin permission";

  /** Only these have the company's admin. */
  async function onlyAdministrators(count: number): Promise<any[]> {
    const chosen: any[] = [];
    for (let each = 0; each < count; each += 1) chosen.push(await create({ permissions: ADMIN }));
    const { body } = await server.admin("GET", `${PATH}?limit=100`);
    assert.equal(body.next_cursor, undefined);
    for (const { id, permissions } of body.people) {
      if (chosen.some((each) => each.id === id)) continue;
      if (!permissions.companyPermissions.includes("admin")) continue;
      await server.admin("PATCH", `${PATH}/${id}`, { permissions: inDemo() });
    }
    return chosen;
  }

  test("the last administrator can be neither demoted, deactivated nor removed, by themselves or by others", async () => {
    const [last] = await onlyAdministrators(1);
    const one = `${PATH}/${last.id}`;
    await create({ permissions: ADMIN, active: false });
    const browser = await signInAs(last);
    for (const by of [browser.call, server.admin] as const) {
      for (const [method, body] of [
        ["PATCH", { permissions: inDemo("admin") }],
        ["PATCH", { active: false }],
        ["DELETE", undefined],
      ] as const) {
        const answer = await by(method, one, body);
        assert.equal(answer.status, 409);
        assert.ok(answer.body.message.startsWith(LAST), answer.body.message);
      }
    }
    assert.equal(await isSignedIn(browser), true);
    assert.equal((await browser.call("PATCH", one, { given_name: "Ada" })).status, 200);
  });

  test("if two administrators demote each other at once, one stays", async () => {
    for (let round = 0; round < 5; round += 1) {
      const [ada, bob] = await onlyAdministrators(2);
      const demote = (id: string) =>
        server.admin("PATCH", `${PATH}/${id}`, { permissions: inDemo() });
      const answers = await Promise.all([demote(ada.id), demote(bob.id)]);
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
    }
  });

  test("an identity provider may deactivate the last administrator, whose sessions end", async () => {
    const [last] = await onlyAdministrators(1);
    const browser = await signInAs(last);
    const answer = await scim.patch(last.id, { op: "replace", path: "active", value: false });
    assert.equal(answer.status, 200);
    assert.equal(await isSignedIn(browser), false);
  });
});

describe("refusals about dashboard users", () => {
  test("an address that is taken is a conflict, ignoring case", async () => {
    const { user_name } = await create();
    const again = await server.admin(
      "POST",
      PATH,
      newPerson({ user_name: user_name.toUpperCase() }),
    );
    assert.equal(again.status, 409);
    assert.match(again.body.message, /There is a dashboard user/);
  });

  const WRONG: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
    ["an address that is none", { user_name: "grace" }, /'user_name' must be an email address/],
    ["a missing department", { department: undefined }, /'department' is required/],
    ["an unknown department", { department: "magic" }, /department/],
    ["a name that is no text", { given_name: 1 }, /given_name/],
    ["a NUL character", { family_name: "a\0b" }, /NUL/],
    ["an unknown member", { emails: [] }, /emails/],
    [
      "an unknown workspace",
      { permissions: { appGroup: [{ appGroupName: "nowhere" }] } },
      /'permissions.appGroup\[0\].appGroupName' does not name a declared workspace/,
    ],
    [
      "a workspace that is given twice",
      { permissions: { appGroup: [{ appGroupName: "demo" }, { appGroupName: "demo" }] } },
      /appGroup\[1\].appGroupName' is given twice/,
    ],
    [
      "an unknown team",
      { permissions: { appGroup: [{ appGroupName: "demo", team: [{ teamName: "Green" }] }] } },
      /does not name a declared team/,
    ],
    [
      "an unknown permission",
      { permissions: { companyPermissions: ["everything"] } },
      /companyPermissions/,
    ],
  ];
  for (const [what, members, message] of WRONG) {
    test(`a dashboard user with ${what} is refused with the field`, async () => {
      const { status, body } = await server.admin("POST", PATH, newPerson(members));
      assert.equal(status, 400, JSON.stringify(body));
      assert.match(JSON.stringify(body), message);
    });
  }

  test("a cursor that no page gave and an empty change are refused", async () => {
    const { id } = await create();
    for (const cursor of ["x=", "AA"]) {
      const answer = await server.admin("GET", `${PATH}?cursor=${cursor}`);
      assert.deepEqual(refusal(answer), [400, "Invalid cursor"]);
    }
    assert.equal((await server.admin("PATCH", `${PATH}/${id}`, {})).status, 400);
    assert.equal((await server.admin("PATCH", `${PATH}/none`, { active: true })).status, 400);
  });
});
