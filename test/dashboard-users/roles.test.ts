/* Roles: the three that come with Rapport, those of the company, and the sentences about permissions. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  COMPANY_NOTES,
  READY_ROLES,
  WORKSPACE_NOTES,
  WORKSPACE_PERMISSIONS,
} from "../../src/core/base/context/dashboard-permissions.ts";
import { ENDPOINTS } from "../../src/server/assembled.ts";
import { addColleague, enter } from "../colleagues.ts";
import { startOwnServer } from "../harness.ts";

const server = await startOwnServer();
await server.admin("PUT", "/admin/v1/workspaces/demo", {});

const ROLES = "/admin/v1/permission-sets";

const heldWith = async (role: string): Promise<readonly string[]> => {
  const browser = await enter(server, await addColleague(server, { roles: { demo: role } }));
  const { body } = await browser.call("GET", "/dashboard/session");
  return body.permissions.workspaces.demo;
};

describe("roles", () => {
  test("viewer, marketer and developer are there without being declared, and give their permissions", async () => {
    const { body } = await server.admin("GET", ROLES);
    const ready = body.permission_sets.filter((each: any) => each.ready);
    assert.deepEqual(
      ready.map(({ name, declared }: any) => [name, declared]),
      [
        ["viewer", false],
        ["marketer", false],
        ["developer", false],
      ],
    );
    for (const [name, permissions] of Object.entries(READY_ROLES)) {
      assert.deepEqual([...(await heldWith(name))].sort(), [...permissions].sort());
    }
  });

  test("a role of the company replaces the ready one of its name, and its removal brings that back", async () => {
    const put = await server.admin("PUT", `${ROLES}/viewer`, { permissions: ["view_pii"] });
    assert.deepEqual([put.status, put.body.ready], [200, false]);
    assert.deepEqual(await heldWith("viewer"), ["view_pii"]);
    assert.equal((await server.admin("DELETE", `${ROLES}/viewer`)).status, 200);
    assert.deepEqual(await heldWith("viewer"), ["basic_access", "view_usage_data"]);
    const again = await server.admin("DELETE", `${ROLES}/viewer`);
    assert.equal(again.status, 409);
    assert.match(again.body.message, /comes with Rapport/);
  });

  test("a role that repeats permissions without end is refused by the name of the field", async () => {
    const permissions = Array(1_000).fill("view_pii");
    const { status, body } = await server.admin("PUT", `${ROLES}/endless`, { permissions });
    assert.equal(status, 400);
    assert.match(body.message, /'permissions'/);
  });

  test("a manifest names a ready role, and the exported manifest does not declare it", async () => {
    await addColleague(server, { roles: { demo: "developer" } });
    const { body } = await server.admin("GET", "/admin/v1/workspaces/demo/manifest");
    assert.deepEqual(body.manifest.company.permission_sets ?? [], []);
  });

  test("no ready role administers, changes keys, or removes users", () => {
    for (const permissions of Object.values(READY_ROLES)) {
      assert.ok(!permissions.includes("admin"));
      assert.ok(!permissions.includes("import_update_user_data"));
    }
  });

  test("exactly the permissions that an endpoint asks for have a sentence", () => {
    const asked = new Map<string, Set<string>>([
      ["workspace", new Set()],
      ["company", new Set()],
    ]);
    for (const { contract } of ENDPOINTS) {
      if (contract.access.by !== "administrator") continue;
      const kind = contract.access.of === "workspace" ? "workspace" : "company";
      for (const permission of contract.access.permissions) asked.get(kind)?.add(permission);
    }
    assert.deepEqual(
      Object.keys(WORKSPACE_NOTES).sort(),
      [...(asked.get("workspace") ?? [])].sort(),
    );
    assert.deepEqual(Object.keys(COMPANY_NOTES).sort(), [...(asked.get("company") ?? [])].sort());
    for (const name of Object.keys(WORKSPACE_NOTES)) {
      assert.ok((WORKSPACE_PERMISSIONS as readonly string[]).includes(name));
    }
  });
});
