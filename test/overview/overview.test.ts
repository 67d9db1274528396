/* The overview of a workspace: its traffic over time, and what needs attention. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { createTraffic } from "../../src/core/base/observe/traffic.ts";
import { findAttention } from "../../src/features/overview/attention.ts";
import { combineCounts, quantile } from "../../src/features/overview/combine.ts";
import { createTrafficSharing } from "../../src/features/overview/share-traffic.ts";
import { failingSyncs } from "../../src/features/warehouses/recent-runs.ts";
import type { IntegrationRow } from "../../src/features/warehouses/store.ts";
import { startProvider, visit } from "../dashboard-users/identity-provider.ts";
import { continueSession } from "../dashboard-users/signed-in.ts";
import { freePort } from "../free-port.ts";
import { ENGINE, startOwnServer, type TestServer, testConfig } from "../harness.ts";
import { declare, scimClient, WORKSPACE } from "../scim-client.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { post, startChild } from "../system/child-server.ts";
import { until } from "../until.ts";

const port = await freePort();
const provider = await startProvider(port);
const server = await startOwnServer({ port, oidc: provider.settings });
await declare(server, {}, [WORKSPACE]);
const scim = scimClient(server);

const NOON = "2026-01-01T12:00:00Z";

const sum = (counts: readonly number[]): number => counts.reduce((all, each) => all + each, 0);

async function overviewOf(name: string, query = "", at: TestServer = server): Promise<any> {
  const { status, body } = await at.admin("GET", `/admin/v1/workspaces/${name}/overview${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const event = (external_id: string, time = NOON) => ({ external_id, name: "seen", time });

describe("the overview of a workspace", () => {
  test("the overview counts requests, items, rejections by code and response times over the last hour and day", async () => {
    const workspace = await server.workspace();
    await workspace.track({ events: [event("ada"), event("bob"), event("carol", "yesterday")] });
    await workspace.track({ events: "none" });
    for (const [query, slots, seconds] of [
      ["", 360, 10],
      ["?period=day", 288, 300],
    ] as const) {
      const body = await overviewOf(workspace.name, query);
      assert.deepEqual([body.requests.length, body.slot_seconds], [slots, seconds]);
      assert.deepEqual(
        [body.requests, body.refused, body.failed, body.items_accepted].map(sum),
        [2, 1, 0, 2],
      );
      assert.ok(sum(body.items_rejected) >= 1);
      assert.ok(body.rejections.some(({ counts }: any) => sum(counts) >= 1));
      assert.match(body.rejections[0].code, /^[A-Z_]+$/);
      const last = body.p99_ms.findLast((each: number | null) => each !== null);
      assert.ok(last > 0 && last >= body.p50_ms.findLast((each: number | null) => each !== null));
      const end = Date.parse(body.start) + slots * seconds * 1_000;
      assert.ok(Math.abs(end - Date.now() - seconds * 500) <= seconds * 500 + 1_000);
    }
  });

  test("the overview of a workspace has nothing of another one, and refuses an unknown period", async () => {
    const [one, other] = [await server.workspace(), await server.workspace()];
    await one.track({ events: [event("ada")] });
    assert.equal(sum((await overviewOf(other.name)).requests), 0);
    const path = `/admin/v1/workspaces/${one.name}/overview?period=year`;
    const { status, body } = await server.admin("GET", path);
    assert.deepEqual([status, /period/.test(body.message)], [400, true]);
  });

  const several = {
    skip: ENGINE === "embedded" && "On the embedded engine a server has one process.",
  };

  test("the overview adds up what all processes of a server have counted", several, async () => {
    const { databaseUrl } = await testConfig();
    const adminToken = "the-admin-token-of-this-test";
    const child = await startChild({
      DATA_DIR: await temporaryFolder(),
      ADMIN_TOKEN: adminToken,
      ...(databaseUrl && { DATABASE_URL: databaseUrl, WEB_CONCURRENCY: "3" }),
    });
    const send = () => post(`${child.url}/users/track`, child.key, { events: [event("ada")] });
    for (let round = 0; round < 5; round++) await Promise.all([send(), send(), send(), send()]);
    // Each process records its counts every ten seconds.
    const body = await until(async () => {
      const response = await fetch(`${child.url}/admin/v1/workspaces/demo/overview`, {
        headers: { authorization: `Bearer ${adminToken}` },
      });
      const overview = (await response.json()) as any;
      return sum(overview.requests) >= 20 && overview;
    });
    assert.deepEqual([sum(body.requests), sum(body.items_accepted)], [20, 20]);
    await child.end("SIGTERM");
  });
});

describe("what needs attention", () => {
  const findingsOf = async (name: string): Promise<[string, string, string][]> =>
    (await overviewOf(name)).attention.map(({ kind, severity, subject }: any) => [
      kind,
      severity,
      subject,
    ]);

  test("nothing needs attention in a workspace whose requests succeed", async () => {
    const workspace = await server.workspace();
    await workspace.track({ events: [event("ada")] });
    assert.deepEqual(await findingsOf(workspace.name), []);
  });

  test("a large share of rejected items needs attention, with the most frequent code", async () => {
    const workspace = await server.workspace();
    const events = Array.from({ length: 30 }, (_, index) =>
      event("ada", index < 20 ? "yesterday" : NOON),
    );
    await workspace.track({ events });
    const [[kind, severity, code] = []] = await findingsOf(workspace.name);
    assert.deepEqual([kind, severity], ["items_rejected", "bad"]);
    assert.equal(code, (await overviewOf(workspace.name)).rejections[0].code);
  });

  test("a key that exceeds its rate limit needs attention", async () => {
    const workspace = await server.workspace({
      settings: { rate_limits: { "users.export.ids": { requests: 1, per_seconds: 600 } } },
    });
    const ask = () =>
      server.send("POST", "/users/export/ids", { external_ids: ["ada"] }, { key: workspace.key });
    while ((await ask()).status !== 429);
    const found = await findingsOf(workspace.name);
    assert.deepEqual(
      found.map(([kind]) => kind),
      ["key_throttled"],
    );
  });

  test("a previous secret that is about to expire needs attention", async () => {
    const workspace = await server.workspace();
    const path = `/admin/v1/workspaces/${workspace.name}/api-keys`;
    await server.admin("POST", path, { name: "rotated", permissions: ["all"] });
    await server.admin("POST", `${path}/rotated/rotate`, { overlap_seconds: 7_200 });
    assert.deepEqual(await findingsOf(workspace.name), [["secret_expires", "warn", "rotated"]]);
    const [{ at, message }] = (await overviewOf(workspace.name)).attention;
    assert.ok(Math.abs(Date.parse(at) - Date.now() - 7_200_000) < 60_000, at);
    assert.doesNotMatch(message, /UTC|\d\d:\d\d/);
  });

  const nothing = {
    lockHolders: [],
    keys: undefined,
    said: [],
    pausedJobs: [],
  };

  test("a key needs attention once it was not used for a week after its creation, unless it is revoked", () => {
    const now = new Date(NOON);
    const key = (name: string, days: number, more: object = {}) => ({
      id: name,
      name,
      declared: false,
      permissions: ["all" as const],
      ipAllowlist: [],
      createdAt: new Date(now.getTime() - days * 86_400_000),
      lastSeenAt: null,
      revokedAt: null,
      overlapUntil: undefined,
      ...more,
    });
    const keys = [
      key("new", 6),
      key("old", 8),
      key("used", 8, { lastSeenAt: now }),
      key("revoked", 8, { revokedAt: now }),
    ];
    const hour = combineCounts([], "hour");
    const found = findAttention({ ...nothing, now, hour, keys });
    assert.deepEqual(
      found.map(({ kind, subject }) => [kind, subject]),
      [["key_unused", "old"]],
    );
    assert.deepEqual(findAttention({ ...nothing, now, hour }), []);
  });

  test("a daily job that has failed five times in the same way needs attention, with the reason and its next try", async () => {
    const [one, other] = [await server.workspace(), await server.workspace()];
    await server.database.query(
      `insert into jobs (job_id, workspace_id, kind, subject, run_at, failures, fault, faults)
       select $1, workspace_id, 'segment_sizes', 'workspace', $2, 5, 'Its statement took too long.', 5
       from workspaces where name = $3`,
      [randomUUID(), new Date("2099-01-01T12:00:00Z"), one.name],
    );
    assert.deepEqual((await overviewOf(one.name)).attention, [
      {
        kind: "job_paused",
        severity: "bad",
        subject: "daily job segment sizes",
        id: null,
        message: "It has paused after failing again and again. Its statement took too long.",
        at: "2099-01-01T12:00:00.000Z",
      },
    ]);
    assert.deepEqual(await findingsOf(other.name), []);
  });

  test("a queue that is half full, failed requests and a failed sync need attention before all else", () => {
    const counts = combineCounts([], "hour");
    const hour = {
      ...counts,
      waiting: counts.waiting.with(-1, 10_000),
      failed: counts.failed.with(0, 2),
    };
    const integration = (name: string, lastStatus: "success" | "partial" | "error") =>
      ({ id: name, name, lastStatus }) as IntegrationRow;
    const said = failingSyncs([
      integration("fine", "success"),
      integration("some", "partial"),
      integration("broken", "error"),
    ]);
    const found = findAttention({ ...nothing, now: new Date(NOON), hour, said });
    assert.deepEqual(
      found.map(({ kind, severity, subject }) => [kind, severity, subject]),
      [
        ["requests_failed", "bad", "5xx"],
        ["queue_filling", "bad", "write queue"],
        ["sync_failed", "bad", "broken"],
        ["sync_failed", "warn", "some"],
      ],
    );
  });

  test("what needs attention names keys only to people who may see them, and syncs likewise", async () => {
    const path = "/admin/v1/workspaces/demo/api-keys";
    await server.admin("POST", path, { name: "turning", permissions: ["all"] });
    await server.admin("POST", `${path}/turning/rotate`, { overlap_seconds: 7_200 });
    const seenWith = async (...permissions: string[]): Promise<any> => {
      const appGroup = [{ appGroupName: "demo", appGroupPermissions: permissions }];
      const user = await scim.user({ permissions: { companyPermissions: [], appGroup } });
      provider.signsIn({ email: String(user.userName), email_verified: true });
      const { cookie } = await visit(server, "/dashboard/sign-in/oidc");
      const browser = await continueSession(server, cookie);
      return (await browser.call("GET", "/admin/v1/workspaces/demo/overview")).body;
    };
    const few = await seenWith("view_usage_data");
    assert.equal(few.syncs, null);
    assert.doesNotMatch(JSON.stringify(few.attention), /turning/);
    const more = await seenWith("view_usage_data", "dev_console", "basic_access");
    assert.equal(more.syncs.rows_synced.length, 360);
    assert.match(JSON.stringify(more.attention), /"subject":"turning"/);
  });
});

describe("the counts behind the overview", () => {
  test("counts of traffic leave the last hour after an hour and the last day after a day", () => {
    let now = Date.parse(NOON);
    const traffic = createTraffic(() => now);
    traffic.request(1, "key", "served", 4);
    traffic.items(1, "accepted", 3);
    traffic.rejection(1, "CODE");
    const seen = () =>
      (["hour", "day"] as const).map((period) => {
        const { columns, rejections } = traffic.read(1, period, now);
        return [sum(columns.requests), sum(columns.accepted), sum(rejections.CODE ?? [])];
      });
    assert.deepEqual(seen(), [
      [1, 3, 1],
      [1, 3, 1],
    ]);
    now += 3_600_000;
    traffic.request(1, "key", "served", 4);
    assert.deepEqual(seen(), [
      [1, 0, 0],
      [2, 3, 1],
    ]);
    now += 86_400_000;
    assert.deepEqual(seen(), [
      [0, 0, 0],
      [0, 0, 0],
    ]);
  });

  test("counts of traffic keep a hundred workspaces and thirty-two codes, the least recent workspace goes", () => {
    let now = Date.parse(NOON);
    const traffic = createTraffic(() => now++);
    for (let id = 0; id < 150; id++) traffic.request(id, "key", "served", 1);
    for (let code = 0; code < 100; code++) traffic.rejection(149, `CODE_${code}`);
    const kept = Array.from({ length: 150 }, (_, id) =>
      sum(traffic.read(id, "hour", now).columns.requests),
    );
    assert.deepEqual([sum(kept), kept[49], kept[50]], [100, 0, 1]);
    assert.equal(Object.keys(traffic.read(149, "hour", now).rejections).length, 32);
  });

  test("what a process counted last of a workspace that was deleted meanwhile is not stored", async () => {
    const [gone, kept] = [await server.workspace(), await server.workspace()];
    const { database } = server;
    const idOf = async ({ name }: { readonly name: string }) => {
      const sql = "select workspace_id as id from workspaces where name = $1";
      const [row] = await database.query<{ id: number }>(sql, [name]);
      return row?.id ?? 0;
    };
    const ids = [await idOf(gone), await idOf(kept)];
    const traffic = createTraffic(Date.now);
    for (const id of ids) traffic.items(id, "accepted", 1);
    const clock = { now: () => new Date(), newId: () => randomUUID() };
    const sharing = createTrafficSharing({ database, clock, metrics: { traffic } } as never);
    assert.equal((await server.admin("DELETE", `/admin/v1/workspaces/${gone.name}`)).status, 200);
    await sharing.write();
    const stored = await database.query<{ id: number }>(
      "select distinct workspace_id as id from traffic_counts where process_id = $1::text::uuid",
      [sharing.processId],
    );
    assert.deepEqual(
      stored.map(({ id }) => id),
      [ids[1]],
    );
  });

  test("a quantile lies within the bucket that holds it, and beyond the last bound at that bound", () => {
    const counts = (...at: [number, number][]) => {
      const all = Array.from({ length: 20 }, () => 0);
      for (const [index, count] of at) all[index] = count;
      return all;
    };
    assert.equal(quantile(counts(), 0.5), null);
    assert.equal(quantile(counts([0, 100]), 0.5), 0.5);
    assert.equal(quantile(counts([0, 98], [5, 2]), 0.5), 0.5);
    assert.equal(quantile(counts([0, 98], [5, 2]), 0.99), 8.5);
    assert.equal(quantile(counts([19, 10]), 0.99), 5_000);
  });
});
