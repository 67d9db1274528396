/* Who has a role whose name is used again, or whose permissions change. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { addColleague } from "../colleagues.ts";
import { startOwnServer } from "../harness.ts";

const server = await startOwnServer();
await server.admin("PUT", "/admin/v1/workspaces/demo", {});

const ROLES = "/admin/v1/permission-sets";

describe("a role that was removed gives nothing to those who had it when its name is used again", () => {
  const remakes: [string, (name: string) => Promise<{ status: number }>][] = [
    ["by PUT", (name) => server.admin("PUT", `${ROLES}/${name}`, { permissions: ["admin"] })],
    [
      "by a manifest",
      (name) =>
        server.admin("POST", "/admin/v1/apply", {
          company: { name: "Test", permission_sets: [{ name, permissions: ["admin"] }] },
          workspaces: [],
        }),
    ],
  ];
  for (const [index, [how, remake]] of remakes.entries()) {
    test(how, async () => {
      const [name, kept] = [`support-${index}`, `kept-${index}`];
      for (const each of [name, kept]) {
        await server.admin("PUT", `${ROLES}/${each}`, { permissions: ["basic_access"] });
      }
      const permissions = {
        companyPermissions: [],
        appGroup: [
          {
            appGroupName: "demo",
            appGroupPermissions: ["view_pii"],
            appGroupPermissionSets: [name, kept, "viewer"].map((each) => ({
              appGroupPermissionSetName: each,
            })),
          },
        ],
      };
      const { id } = await addColleague(server);
      const path = `/admin/v1/dashboard-users/${id}`;
      assert.equal((await server.admin("PATCH", path, { permissions })).status, 200);
      await server.admin("PUT", "/admin/v1/scim-defaults", { permissions });
      await server.admin("DELETE", `${ROLES}/${name}`);
      assert.equal((await remake(name)).status, 200);

      const { body } = await server.admin("GET", path);
      const [group] = body.person.permissions.appGroup;
      const left = [kept, "viewer"].map((each) => ({ appGroupPermissionSetName: each }));
      assert.deepEqual(group.appGroupPermissionSets, left);
      assert.deepEqual(group.appGroupPermissions, ["view_pii"]);
      const defaults = JSON.stringify((await server.admin("GET", "/admin/v1/scim-defaults")).body);
      assert.ok(defaults.includes(kept) && !defaults.includes(name), defaults);
    });
  }
});

test("a role that changes stays with those who have it", async () => {
  await server.admin("PUT", `${ROLES}/changing`, { permissions: ["basic_access"] });
  const { id } = await addColleague(server, { roles: { demo: "changing" } });
  await server.admin("PUT", `${ROLES}/changing`, { permissions: ["view_pii"] });
  await server.admin("POST", "/admin/v1/apply", {
    company: {
      name: "Test",
      permission_sets: [{ name: "changing", permissions: ["view_usage_data"] }],
    },
    workspaces: [],
  });
  const { body } = await server.admin("GET", `/admin/v1/dashboard-users/${id}`);
  const [group] = body.person.permissions.appGroup;
  assert.deepEqual(group.appGroupPermissionSets, [{ appGroupPermissionSetName: "changing" }]);
});

test("people with a ready role keep it when the company replaces it", async () => {
  const { id } = await addColleague(server, { roles: { demo: "viewer" } });
  await server.admin("PUT", `${ROLES}/viewer`, { permissions: ["view_pii"] });
  const { body } = await server.admin("GET", `/admin/v1/dashboard-users/${id}`);
  const [group] = body.person.permissions.appGroup;
  assert.deepEqual(group.appGroupPermissionSets, [{ appGroupPermissionSetName: "viewer" }]);
});
