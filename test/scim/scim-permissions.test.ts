import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  COMPANY_PERMISSIONS,
  TEAM_PERMISSIONS,
  WORKSPACE_PERMISSIONS,
} from "../../src/core/base/context/dashboard-permissions.ts";
import { DEPARTMENTS } from "../../src/features/dashboard-users/departments.ts";
import { startOwnServer } from "../harness.ts";
import { assertRefused, declare, newUser, scimClient } from "../scim-client.ts";

const server = await startOwnServer();
await declare(server);
const scim = scimClient(server);

describe("SCIM permissions", () => {
  const appGroup = (members: Record<string, unknown>) => ({
    permissions: { appGroup: [{ appGroupName: "demo", ...members }] },
  });

  test("SCIM permissions are stored and returned with the ids of workspace and team", async () => {
    const permissions = {
      companyPermissions: ["admin", "manage_company_settings"],
      appGroup: [
        {
          appGroupName: "demo",
          appGroupPermissions: ["basic_access", "send_campaigns_canvases", "export_user_data"],
          team: [{ teamName: "Red", teamPermissions: ["admin"] }],
          appGroupPermissionSets: [{ appGroupPermissionSetName: "Marketers" }],
        },
      ],
    };
    const user = await scim.user({ permissions });
    const [group] = user.permissions.appGroup;
    assert.equal(typeof group.appGroupId, "string");
    assert.deepEqual(user.permissions, {
      companyPermissions: ["admin", "manage_company_settings"],
      appGroup: [
        {
          appGroupId: group.appGroupId,
          ...permissions.appGroup[0],
          team: [{ teamId: "team-red", teamName: "Red", teamPermissions: ["admin"] }],
        },
      ],
    });
  });

  test("every documented SCIM permission and department is accepted", async () => {
    const permissions = {
      companyPermissions: [...COMPANY_PERMISSIONS],
      appGroup: [
        {
          appGroupName: "demo",
          appGroupPermissions: [...WORKSPACE_PERMISSIONS],
          team: [{ teamName: "Red", teamPermissions: [...TEAM_PERMISSIONS] }],
        },
      ],
    };
    for (const department of DEPARTMENTS) {
      const user = await scim.user({ department, permissions });
      assert.equal(user.department, department);
      assert.deepEqual(user.permissions.companyPermissions, COMPANY_PERMISSIONS);
      assert.deepEqual(user.permissions.appGroup[0].appGroupPermissions, WORKSPACE_PERMISSIONS);
      assert.deepEqual(user.permissions.appGroup[0].team[0].teamPermissions, TEAM_PERMISSIONS);
    }
    const counts = [DEPARTMENTS, COMPANY_PERMISSIONS, WORKSPACE_PERMISSIONS, TEAM_PERMISSIONS];
    assert.deepEqual(
      counts.map((names) => names.length),
      [7, 3, 25, 10],
    );
  });

  test("manage_company_settings, basic_access, send_campaigns_canvases, export_user_data and admin are stored", async () => {
    const names = ["basic_access", "send_campaigns_canvases", "export_user_data", "admin"];
    const companyPermissions = ["manage_company_settings", "admin"];
    const { permissions } = await scim.user({
      permissions: { companyPermissions, ...appGroup({ appGroupPermissions: names }).permissions },
    });
    assert.deepEqual(permissions.companyPermissions, companyPermissions);
    assert.deepEqual(permissions.appGroup[0].appGroupPermissions, names);
  });

  test("workspace and team ids in SCIM permissions of a request are ignored", async () => {
    const user = await scim.user(
      appGroup({ appGroupId: "mine", team: [{ teamId: "mine", teamName: "Red" }] }),
    );
    const [group] = user.permissions.appGroup;
    assert.notEqual(group.appGroupId, "mine");
    assert.equal(group.team[0].teamId, "team-red");
  });

  test("omitted lists of SCIM permissions are empty, and duplicates are stored once", async () => {
    const none = await scim.user({ permissions: {} });
    assert.deepEqual(none.permissions, { companyPermissions: [], appGroup: [] });
    const user = await scim.user(appGroup({ appGroupPermissions: ["admin", "admin"] }));
    const [{ appGroupId: _, ...group }] = user.permissions.appGroup;
    assert.deepEqual(group, {
      appGroupName: "demo",
      appGroupPermissions: ["admin"],
      team: [],
      appGroupPermissionSets: [],
    });
  });

  describe("invalid or unknown SCIM permissions are refused with invalidValue", () => {
    const company = (companyPermissions: unknown) => ({ permissions: { companyPermissions } });
    const cases: [string, Record<string, unknown>, RegExp][] = [
      ["permissions is an array", { permissions: [] }, /'permissions' must be an object/],
      ["an unknown member", { permissions: { roles: [] } }, /'permissions.roles' is not known/],
      ["company permissions as a string", company("admin"), /must be an array/],
      [
        "an unknown company permission",
        company(["fly"]),
        /companyPermissions\[0\]' must be one of/,
      ],
      ["a workspace permission for the company", company(["basic_access"]), /must be one of/],
      [
        "appGroup is an object",
        { permissions: { appGroup: {} } },
        /'permissions.appGroup' must be an array/,
      ],
      ["a company permission that is a number", company([1]), /Permissions\[0\]' must be a string/],
      ["a workspace as a string", { permissions: { appGroup: ["demo"] } }, /must be an object/],
      ["a name that is a number", appGroup({ appGroupName: 1 }), /appGroupName' must be a string/],
      [
        "workspace permissions as a string",
        appGroup({ appGroupPermissions: "admin" }),
        /appGroupPermissions' must be an array/,
      ],
      ["team as an object", appGroup({ team: { teamName: "Red" } }), /team' must be an array/],
      ["a team without a name", appGroup({ team: [{}] }), /teamName' is required/],
      [
        "the name of a team that is a number",
        appGroup({ team: [{ teamName: 1 }] }),
        /teamName' must be a string/,
      ],
      [
        "team permissions as a string",
        appGroup({ team: [{ teamName: "Red", teamPermissions: "admin" }] }),
        /teamPermissions' must be an array/,
      ],
      [
        "permission sets as an object",
        appGroup({ appGroupPermissionSets: {} }),
        /appGroupPermissionSets' must be an array/,
      ],
      [
        "the name of a permission set that is a number",
        appGroup({ appGroupPermissionSets: [{ appGroupPermissionSetName: 1 }] }),
        /appGroupPermissionSetName' must be a string/,
      ],
      ["no name of a workspace", appGroup({ appGroupName: null }), /appGroupName' is required/],
      [
        "an unknown workspace",
        appGroup({ appGroupName: "moon" }),
        /appGroup\[0\].appGroupName' does not name a/,
      ],
      [
        "an unknown workspace permission",
        appGroup({ appGroupPermissions: ["fly"] }),
        /must be one of/,
      ],
      [
        "an unknown team",
        appGroup({ team: [{ teamName: "Green" }] }),
        /team\[0\].teamName' does not name a declared team/,
      ],
      [
        "an unknown team permission",
        appGroup({ team: [{ teamName: "Red", teamPermissions: ["dev_console"] }] }),
        /teamPermissions\[0\]' must be one of/,
      ],
      [
        "an unknown permission set",
        appGroup({ appGroupPermissionSets: [{ appGroupPermissionSetName: "Kings" }] }),
        /appGroupPermissionSetName' does not name a declared permission set/,
      ],
      [
        "a team twice",
        appGroup({ team: [{ teamName: "Red" }, { teamName: "Red" }] }),
        /team\[1\].teamName' is given twice/,
      ],
      [
        "a workspace twice",
        { permissions: { appGroup: [{ appGroupName: "demo" }, { appGroupName: "demo" }] } },
        /appGroup\[1\].appGroupName' is given twice/,
      ],
    ];
    for (const [what, members, detail] of cases) {
      test(what, async () => {
        const answer = await scim.users("POST", "", newUser(members));
        assertRefused(answer, 400, "invalidValue", detail);
      });
    }
  });
});
