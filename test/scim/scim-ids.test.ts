/* PATCH of SCIM users that names workspaces and teams by the ids in responses. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startOwnServer } from "../harness.ts";
import { assertRefused, declare, scimClient, WORKSPACE } from "../scim-client.ts";

const server = await startOwnServer();
const OTHER = { name: "other", teams: [{ name: "Green", id: "team-green" }] };
await declare(server, {}, [WORKSPACE, OTHER]);
const scim = scimClient(server);

const PATH = "permissions.appGroup";

const inBoth = () =>
  scim.user({
    emails: [{ value: "ada@acme.example", type: "work" }],
    permissions: {
      companyPermissions: ["manage_company_settings"],
      appGroup: [
        {
          appGroupName: "demo",
          appGroupPermissions: ["basic_access"],
          team: [{ teamName: "Red" }, { teamName: "Blue", teamPermissions: ["admin"] }],
          appGroupPermissionSets: [{ appGroupPermissionSetName: "Marketers" }],
        },
        { appGroupName: "other", appGroupPermissions: ["admin"], team: [{ teamName: "Green" }] },
      ],
    },
  });

const readAgain = async ({ id }: Record<string, any>) => (await scim.users("GET", `/${id}`)).body;

describe("a SCIM PATCH that names workspaces and teams by their ids", () => {
  const removals: [string, (demoId: string) => Record<string, unknown>, kept: string][] = [
    ["a filter", (id) => ({ path: `${PATH}[appGroupId eq "${id}"]` }), "other"],
    ["a filter for all others", (id) => ({ path: `${PATH}[appGroupId ne "${id}"]` }), "demo"],
    ["a list of values", (id) => ({ path: PATH, value: [{ appGroupId: id }] }), "other"],
    ["one value", (id) => ({ path: PATH, value: { appgroupid: id } }), "other"],
    [
      "a value with the name as well",
      (id) => ({ path: PATH, value: [{ appGroupId: id, appGroupName: "demo" }] }),
      "other",
    ],
    ["a filter by a team", () => ({ path: `${PATH}[team.teamId eq "team-red"]` }), "other"],
  ];
  for (const [what, operation, kept] of removals) {
    test(`removes exactly the workspaces that ${what} means, and nothing else of the user`, async () => {
      const user = await inBoth();
      const [{ appGroupId }] = user.permissions.appGroup;
      const { status, body } = await scim.patch(user.id, {
        op: "remove",
        ...operation(appGroupId),
      });
      assert.equal(status, 200, JSON.stringify(body));
      const appGroup = user.permissions.appGroup.filter((each: any) => each.appGroupName === kept);
      const { meta, ...rest } = body;
      const { meta: _, ...before } = user;
      assert.deepEqual(rest, { ...before, permissions: { ...user.permissions, appGroup } });
      assert.deepEqual(await readAgain(user), body);
    });
  }

  test("removes a workspace that is named by all its members, with the ids of its teams or without", async () => {
    for (const withIds of [true, false]) {
      const user = await inBoth();
      const [{ appGroupId, team, ...group }] = user.permissions.appGroup;
      const named = team.map(({ teamId, ...each }: any) => (withIds ? { teamId, ...each } : each));
      const value = [{ ...(withIds && { appGroupId }), ...group, team: named }];
      const { body } = await scim.patch(user.id, { op: "remove", path: PATH, value });
      assert.deepEqual(body.permissions.appGroup, user.permissions.appGroup.slice(1));
    }
  });

  test("removes a team by its id, and changes the permissions of the workspace with an id", async () => {
    const user = await inBoth();
    const [{ appGroupId }] = user.permissions.appGroup;
    const path = `${PATH}[appGroupId eq "${appGroupId}"]`;
    const { body } = await scim.patch(
      user.id,
      { op: "remove", path: `${path}.team[teamId eq "team-red"]` },
      { op: "replace", path: `${path}.appGroupPermissions`, value: ["view_pii"] },
    );
    const [group, other] = body.permissions.appGroup;
    assert.deepEqual(
      group.team.map((each: any) => each.teamName),
      ["Blue"],
    );
    assert.deepEqual(group.appGroupPermissions, ["view_pii"]);
    assert.deepEqual(other, user.permissions.appGroup[1]);
  });

  test("with an id of nothing that the user has changes nothing, not even the time of the last change", async () => {
    const user = await inBoth();
    for (const operation of [
      { path: `${PATH}[appGroupId eq "999999"]` },
      { path: PATH, value: [{ appGroupId: "999999" }] },
    ]) {
      const { body } = await scim.patch(user.id, { op: "remove", ...operation });
      assert.deepEqual(body, user);
    }
  });

  test("cannot change an id", async () => {
    const user = await inBoth();
    const path = `${PATH}[appGroupName eq "demo"].appGroupId`;
    assertRefused(
      await scim.patch(user.id, { op: "replace", path, value: "1" }),
      400,
      "mutability",
    );
    assert.deepEqual(await readAgain(user), user);
  });
});

describe("a SCIM PATCH that removes values without naming any is refused and removes nothing", () => {
  const cases: [string, Record<string, unknown>, RegExp][] = [
    ["an empty value", { path: PATH, value: [{}] }, /appGroup\[0\]' must name a value/],
    [
      "an empty value after another",
      { path: PATH, value: [{ appGroupName: "demo" }, {}] },
      /appGroup\[1\]' must name/,
    ],
    ["a member that is null", { path: PATH, value: { appGroupName: null } }, /must name a value/],
    [
      "a team that only has an id",
      { path: PATH, value: [{ team: [{ teamId: "team-red" }] }] },
      /must name a value/,
    ],
    ["members of emails that are unknown", { path: "emails", value: [{ x: 1 }] }, /emails\[0\]'/],
    ["an id without its name", { path: PATH, value: "3" }, /must be an object/],
  ];
  for (const [what, operation, detail] of cases) {
    test(what, async () => {
      const user = await inBoth();
      const answer = await scim.patch(user.id, { op: "remove", ...operation });
      assertRefused(answer, 400, "invalidValue", detail);
      assert.deepEqual(await readAgain(user), user);
    });
  }
});

test("a SCIM PATCH that removes one company permission by its name keeps the others", async () => {
  const user = await scim.user({
    permissions: { companyPermissions: ["manage_company_settings", "add_remove_app_groups"] },
  });
  const path = "permissions.companyPermissions";
  const { body } = await scim.patch(user.id, {
    op: "remove",
    path,
    value: "add_remove_app_groups",
  });
  assert.deepEqual(body.permissions.companyPermissions, ["manage_company_settings"]);
});
