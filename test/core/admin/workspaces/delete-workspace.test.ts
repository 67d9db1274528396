/* `DELETE /admin/v1/workspaces/{name}`: removes a workspace with everything in it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sweepDeletedWorkspaces } from "../../../../src/core/admin/workspaces/delete-workspace.ts";
import { lockForApply } from "../../../../src/core/admin/workspaces/store.ts";
import { readTables } from "../../../../src/core/database/backup/dump-database.ts";
import { addColleague } from "../../../colleagues.ts";
import { ENGINE, startOwnServer, type TestWorkspace, workspaceAt } from "../../../harness.ts";
import { until } from "../../../until.ts";

const server = await startOwnServer();

const ADA = { external_id: "ada", email: "ada@example.com", plan: "pro" };

const remove = (name: string) => server.admin("DELETE", `/admin/v1/workspaces/${name}`);

async function idOf({ name }: TestWorkspace): Promise<number> {
  const rows = await server.database.query<{ id: number }>(
    "select workspace_id as id from workspaces where name = $1",
    [name],
  );
  return rows[0]?.id ?? 0;
}

/** The tables that still have rows of a workspace. */
async function tablesWith(workspaceId: number): Promise<string[]> {
  const found: string[] = [];
  for (const { table, columns } of await readTables(server.database)) {
    if (table === "deleted_workspaces") continue;
    if (!columns.some(({ name }) => name === "workspace_id")) continue;
    const rows = await server.database.query(
      `select 1 from ${table} where workspace_id = $1 limit 1`,
      [workspaceId],
    );
    if (rows.length > 0) found.push(table);
  }
  return found;
}

/** Waits until this many transactions wait for a lock of the kind that a manifest takes. */
async function waiters(count: number): Promise<void> {
  await until(async () => {
    const rows = await server.database.query(
      `select 1 from pg_locks where locktype = 'advisory' and not granted
         and database = (select oid from pg_database where datname = current_database())`,
    );
    return rows.length === count;
  });
}

/** Declares a workspace as the harness does, with the name and the key of an earlier one. */
const declareAgain = ({ name, key }: TestWorkspace) =>
  server.admin("POST", "/admin/v1/apply", {
    company: { name: "Test" },
    workspaces: [{ name, api_keys: [{ name: "test", key, permissions: ["all"] }] }],
  });

describe("the deletion of a workspace", () => {
  test("a workspace that allows a reset is deleted with its users; its key and its paths are refused at once", async () => {
    const [workspace, other] = [await server.workspace(), await server.workspace()];
    for (const each of [workspace, other]) await each.track({ attributes: [ADA] });
    const id = await idOf(workspace);
    const answer = await remove(workspace.name);
    assert.deepEqual([answer.status, answer.body], [200, { message: "success" }]);
    assert.equal((await workspace.track({ attributes: [ADA] })).status, 401);
    assert.equal((await server.admin("GET", `/admin/v1/workspaces/${workspace.name}`)).status, 404);
    assert.equal((await remove(workspace.name)).status, 404);
    assert.deepEqual(await tablesWith(id), []);
    assert.equal((await other.profiles({ external_ids: ["ada"] })).length, 1);
  });

  test("a workspace with the name and the key of a deleted one starts empty, under an id that was never used", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [ADA] });
    const id = await idOf(workspace);
    await remove(workspace.name);
    assert.equal((await declareAgain(workspace)).status, 200);
    assert.ok((await idOf(workspace)) > id);
    assert.deepEqual(await workspace.profiles({ external_ids: ["ada"] }), []);
    assert.equal((await workspace.track({ attributes: [ADA] })).status, 201);
  });

  test("an empty workspace is deleted without allow_reset; one with a user or an address is refused with 409", async () => {
    const empty = await server.workspace({ allow_reset: false });
    assert.equal((await remove(empty.name)).status, 200);

    const used = await server.workspace({ allow_reset: false });
    await used.track({ attributes: [ADA] });
    const refused = await remove(used.name);
    assert.deepEqual(
      [refused.status, refused.body.message],
      [
        409,
        `The workspace '${used.name}' has users, and cannot be deleted without allow_reset: true.`,
      ],
    );
    assert.equal((await used.profiles({ external_ids: ["ada"] })).length, 1);

    const withAddress = await server.workspace({ allow_reset: false });
    await withAddress.call("POST", "/email/status", {
      email: "gone@example.com",
      subscription_state: "unsubscribed",
    });
    assert.equal((await remove(withAddress.name)).status, 409);
  });

  test("nobody keeps permissions in a deleted workspace for a later one with its name", async () => {
    const [workspace, other] = [await server.workspace(), await server.workspace()];
    const permissions = {
      companyPermissions: ["manage_company_settings"],
      appGroup: [workspace, other].map(({ name }) => ({
        appGroupName: name,
        appGroupPermissions: ["basic_access"],
      })),
    };
    const made = await server.admin("POST", "/admin/v1/dashboard-users", {
      user_name: "ada@example.com",
      given_name: "Ada",
      family_name: "Lovelace",
      department: "engineering",
      permissions,
    });
    assert.ok(made.status < 300, JSON.stringify(made.body));
    await server.admin("PUT", "/admin/v1/scim-defaults", { permissions });
    const root = { type: "files", root: "/srv/drops", workspaces: [workspace.name, other.name] };
    await server.admin("PUT", "/admin/v1/connections/drops", root);

    await remove(workspace.name);
    await declareAgain(workspace);
    const users = await server.admin("GET", "/admin/v1/dashboard-users");
    const defaults = await server.admin("GET", "/admin/v1/scim-defaults");
    const connection = await server.admin("GET", "/admin/v1/connections/drops");
    for (const { body } of [users, defaults, connection]) {
      assert.ok(JSON.stringify(body).includes(other.name), JSON.stringify(body));
      assert.ok(!JSON.stringify(body).includes(workspace.name), JSON.stringify(body));
    }
  });

  test("permissions in a workspace that were stored after its deletion are not those of a later one with its name", async () => {
    const [workspace, other] = [await server.workspace(), await server.workspace()];
    const { id } = await addColleague(server);
    const permissions = {
      companyPermissions: [],
      appGroup: [workspace, other].map(({ name }) => ({
        appGroupName: name,
        appGroupPermissions: ["admin"],
      })),
    };
    const given = await server.admin("PATCH", `/admin/v1/dashboard-users/${id}`, { permissions });
    assert.equal(given.status, 200);
    const [stored] = await server.database.query<{ attributes: string; searchable: string }>(
      "select attributes::text, searchable::text from dashboard_users where user_id = $1",
      [id],
    );
    await remove(workspace.name);
    // As a request over SCIM does that checked the name before the deletion committed.
    await server.database.query(
      `update dashboard_users set attributes = $2::text::json, searchable = $3::text::jsonb
       where user_id = $1`,
      [id, stored?.attributes, stored?.searchable],
    );
    await declareAgain(workspace);
    const { body: after } = await server.admin("GET", `/admin/v1/dashboard-users/${id}`);
    assert.deepEqual(
      after.person.permissions.appGroup.map((each: any) => each.appGroupName),
      [other.name],
    );
  });

  test("a change of a dashboard user that commits while a workspace is deleted stays", {
    skip: ENGINE === "embedded" ? "An embedded database runs one transaction at a time." : false,
  }, async () => {
    const workspace = await server.workspace();
    const appGroup = [{ appGroupName: workspace.name, appGroupPermissions: ["basic_access"] }];
    const { body } = await server.admin("POST", "/admin/v1/dashboard-users", {
      user_name: "grace@example.com",
      given_name: "Grace",
      family_name: "Hopper",
      department: "engineering",
      permissions: { companyPermissions: ["admin"], appGroup },
    });
    let deletion: Promise<{ status: number }> | undefined;
    await server.database.transaction(async (tx) => {
      await tx.query(
        `update dashboard_users set attributes = (jsonb_set(attributes::jsonb, '{permissions,companyPermissions}', '[]'))::json
         where user_id = $1`,
        [body.person.id],
      );
      deletion = remove(workspace.name);
      await until(async () => {
        const rows = await server.database.query(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return rows.length > 0;
      });
    });
    assert.equal((await deletion)?.status, 200);
    const after = await server.admin("GET", `/admin/v1/dashboard-users/${body.person.id}`);
    assert.deepEqual(
      after.body.person?.permissions.companyPermissions,
      [],
      JSON.stringify(after.body),
    );
    assert.ok(!JSON.stringify(after.body).includes(workspace.name));
  });

  test("what other requests write while a workspace is deleted is removed by the sweep, and none of them fails", async () => {
    const workspace = await server.workspace();
    const id = await idOf(workspace);
    const outcomes = await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        if (index === 8) return (await remove(workspace.name)).status;
        if (index % 2 === 0) {
          return (await workspace.track({ attributes: [{ ...ADA, external_id: `u${index}` }] }))
            .status;
        }
        const path = `/admin/v1/workspaces/${workspace.name}/apps/app-${index}`;
        return (await server.admin("PUT", path, { name: `App ${index}`, platform: "web" })).status;
      }),
    );
    assert.ok(
      outcomes.every((status) => [200, 201, 401, 404].includes(status)),
      String(outcomes),
    );
    // Changes by administrators that waited were refused.
    assert.ok(!(await tablesWith(id)).includes("apps"));
    // As from a server that still took the key to be valid.
    await server.database.query(
      "insert into catalogue_days (workspace_id, kind, name, day, seen) values ($1, 'event', 'late', current_date, 1)",
      [id],
    );
    await sweepDeletedWorkspaces(server.database, new Date());
    assert.ok((await tablesWith(id)).includes("catalogue_days"));
    await sweepDeletedWorkspaces(server.database, new Date(Date.now() + 2 * 3_600_000));
    assert.deepEqual(await tablesWith(id), []);
  });

  test("a change by an administrator that waited for the deletion of its workspace is refused with 404", {
    skip: ENGINE === "embedded" ? "An embedded database runs one transaction at a time." : false,
  }, async () => {
    const workspace = await server.workspace();
    const id = await idOf(workspace);
    let waiting: Promise<number[]> | undefined;
    await server.database.transaction(async (tx) => {
      await lockForApply(tx);
      const deletion = remove(workspace.name);
      await waiters(1);
      const path = `/admin/v1/workspaces/${workspace.name}/apps/late`;
      const change = server.admin("PUT", path, { name: "Late", platform: "web" });
      await waiters(2);
      waiting = Promise.all([deletion, change]).then((all) => all.map(({ status }) => status));
    });
    assert.deepEqual(await waiting, [200, 404]);
    assert.deepEqual(await tablesWith(id), []);
  });

  test("the audit says who deleted a workspace, and keeps its history", async () => {
    const workspace = await server.workspace();
    await remove(workspace.name);
    const { body } = await server.admin("GET", `/admin/v1/audit?workspace=${workspace.name}`);
    const all = body.entries.map(({ action, kind, name }: any) => [action, kind, name].join(" "));
    assert.ok(all.includes(`removed workspace ${workspace.name}`), all.join(", "));
    assert.ok(all.includes(`created workspace ${workspace.name}`), all.join(", "));
  });

  test("the keys of a deleted workspace stop working on every server", {
    skip: ENGINE === "embedded" ? "An embedded database has one server." : false,
  }, async () => {
    const { databaseUrl } = server.config;
    const second = await startOwnServer({ databaseUrl });
    const workspace = await server.workspace();
    const there = workspaceAt(second.url, workspace);
    assert.equal((await there.track({ attributes: [ADA] })).status, 201);
    await remove(workspace.name);
    await until(async () => (await there.track({ attributes: [ADA] })).status === 401);
  });
});
