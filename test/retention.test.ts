/* What a workspace keeps for a period: removed by the job worker of a server, whose database the test shares. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../src/clock.ts";
import { enqueue } from "../src/jobs/queue.ts";
import { readNextTimes } from "../src/jobs/schedule.ts";
import { RETENTION_JOB } from "../src/retention/retention.ts";
import { SWEEPERS } from "../src/server/app.ts";
import { openDatabase } from "../src/server/open-database.ts";
import { serve } from "../src/server/serve.ts";
import { findWorkspace } from "../src/workspaces/find-workspace.ts";
import { post } from "./child-server.ts";
import { testConfig } from "./harness.ts";

const config = await testConfig();
const database = await openDatabase(config);
const server = await serve(config, undefined, Promise.resolve(database));
after(() => server.stop());

const { url } = server.welcome;
const adminToken = server.welcome.adminToken.secret ?? "";
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
  for (;;) {
    const rows = await database.query("select 1 from jobs where workspace_id = $1", [id]);
    if (rows.length === 0) return;
    await sleep(50);
  }
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
  const { entries } = await get("/admin/v1/audit?workspace=short&limit=100");
  const expired = entries.filter((entry: any) => entry.action === "expired");
  assert.deepEqual(expired.map((entry: any) => entry.kind).sort(), ["events", "purchases"]);
  await runRetention("short");
  const again = await get("/admin/v1/audit?workspace=short&limit=100");
  assert.equal(again.entries.filter((entry: any) => entry.action === "expired").length, 2);
});

test("a workspace without a period keeps everything", async () => {
  await declare("long", {});
  await fill("long");
  await runRetention("long");
  assert.equal((await timeline("long")).length, 6);
});

test("exactly the workspaces that keep something for a period have the daily job", async () => {
  await declare("short", { keep_row_log_days: 7 });
  await declare("long", {});
  const hasJob = async (workspace: string) => {
    const { id } = await findWorkspace(database, workspace);
    return (await readNextTimes(database, RETENTION_JOB, id)).size === 1;
  };
  const sweep = async () => {
    for (const each of SWEEPERS) await each(database, new Date());
  };
  await sweep();
  assert.deepEqual([await hasJob("short"), await hasJob("long")], [true, false]);
  await declare("short", {});
  await sweep();
  assert.deepEqual([await hasJob("short"), await hasJob("long")], [false, false]);
});
