/* Reads of a warehouse that break off at many points, and a server that stops: nothing twice, and nothing missed. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startOwnServer, startServer } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { startIntegration, type TestIntegration } from "../../sync-runs.ts";
import { until } from "../../until.ts";
import { fragileWayTo, silentWarehouse, startWarehouse } from "../../warehouse.ts";

const server = await startServer();
const warehouse = await startWarehouse();

let tables = 0;

async function newTable(columns: string): Promise<string> {
  const table = `t${++tables}`;
  await warehouse.run(`create table ${table} (${columns})`);
  return table;
}

/** A table of rows about Ada's events, `perTime` with the same UPDATED_AT. */
async function tableOfEvents(rows: number, perTime: number): Promise<string> {
  const table = await newTable("updated_at timestamptz, external_id text, payload text");
  await warehouse.run(`insert into ${table}
    select timestamptz '2026-01-01' + (i / ${perTime}) * interval '1 second', 'ada',
      '{"name":"n' || i % 3 || '","properties":{"padding":"' || repeat('x', 80) || '"}}'
    from generate_series(0, ${rows - 1}) i`);
  return table;
}

/** How often each event of Ada's happened. */
async function countsOf({ workspace }: TestIntegration): Promise<Record<string, number>> {
  const users = await workspace.profiles({ external_ids: ["ada"] });
  const events: { name: string; count: number }[] = users[0]?.custom_events ?? [];
  return Object.fromEntries(events.map(({ name, count }) => [name, count]));
}

describe("an interrupted source", () => {
  test("an interrupted read resumes where it stopped as long as each attempt makes progress", async () => {
    const table = await tableOfEvents(6_000, 700);
    const { url } = await fragileWayTo(warehouse.url, 400_000);
    const integration = await startIntegration(server, {
      type: "events",
      retry: { attempts: 2, delay_seconds: 0 },
      warehouse: { type: "postgres", url, table },
    });
    const run = await integration.sync();
    assert.deepEqual([run.job_status, run.rows_synced], ["success", 6_000]);
    assert.ok(run.rows_read > 6_000, "It was read in one go, and broke off nowhere.");
    assert.deepEqual(await countsOf(integration), { n0: 2_000, n1: 2_000, n2: 2_000 });
  });

  test("a run ends as error when attempts make no more progress, and keeps the rows that it synced", async () => {
    const table = await tableOfEvents(6_000, 6_000);
    const { url } = await fragileWayTo(warehouse.url, 400_000);
    const place = { type: "postgres", table };
    const integration = await startIntegration(server, {
      type: "events",
      retry: { attempts: 2, delay_seconds: 0 },
      warehouse: { ...place, url },
    });
    const run = await integration.sync();
    assert.equal(run.job_status, "error");
    assert.ok(run.rows_synced > 0 && run.rows_synced < 6_000);
    const whole = { type: "events", warehouse: { ...place, url: warehouse.url } };
    await integration.change(whole);
    assert.equal((await integration.sync()).rows_synced, 6_000 - run.rows_synced);
    assert.deepEqual(await countsOf(integration), { n0: 2_000, n1: 2_000, n2: 2_000 });
  });

  test("an interrupted read of deletion rows resumes where it stopped and applies each row once", async () => {
    const table = await newTable("updated_at timestamptz, external_id text");
    await warehouse.run(`insert into ${table}
      select timestamptz '2026-01-01 12:00:00+00' + (i / 700) * interval '1 second', 'u' || i || repeat('x', 100)
      from generate_series(0, 5999) i`);
    const { url } = await fragileWayTo(warehouse.url, 400_000);
    const integration = await startIntegration(server, {
      type: "delete",
      retry: { attempts: 2, delay_seconds: 0 },
      warehouse: { type: "postgres", url, table },
    });
    const ids = Array.from({ length: 6_000 }, (_, index) => `u${index}${"x".repeat(100)}`);
    const tracked = ids.filter((_, index) => index % 3 === 0);
    for (let from = 0; from < tracked.length; from += 50) {
      const attributes = tracked.slice(from, from + 50).map((external_id) => ({ external_id }));
      assert.equal((await integration.workspace.track({ attributes })).status, 201);
    }
    const run = await integration.sync();
    assert.deepEqual(
      [run.job_status, run.rows_synced, run.rows_skipped],
      ["success", 6_000, 4_000],
    );
    assert.ok(run.rows_read > 6_000, "It was read in one go, and broke off nowhere.");
    assert.deepEqual(
      await integration.workspace.profiles({ external_ids: tracked.slice(-50) }),
      [],
    );
    assert.deepEqual(
      await integration.workspace.profiles({ external_ids: tracked.slice(0, 50) }),
      [],
    );
  });
});

test("a running sync does not delay the stop of its server, and continues on the next server", async () => {
  const { url, release } = await silentWarehouse();
  const first = await startOwnServer({ dataDir: await temporaryFolder() });
  const { path } = await startIntegration(first, {
    warehouse: { type: "postgres", url, table: "anything" },
  });
  const { body } = await first.admin("POST", `${path}/sync`);
  await first.stop();
  const second = await startOwnServer(first.config);
  const { run } = (await second.admin("GET", `${path}/runs/${body.run_id}`)).body;
  assert.equal(run.job_status, "running");
  release();
  const status = await until(async () => {
    const { run } = (await second.admin("GET", `${path}/runs/${body.run_id}`)).body;
    return run.job_status !== "running" && run.job_status;
  });
  assert.equal(status, "error");
});
