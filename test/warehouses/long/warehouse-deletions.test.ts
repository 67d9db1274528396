/*
 * Rows that name users to be deleted: who no longer exists afterwards, what the log and the audit
 * say, and that a row deletes once.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../harness.ts";
import { startIntegration, type TestIntegration } from "../../sync-runs.ts";
import { startWarehouse } from "../../warehouse.ts";

const server = await startServer();
const warehouse = await startWarehouse();

const AT = "'2026-01-01 12:00:00+00'";
const ALL_COLUMNS = `updated_at timestamptz, external_id text, alias_name text, alias_label text,
  braze_id text, email text, phone text`;

let tables = 0;

/** Makes a table of deletions, and an integration that reads it. */
async function startDeletions(columns = "updated_at timestamptz, external_id text") {
  const table = `t${++tables}`;
  await warehouse.run(`create table ${table} (${columns})`);
  const integration = await startIntegration(server, {
    type: "delete",
    warehouse: { type: "postgres", url: warehouse.url, table },
  });
  const add = (...rows: string[]) =>
    warehouse.run(rows.map((row) => `insert into ${table} values (${row});`).join(""));
  return { ...integration, table, add };
}

/** Which of some users are there, by external_id. */
const presentOf = async ({ workspace }: TestIntegration, ...external_ids: string[]) =>
  (await workspace.profiles({ external_ids })).map((user) => user.external_id).sort();

const makeUsers = async (workspace: TestWorkspace, ...users: object[]): Promise<void> => {
  const { status, body } = await workspace.track({ attributes: users });
  assert.deepEqual([status, body.errors, body.skipped], [201, undefined, undefined]);
};

const auditOf = async ({ workspace }: TestIntegration): Promise<any[]> =>
  (await server.admin("GET", `/admin/v1/workspaces/${workspace.name}/identity-audit`)).body.entries;

describe("deletion rows", () => {
  test("deletion rows delete the users that they name by any kind of identifier, and no others", async () => {
    const integration = await startDeletions(ALL_COLUMNS);
    const { workspace, add, syncWithLog } = integration;
    const alias = { alias_name: "a", alias_label: "crm" };
    await makeUsers(
      workspace,
      { external_id: "plain" },
      { external_id: "known" },
      { external_id: "mailed", email: "mailed@example.com" },
      { external_id: "both", email: "both@example.com" },
      { external_id: "called", phone: "+4915112345678" },
      { external_id: "kept", n: 1 },
      { user_alias: alias, _update_existing_only: false },
    );
    const known = await workspace.profile({ external_ids: ["known"] });
    await add(
      `${AT}, 'plain'`,
      `${AT}, null, 'a', 'crm'`,
      `${AT}, null, null, null, '${known.platform_id}'`,
      `${AT}, null, null, null, null, 'MAILED@example.com'`,
      // Of two addresses email names the person.
      `${AT}, null, null, null, null, 'both@example.com', '+4915100000000'`,
      `${AT}, null, null, null, null, null, '+4915112345678'`,
    );
    const { run, rows } = await syncWithLog();
    assert.deepEqual([run.job_status, run.rows_synced, run.rows_skipped], ["success", 6, 0]);
    assert.deepEqual(rows, []);
    const names = ["plain", "known", "mailed", "both", "called", "kept"];
    assert.deepEqual(await presentOf(integration, ...names), ["kept"]);
    assert.deepEqual(await workspace.profiles({ user_aliases: [alias] }), []);
  });

  test("a deletion row with an unknown user or a shared address deletes no user and is logged as skipped", async () => {
    const integration = await startDeletions(ALL_COLUMNS);
    const { workspace, add, syncWithLog } = integration;
    const email = "shared@example.com";
    await makeUsers(workspace, { external_id: "a", email }, { external_id: "b", email });
    await makeUsers(workspace, { external_id: "c" });
    await add(
      `${AT}, 'nobody'`,
      `${AT}, null, null, null, null, '${email}'`,
      `'2026-01-01 12:00:01+00', 'c'`,
      `'2026-01-01 12:00:02+00', 'c'`,
    );
    const { run, rows } = await syncWithLog();
    assert.deepEqual([run.job_status, run.rows_synced, run.rows_skipped], ["success", 4, 3]);
    assert.deepEqual(
      rows.map((row) => [row.outcome, row.field, Object.values(row.identity)[0]]).sort(),
      [
        ["skipped", "email", email],
        ["skipped", "external_id", "c"],
        ["skipped", "external_id", "nobody"],
      ],
    );
    assert.deepEqual(await presentOf(integration, "a", "b", "c"), ["a", "b"]);
  });

  test("a deletion row without exactly one valid identifier is logged as failed, and the others apply", async () => {
    const integration = await startDeletions(ALL_COLUMNS);
    await makeUsers(integration.workspace, { external_id: "a" }, { external_id: "b" });
    await integration.add(
      `${AT}`,
      `${AT}, 'b', null, null, null, 'b@example.com'`,
      `${AT}, null, 'half'`,
      `${AT}, null, null, null, null, null, 'no number'`,
      `${AT}, 'a'`,
    );
    const { run, rows } = await integration.syncWithLog();
    assert.deepEqual(
      [run.job_status, run.rows_synced, run.rows_failed_with_errors],
      ["partial", 1, 4],
    );
    assert.deepEqual(rows.map((row) => [row.outcome, row.field]).sort(), [
      ["failed", "external_id"],
      ["failed", "identifier"],
      ["failed", "phone"],
      ["failed", "user_alias.alias_label"],
    ]);
    assert.deepEqual(await presentOf(integration, "a", "b"), ["b"]);
  });

  test("a run ends as error if all of its deletion rows fail", async () => {
    const integration = await startDeletions();
    await integration.add(`${AT}, null`);
    const { run, rows } = await integration.syncWithLog();
    assert.deepEqual([run.job_status, rows[0]?.code], ["error", "MISSING_IDENTIFIER"]);
  });

  test("a deletion by a sync is recorded in the identity audit with the id of the run", async () => {
    const integration = await startDeletions();
    await makeUsers(integration.workspace, { external_id: "a" });
    await integration.add(`${AT}, 'a'`);
    const run = await integration.sync();
    const [entry, ...others] = await auditOf(integration);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [entry.action, entry.call, entry.key_name, entry.request_id],
      ["delete", "cdi.sync", null, run.run_id],
    );
  });
});

describe("a table of deletions", () => {
  test("a deletion table with a PAYLOAD column ends the run as config_error and deletes no user", async () => {
    const columns = "updated_at timestamptz, external_id text, payload text";
    const integration = await startDeletions(columns);
    await makeUsers(integration.workspace, { external_id: "a" });
    await integration.add(`${AT}, 'a', null`);
    const run = await integration.sync();
    assert.deepEqual([run.job_status, run.rows_read], ["config_error", 0]);
    assert.match(run.message ?? "", /must not have a column PAYLOAD/);
    assert.deepEqual(await presentOf(integration, "a"), ["a"]);
  });

  test("a processed deletion row does not delete a user who was created again since", async () => {
    const integration = await startDeletions();
    await makeUsers(integration.workspace, { external_id: "a" });
    await integration.add(`${AT}, 'a'`);
    await integration.sync();
    await makeUsers(integration.workspace, { external_id: "a" });
    assert.equal((await integration.sync()).rows_synced, 0);
    assert.deepEqual(await presentOf(integration, "a"), ["a"]);
    await integration.add(`${AT}, 'a'`);
    assert.equal((await integration.sync()).rows_synced, 1);
    assert.deepEqual(await presentOf(integration, "a"), []);
  });
});
