import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startOwnServer } from "../harness.ts";
import {
  assertRefused,
  declare,
  newUser,
  PERMISSION_SETS,
  scimClient,
  TOKEN,
  WORKSPACE,
} from "../scim-client.ts";

const server = await startOwnServer();
const scim = scimClient(server);

const users = (token: string, origin = TOKEN.service_origin) =>
  server.send("GET", "/scim/v2/Users", undefined, {
    key: token,
    headers: { "x-request-origin": origin },
  });

describe("company.scim_tokens", () => {
  test("SCIM tokens of a manifest are created, changed and removed, and applying them again changes nothing", async () => {
    const named = { ...TOKEN, name: "named" };
    const first = await declare(server, { scim_tokens: [named] });
    assert.deepEqual(
      first.body.changes.filter((each: { kind: string }) => each.kind === "scim_token"),
      [{ action: "created", kind: "scim_token", workspace: "", name: "named" }],
    );
    assert.equal((await users(TOKEN.token)).status, 200);
    assert.deepEqual((await declare(server, { scim_tokens: [named] })).body.changes, []);

    const moved = { ...named, service_origin: "other.example" };
    await declare(server, { scim_tokens: [moved] });
    assert.equal((await users(TOKEN.token)).status, 403);
    assert.equal((await users(TOKEN.token, "other.example")).status, 200);

    await declare(server, { scim_tokens: undefined });
    assert.equal((await users(TOKEN.token, "other.example")).status, 200, "absent: left alone");
    await declare(server, { scim_tokens: [] });
    assert.equal((await users(TOKEN.token, "other.example")).status, 401);
  });

  test("a SCIM token of a manifest is never returned", async () => {
    const answer = await declare(server, { scim_tokens: [{ ...TOKEN, token: "very-secret" }] });
    assert.ok(!JSON.stringify(answer.body).includes("very-secret"));
  });

  describe("invalid SCIM tokens of a manifest are refused with the place, and nothing is applied", () => {
    const twice = [TOKEN, { ...TOKEN, name: "other" }];
    const cases: [string, unknown, number, RegExp][] = [
      ["no list", TOKEN, 400, /'company.scim_tokens' must be an array/],
      [
        "no service origin",
        [{ name: "a", token: "b" }],
        400,
        /'company.scim_tokens\[0\].service_origin'/,
      ],
      ["an unknown key", [{ ...TOKEN, origin: "x" }], 400, /unknown key: 'origin'/],
      [
        "a blank in the token",
        [{ ...TOKEN, token: "a b" }],
        400,
        /'company.scim_tokens\[0\].token'/,
      ],
      [
        "one name twice",
        [TOKEN, { ...TOKEN, token: "b" }],
        400,
        /'company.scim_tokens' has the name 'idp' twice/,
      ],
      ["one token twice", twice, 409, /The SCIM token '\w+' has a secret that is already in use/],
    ];
    for (const [what, scim_tokens, status, message] of cases) {
      test(what, async () => {
        const answer = await declare(server, { name: "Renamed", scim_tokens });
        assert.equal(answer.status, status);
        assert.match(answer.body.message, message);
        const again = await declare(server, { scim_tokens: undefined });
        assert.deepEqual(again.body.changes, [], "the company was not renamed");
      });
    }
  });
});

describe("workspaces[].teams and company.permission_sets", () => {
  const permissions = {
    appGroup: [
      {
        appGroupName: "demo",
        team: [{ teamName: "Red" }, { teamName: "Blue" }],
        appGroupPermissionSets: [{ appGroupPermissionSetName: "Marketers" }],
      },
    ],
  };
  const withTeams = (...teams: unknown[]) => [{ ...WORKSPACE, teams }];

  test("SCIM permissions can name the teams and permission sets of a manifest, and a team keeps its id", async () => {
    await declare(server);
    const user = await scim.user({ permissions });
    const [red, blue] = user.permissions.appGroup[0].team;
    assert.equal(red.teamId, "team-red");
    assert.match(blue.teamId, /^[0-9a-f-]{36}$/);
    assert.deepEqual((await declare(server)).body.changes, []);
    const again = await scim.user({ permissions });
    assert.deepEqual(again.permissions, user.permissions);
  });

  test("a removed team or permission set is removed from users and blocks no other change", async () => {
    await declare(server);
    const user = await scim.user({ permissions });
    const changes = await declare(server, { permission_sets: [] }, withTeams({ name: "Blue" }));
    assert.deepEqual(
      changes.body.changes.map(({ action, kind, name }: Record<string, string>) => [
        action,
        kind,
        name,
      ]),
      [
        ["removed", "team", "Red"],
        ["removed", "permission_set", "Marketers"],
      ],
    );
    const [group] = (await scim.users("GET", `/${user.id}`)).body.permissions.appGroup;
    assert.deepEqual(
      group.team.map((team: { teamName: string }) => team.teamName),
      ["Blue"],
    );
    assert.deepEqual(group.appGroupPermissionSets, []);
    const patched = await scim.patch(user.id, { op: "replace", path: "active", value: false });
    assert.equal(patched.body.active, false);
    assertRefused(await scim.users("POST", "", newUser({ permissions })), 400, "invalidValue");
  });

  describe("invalid teams and permission sets are refused with the place", () => {
    const cases: [string, Record<string, unknown>, unknown[], RegExp][] = [
      ["a team without a name", {}, withTeams({ id: "a" }), /'workspaces\[0\].teams\[0\].name'/],
      [
        "a team twice",
        {},
        withTeams({ name: "A" }, { name: "A" }),
        /teams' has the name 'A' twice/,
      ],
      [
        "an id twice",
        {},
        withTeams({ name: "A", id: "1" }, { name: "B", id: "1" }),
        /the id '1' twice/,
      ],
      [
        "an unknown permission in a set",
        { permission_sets: [{ name: "A", permissions: ["fly"] }] },
        [WORKSPACE],
        /'company.permission_sets\[0\].permissions\[0\]' must be one of/,
      ],
      [
        "a set twice",
        { permission_sets: [...PERMISSION_SETS, ...PERMISSION_SETS] },
        [WORKSPACE],
        /'company.permission_sets' has the name 'Marketers' twice/,
      ],
    ];
    for (const [what, company, workspaces, message] of cases) {
      test(what, async () => {
        const answer = await declare(server, company, workspaces);
        assert.equal(answer.status, 400);
        assert.match(answer.body.message, message);
      });
    }
  });
});

describe("company.scim_defaults", () => {
  const defaults = {
    department: "marketing",
    permissions: { appGroup: [{ appGroupName: "demo", team: [{ teamName: "Red" }] }] },
  };
  const { department: _, permissions: __, ...undecided } = newUser();
  const fresh = () => ({ ...undecided, userName: newUser().userName });

  test("SCIM defaults fill omitted fields of a POST, and a PUT that omits them keeps the user's values", async () => {
    const applied = await declare(server, { scim_defaults: defaults });
    assert.equal(applied.status, 200);
    assert.deepEqual((await declare(server, { scim_defaults: defaults })).body.changes, []);
    const created = await scim.users("POST", "", fresh());
    assert.equal(created.status, 201);
    assert.equal(created.body.department, "marketing");
    assert.equal(created.body.permissions.appGroup[0].team[0].teamId, "team-red");
    const given = await scim.user({ department: "bi", permissions: {} });
    const replaced = await scim.users("PUT", `/${given.id}`, undecided);
    assert.equal(replaced.status, 200);
    assert.equal(replaced.body.department, "bi", "what a PUT cannot say stays");
    assert.deepEqual(replaced.body.permissions, given.permissions);
  });

  test("each SCIM default applies on its own, and a field without a default is required", async () => {
    await declare(server, { scim_defaults: { department: "pm" } });
    const answer = await scim.users("POST", "", fresh());
    assertRefused(answer, 400, "invalidValue", "'permissions' is required");
    await declare(server, { scim_defaults: {} });
    const none = await scim.users("POST", "", fresh());
    assertRefused(none, 400, "invalidValue", "'department', 'permissions' are required");
  });

  test("an invalid value is refused even if there is a SCIM default", async () => {
    await declare(server, { scim_defaults: defaults });
    assertRefused(await scim.users("POST", "", newUser({ department: "x" })), 400, "invalidValue");
    await declare(server, { scim_defaults: {} });
  });

  describe("invalid SCIM defaults are refused with the rule", () => {
    const cases: [string, unknown, RegExp][] = [
      ["a list", [], /'company.scim_defaults' must be an object/],
      ["an unknown key", { name: {} }, /unknown key: 'name'/],
      [
        "an unknown department",
        { department: "x" },
        /'company.scim_defaults.department' must be one of/,
      ],
      [
        "an unknown workspace",
        { permissions: { appGroup: [{ appGroupName: "moon" }] } },
        /does not name a declared workspace/,
      ],
      ["an unknown permission", { permissions: { companyPermissions: ["fly"] } }, /must be one of/],
      ["an unknown member", { permissions: { roles: [] } }, /'permissions.roles' is not known/],
    ];
    for (const [what, scim_defaults, message] of cases) {
      test(what, async () => {
        const answer = await declare(server, { scim_defaults });
        assert.equal(answer.status, 400);
        assert.match(answer.body.message, message);
        assert.deepEqual(answer.body.path?.slice(0, 2), ["company", "scim_defaults"]);
      });
    }
  });
});
