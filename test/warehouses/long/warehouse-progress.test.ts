/*
 * How a sync resumes where the last one ended: nothing twice, nothing missed, and a fresh start if
 * the rows are different.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../../harness.ts";
import { startIntegration, type TestIntegration } from "../../sync-runs.ts";
import { silentWarehouse, startWarehouse } from "../../warehouse.ts";

const server = await startServer();
const warehouse = await startWarehouse();

let tables = 0;

async function startEvents(declared: object = {}) {
  const table = `t${++tables}`;
  await warehouse.run(
    `create table ${table} (updated_at timestamptz, external_id text, payload text)`,
  );
  const integration = await startIntegration(server, {
    type: "events",
    warehouse: { type: "postgres", url: warehouse.url, table },
    ...declared,
  });
  const add = (time: string, ...names: string[]) =>
    warehouse.run(
      names
        .map((name) => `insert into ${table} values ('${time}', 'ada', '{"name":"${name}"}');`)
        .join(""),
    );
  return { ...integration, table, add };
}

/** How often each event of Ada's happened. */
async function countsOf({ workspace }: TestIntegration): Promise<Record<string, number>> {
  const users = await workspace.profiles({ external_ids: ["ada"] });
  const events: { name: string; count: number }[] = users[0]?.custom_events ?? [];
  return Object.fromEntries(events.map(({ name, count }) => [name, count]));
}

const FIRST = "2026-01-01T12:00:00.000001Z";
const SECOND = "2026-01-01T12:00:00.000002Z";

describe("a repeated sync", () => {
  test("a repeated sync applies the rows added since the last one and repeats none", async () => {
    const integration = await startEvents();
    await integration.add(FIRST, "a");
    assert.equal((await integration.sync()).rows_synced, 1);
    assert.equal((await integration.sync()).rows_synced, 0);
    await integration.add(SECOND, "b");
    const run = await integration.sync();
    assert.deepEqual([run.rows_synced, run.last_timestamp_synced], [1, SECOND]);
    assert.deepEqual(await countsOf(integration), { a: 1, b: 1 });
  });

  test("a repeated sync applies late rows with the last UPDATED_AT and repeats none", async () => {
    const integration = await startEvents();
    await integration.add(SECOND, "a", "b", "b");
    await integration.sync();
    await integration.add(SECOND, "b", "c");
    assert.equal((await integration.sync()).rows_synced, 2);
    await integration.add(SECOND, "b");
    assert.equal((await integration.sync()).rows_synced, 1);
    assert.equal((await integration.sync()).rows_synced, 0);
    assert.deepEqual(await countsOf(integration), { a: 1, b: 4, c: 1 });
  });

  test("a repeated sync does not retry a failed row until the row has changed", async () => {
    const integration = await startEvents();
    await integration.add(FIRST, "a");
    await warehouse.run(`insert into ${integration.table} values ('${FIRST}', 'ada', 'no json')`);
    assert.equal((await integration.sync()).job_status, "partial");
    assert.equal((await integration.sync()).job_status, "success");
    await warehouse.run(
      `update ${integration.table} set payload = '{"name":"mended"}' where payload = 'no json'`,
    );
    assert.equal((await integration.sync()).rows_synced, 1);
    assert.deepEqual(await countsOf(integration), { a: 1, mended: 1 });
  });

  test("a sync without any row is a success", async () => {
    const integration = await startEvents();
    const run = await integration.sync();
    assert.deepEqual(
      [run.job_status, run.rows_synced, run.last_timestamp_synced],
      ["success", 0, null],
    );
  });

  test("a row with a future UPDATED_AT waits without delaying others, and is synced when it is due", async () => {
    const integration = await startEvents();
    await integration.add(FIRST, "a");
    await warehouse.run(
      `insert into ${integration.table} values (now() + interval '1 day', 'ada', '{"name":"b"}')`,
    );
    const { run, rows } = await integration.syncWithLog();
    assert.deepEqual([run.job_status, run.rows_failed_with_errors], ["success", 0]);
    assert.match(run.message ?? "", /in the future: 1\./);
    assert.deepEqual(
      [rows[0]?.outcome, rows[0]?.field, rows[0]?.code],
      ["waiting", "UPDATED_AT", "UPDATED_AT_IN_FUTURE"],
    );
    // It holds nothing up that comes in the meantime.
    await integration.add(SECOND, "c");
    assert.equal((await integration.sync()).rows_synced, 1);
    await warehouse.run(
      `update ${integration.table} set updated_at = now() where payload = '{"name":"b"}'`,
    );
    assert.equal((await integration.sync()).rows_synced, 1);
    assert.deepEqual(await countsOf(integration), { a: 1, b: 1, c: 1 });
  });
});

describe("an integration that is declared again", () => {
  test("a changed integration that reads the same rows resumes where it stopped", async () => {
    const integration = await startEvents();
    await integration.add(FIRST, "a");
    await integration.sync();
    const url = new URL(warehouse.url);
    url.searchParams.set("sslmode", "disable");
    await integration.change({
      type: "events",
      name: "Renamed",
      warehouse: { type: "postgres", url: url.href, table: integration.table },
    });
    await integration.add(SECOND, "b");
    assert.equal((await integration.sync()).rows_synced, 1);
    assert.deepEqual(await countsOf(integration), { a: 1, b: 1 });
  });

  test("a changed integration that reads other rows starts from the beginning", async () => {
    const integration = await startEvents();
    const other = await startEvents();
    await integration.add(SECOND, "a");
    await other.add(FIRST, "b");
    await integration.sync();
    const table = other.table;
    const place = { type: "postgres", url: warehouse.url, table };
    await integration.change({ type: "events", warehouse: place });
    const run = await integration.sync();
    assert.deepEqual([run.rows_synced, run.last_timestamp_synced], [1, FIRST]);
    assert.deepEqual(await countsOf(integration), { a: 1, b: 1 });
  });

  test("an integration that the manifest drops is removed with its runs", async () => {
    const integration = await startEvents();
    await integration.add(FIRST, "a");
    await integration.sync();
    const { workspace, id } = integration;
    const apply = (integrations: unknown) =>
      server.admin("POST", "/admin/v1/apply", {
        company: { name: "Test" },
        workspaces: [{ name: workspace.name, allow_reset: true, integrations }],
      });
    const removed = await apply([]);
    assert.deepEqual(
      removed.body.changes.filter((change: any) => change.kind === "integration"),
      [{ action: "removed", kind: "integration", workspace: workspace.name, name: "CRM" }],
    );
    const status = await workspace.call("GET", `/cdi/integrations/${id}/job_sync_status`);
    assert.equal(status.status, 404);
    const place = { type: "postgres", url: warehouse.url, table: integration.table };
    await apply([{ id, name: "CRM", type: "events", warehouse: place }]);
    const runs = await workspace.call<{ results: unknown[] }>(
      "GET",
      `/cdi/integrations/${id}/job_sync_status`,
    );
    assert.deepEqual(runs.body.results, []);
    assert.equal((await integration.sync()).rows_synced, 1);
  });
});

describe("a reset workspace", () => {
  test("the first sync after a reset applies all rows again", async () => {
    const integration = await startEvents();
    await integration.add(FIRST, "a");
    await integration.sync();
    const { name } = integration.workspace;
    assert.equal((await server.admin("POST", `/admin/v1/workspaces/${name}/reset`)).status, 200);
    assert.deepEqual(await countsOf(integration), {});
    assert.deepEqual((await server.admin("GET", `${integration.path}/runs`)).body.results, []);
    assert.equal((await integration.sync()).rows_synced, 1);
    assert.deepEqual(await countsOf(integration), { a: 1 });
  });
});

describe("a running sync", () => {
  test("a running sync ends as error when its integration is changed to other rows", async () => {
    const { url } = await silentWarehouse();
    const integration = await startEvents({
      warehouse: { type: "postgres", url, table: "anything" },
    });
    const { body } = await server.admin("POST", `${integration.path}/sync`);
    await integration.add(FIRST, "a");
    const place = { type: "postgres", url: warehouse.url, table: integration.table };
    await integration.change({ type: "events", warehouse: place });
    const ended = await integration.ended(body.run_id);
    assert.deepEqual(
      [ended.job_status, ended.message],
      ["error", "The integration was changed while it ran."],
    );
    assert.equal((await integration.sync()).rows_synced, 1);
  });

  test("a reset cancels a running sync", async () => {
    const { url } = await silentWarehouse();
    const { path, workspace } = await startEvents({
      warehouse: { type: "postgres", url, table: "anything" },
    });
    assert.equal((await server.admin("POST", `${path}/sync`)).status, 202);
    assert.equal((await server.admin("POST", `${path}/sync`)).status, 429);
    await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/reset`);
    assert.deepEqual((await server.admin("GET", `${path}/runs`)).body.results, []);
    assert.equal((await server.admin("POST", `${path}/sync`)).status, 202);
  });
});
