/*
 * Syncs from warehouses over HTTP against `kill -9` at random moments: many rows with the same UPDATED_AT and the same
 * content end exactly equal to the source, and the memory of the server does not grow with the table.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { testConfig } from "../../../harness.ts";
import { sized } from "../../../sizes.ts";
import { temporaryFolder } from "../../../stored-rows.ts";
import {
  type ChildServer,
  type Environment,
  post,
  startChild,
} from "../../../system/child-server.ts";
import { FAKES } from "../../fakes/kinds.ts";

const KILLS = sized(1, 10);
const ROWS = sized(20_000, 200_000);
const TIES = ROWS / 20;
const USERS = 40;
const TOKEN = "admin-token-of-the-crash-test";
const KEY = "api-key-of-the-crash-test";

/** The limit of the server's memory beyond its use when it was ready. */
const MOST_GROWTH_MB = 350;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The most memory that a process has used so far, in MB; 0 where the system does not say. */
function peakOf({ pid }: ChildServer): number {
  try {
    const [, kilobytes = 0] =
      /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) / 1_024;
  } catch {
    return 0;
  }
}

for (const { type, schema, start } of FAKES) {
  test(`a sync of many ties from ${type} that is killed again and again applies every row exactly once, in flat memory`, async () => {
    const fake = await start();
    fake.pageRows = 2_000;
    await fake.engine.run(`create table ${schema}events as
      select timestamptz '2026-01-01 12:00:00Z' + to_seconds(i // ${TIES}) as UPDATED_AT,
        'u' || (i % ${USERS}) as EXTERNAL_ID, '{"name":"e' || (i % 3) || '"}' as PAYLOAD
      from range(${ROWS}) t(i)`);
    const { databaseUrl } = await testConfig();
    const environment: Environment = {
      DATA_DIR: await temporaryFolder(),
      ADMIN_TOKEN: TOKEN,
      JOB_LEASE_SECONDS: "1",
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    };
    let server = await startChild(environment);
    const id = randomUUID();
    const runs = `/admin/v1/workspaces/crash/integrations/${id}`;
    const lastRun = async () => {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const response = await fetch(`${server.url}${runs}/runs`, { headers });
      return ((await response.json()) as { results: any[] }).results[0];
    };
    const warehouse = { ...fake.settings, table: `${schema}events` };
    const applied = await post(`${server.url}/admin/v1/apply`, TOKEN, {
      company: { name: "Crash" },
      workspaces: [
        {
          name: "crash",
          api_keys: [{ name: "key", key: KEY, permissions: ["all"] }],
          integrations: [{ id, name: "Events", type: "events", warehouse }],
        },
      ],
    });
    assert.equal(applied.status, 200, JSON.stringify(applied.body));
    assert.equal((await post(`${server.url}${runs}/sync`, TOKEN, {})).status, 202);
    let interrupted = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      while ((await lastRun())?.rows_read === 0) await pause(10);
      await pause(Math.random() * 400);
      const isRunning = (await lastRun()).job_status === "running";
      await server.end("SIGKILL");
      server = await startChild(environment);
      if (isRunning) interrupted++;
    }
    assert.ok(interrupted > 0, "No kill met a run that went on.");
    const before = peakOf(server);
    let run = await lastRun();
    while (run.job_status === "running") {
      await pause(50);
      run = await lastRun();
    }
    assert.equal(run.job_status, "success", run.message);
    const growth = peakOf(server) - before;
    assert.ok(growth < MOST_GROWTH_MB, `${type}: memory grew by ${growth} MB`);

    const external_ids = Array.from({ length: USERS }, (_, index) => `u${index}`);
    const { body } = await post(`${server.url}/users/export/ids`, KEY, { external_ids });
    const counts = body.users.flatMap((user: any) =>
      user.custom_events.map(({ name, count }: any) => `${user.external_id} ${name} ${count}`),
    );
    const expected = await fake.engine.query(
      `select EXTERNAL_ID || ' e' || (i % 3) || ' ' || count(*) from (
         select 'u' || (i % ${USERS}) as EXTERNAL_ID, i from range(${ROWS}) t(i)) group by EXTERNAL_ID, i % 3`,
    );
    assert.deepEqual(counts.sort(), expected.rows.map(([row]) => row).sort());
    await server.end("SIGTERM");
    fake.close();
  });
}
