/* Data that a workspace keeps for a period: removed by the job worker of a server, whose database the test shares. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { enqueue } from "../../../../../src/core/admin/jobs/queue.ts";
import { readNextTimes } from "../../../../../src/core/admin/jobs/schedule.ts";
import { RETENTION_JOB } from "../../../../../src/core/admin/retention/retention.ts";
import { findWorkspace } from "../../../../../src/core/admin/workspaces/find-workspace.ts";
import { systemClock } from "../../../../../src/core/base/clock.ts";
import { createMetrics } from "../../../../../src/core/base/observe/metrics.ts";
import {
  insertLogEntries,
  selectLogBeyond,
} from "../../../../../src/features/warehouses/progress-store.ts";
import { SWEEPERS } from "../../../../../src/server/assembled.ts";
import { startOwnServer } from "../../../../harness.ts";
import { post } from "../../../../system/child-server.ts";
import { until } from "../../../../until.ts";

const { url, adminToken, database } = await startOwnServer();
const get = async (path: string): Promise<any> => {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${adminToken}` } });
  return response.json();
};

const KEY = "key-of-the-retention-test";

const declare = (name: string, settings: object) =>
  post(`${url}/admin/v1/apply`, adminToken, {
    company: { name: "Test" },
    workspaces: [
      { name, api_keys: [{ name: "k", key: `${KEY}-${name}`, permissions: ["all"] }], settings },
    ],
  });

const NOW = new Date().toISOString();

async function fill(workspace: string) {
  const times = ["2020-01-01T00:00:00Z", "2020-06-01T00:00:00Z", NOW];
  const purchase = { external_id: "ada", product_id: "p", currency: "EUR", price: 2 };
  const { status } = await post(`${url}/users/track`, `${KEY}-${workspace}`, {
    events: times.map((time) => ({ external_id: "ada", name: "came", time })),
    purchases: times.map((time) => ({ ...purchase, time })),
  });
  assert.equal(status, 201);
}

async function runRetention(workspace: string): Promise<void> {
  const { id } = await findWorkspace(database, workspace);
  const key = { workspaceId: id, kind: RETENTION_JOB, subject: "workspace" };
  await database.transaction((tx) => enqueue(tx, systemClock, key));
  await until(async () => {
    const rows = await database.query("select 1 from jobs where workspace_id = $1", [id]);
    return rows.length === 0;
  });
}

/** The kinds of the timeline of the one user, with their times. */
async function timeline(workspace: string): Promise<string[]> {
  const path = `/admin/v1/workspaces/${workspace}/users`;
  const { users } = await get(`${path}?query=ada`);
  const { entries } = await get(`${path}/${users[0].platform_id}/timeline`);
  return entries.map(
    (entry: any) => `${entry.kind ?? entry.type} ${String(entry.at ?? entry.time).slice(0, 4)}`,
  );
}

/** The kinds that the audit says were removed. */
async function expired(workspace: string): Promise<string[]> {
  const { entries } = await get(`/admin/v1/audit?workspace=${workspace}&limit=100`);
  return entries
    .filter((entry: any) => entry.action === "expired")
    .map((entry: any) => entry.kind)
    .sort();
}

const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3_600_000);

const totals = async (workspace: string) => {
  const { body } = await post(`${url}/users/export/ids`, `${KEY}-${workspace}`, {
    external_ids: ["ada"],
  });
  const [{ custom_events, purchases, total_revenue }] = body.users;
  return [
    custom_events[0].count,
    custom_events[0].first.slice(0, 4),
    purchases[0].count,
    total_revenue,
  ];
};

test("events and purchases older than their period are removed and audited, and totals stay", async () => {
  await declare("short", { keep_events_days: 30, keep_purchases_days: 100 });
  await fill("short");
  const before = await totals("short");
  assert.deepEqual(before, [3, "2020", 3, 6]);
  assert.equal((await timeline("short")).length, 6);
  await runRetention("short");
  assert.equal((await timeline("short")).length, 2);
  assert.deepEqual(await totals("short"), before);
  assert.deepEqual(await expired("short"), ["events", "purchases"]);
  await runRetention("short");
  assert.deepEqual(await expired("short"), ["events", "purchases"]);
});

test("a workspace without a period keeps everything", async () => {
  await declare("long", {});
  await fill("long");
  await runRetention("long");
  assert.equal((await timeline("long")).length, 6);
});

test("the row log of syncs is removed after its period and audited, 30 days by default", async () => {
  const listed = async (workspace: string, settings: object) => {
    await declare(workspace, settings);
    const { id } = await findWorkspace(database, workspace);
    const run = { workspaceId: id, integrationId: randomUUID(), runId: randomUUID() };
    for (const age of [1, 6, 8, 29, 31]) {
      const entry = { outcome: "failed", identity: {}, updatedAt: null, field: null } as const;
      const entries = [{ ...entry, id: randomUUID(), code: String(age), message: "" }];
      await database.transaction((tx) => insertLogEntries(tx, run, entries, daysAgo(age)));
    }
    await runRetention(workspace);
    const log = await selectLogBeyond(database, run, undefined, true, 10);
    return log.map((entry) => Number(entry.code)).sort((one, other) => one - other);
  };
  assert.deepEqual(await listed("week", { keep_row_log_days: 7 }), [1, 6]);
  assert.deepEqual(await listed("month", {}), [1, 6, 8, 29]);
  for (const workspace of ["week", "month"]) {
    assert.deepEqual(await expired(workspace), ["row_log"], workspace);
  }
});

test("captured calls are removed after their period and audited, seven days by default", async () => {
  const kept = async (workspace: string, settings: object) => {
    await declare(workspace, { capture_unsupported: true, ...settings });
    const { id } = await findWorkspace(database, workspace);
    const ages = [0, 1.5, 6.5, 7.5];
    for (const _age of ages) await post(`${url}/messages/send`, `${KEY}-${workspace}`, {});
    for (const [index, age] of ages.entries()) {
      await database.execute(
        "update captured_calls set captured_at = $3 where workspace_id = $1 and position = $2",
        [id, index + 1, daysAgo(age)],
      );
    }
    await runRetention(workspace);
    const { captured } = await get(`/admin/v1/workspaces/${workspace}/captured`);
    return captured.map((call: any) => call.position);
  };
  assert.deepEqual(await kept("capturing-a-day", { keep_captured_days: 1 }), [1]);
  assert.deepEqual(await kept("capturing", {}), [3, 2, 1]);
  for (const workspace of ["capturing-a-day", "capturing"]) {
    assert.deepEqual(await expired(workspace), ["captured_calls"], workspace);
  }
});

test("a period of one workspace removes nothing of another", async () => {
  await declare("strict", { keep_events_days: 1, keep_purchases_days: 1 });
  await declare("other", {});
  await fill("strict");
  await fill("other");
  await runRetention("strict");
  assert.equal((await timeline("strict")).length, 2);
  assert.equal((await timeline("other")).length, 6);
  assert.deepEqual(await expired("other"), []);
});

test("every workspace has the daily job, and a repeated check adds none", async () => {
  await declare("short", { keep_row_log_days: 7 });
  await declare("long", {});
  const scheduled = async (workspace: string) => {
    const { id } = await findWorkspace(database, workspace);
    return [...(await readNextTimes(database, RETENTION_JOB, id)).values()];
  };
  const sweep = async () => {
    for (const each of SWEEPERS) await each(database, new Date(), createMetrics());
  };
  await sweep();
  const times = [await scheduled("short"), await scheduled("long")];
  assert.deepEqual(
    times.map(({ length }) => length),
    [1, 1],
  );
  await sweep();
  assert.deepEqual([await scheduled("short"), await scheduled("long")], times);
});
