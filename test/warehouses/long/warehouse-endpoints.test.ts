/*
 * The integrations and their runs as the API lists them, the trigger, and refused queries.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../harness.ts";
import { startIntegration } from "../../sync-runs.ts";
import { silentWarehouse, startWarehouse } from "../../warehouse.ts";

const server = await startServer();
const warehouse = await startWarehouse();
await warehouse.run(`create table users (updated_at timestamptz, external_id text, payload text);
  insert into users values ('2026-01-01 12:00:00.5+00', 'ada', '{"n":1}'),
    ('2026-01-01 11:30:00+00', 'eve', '{"n":2}'),
    ('2026-01-01 11:00:00+00', 'bob', 'no json')`);

const PLACE = { type: "postgres", url: warehouse.url, table: "users" };

const entry = (name: string, more: object = {}) => ({
  id: randomUUID(),
  name,
  type: "attributes",
  warehouse: PLACE,
  ...more,
});

/** A workspace with this many integrations, named so that the alphabet is the order. */
const workspaceOf = (count: number): Promise<TestWorkspace> =>
  server.workspace({
    integrations: Array.from({ length: count }, (_, index) =>
      entry(`I${String(index).padStart(2, "0")}`),
    ),
  });

interface ListAnswer {
  readonly results: any[];
  readonly message: string;
}

async function get(workspace: TestWorkspace, path: string) {
  const { status, headers, body } = await workspace.call<ListAnswer>("GET", path);
  return { status, body, link: headers.get("link") };
}

const namesOf = (body: ListAnswer): string[] => body.results.map((each) => each.integration_name);

describe("the list of integrations", () => {
  test("the list of integrations has every field, as a string, or null if no value exists yet", async () => {
    const id = randomUUID();
    const workspace = await server.workspace({
      integrations: [
        entry("CRM", { id, schedule: "30 4 * * 1", contact_emails: "a@example.com,b@example.com" }),
      ],
    });
    const { status, body } = await get(workspace, "/cdi/integrations");
    assert.equal(status, 200);
    assert.equal(body.message, "success");
    const [{ app_group_id, next_scheduled_run, ...integration }] = body.results;
    assert.equal(typeof app_group_id, "string");
    assert.deepEqual(integration, {
      integration_id: id,
      integration_name: "CRM",
      integration_type: "attributes",
      integration_status: "active",
      contact_emails: "a@example.com, b@example.com",
      last_updated_at: null,
      warehouse_type: "postgres",
      last_job_start_time: null,
      last_job_status: null,
    });
    // Schedules are in UTC: Monday, half past four.
    const next = new Date(next_scheduled_run);
    assert.equal(next.toISOString(), next_scheduled_run);
    assert.deepEqual([next.getUTCDay(), next.getUTCHours(), next.getUTCMinutes()], [1, 4, 30]);
    assert.ok(next > new Date());
  });

  test("after a run, the list of integrations shows its start time, its status and the last UPDATED_AT", async () => {
    const { workspace, sync } = await startIntegration(server, { warehouse: PLACE });
    const run = await sync();
    const { body } = await get(workspace, "/cdi/integrations");
    const [integration] = body.results;
    assert.equal(integration.last_updated_at, "2026-01-01T12:00:00.500000Z");
    assert.equal(integration.last_job_status, "partial");
    assert.equal(integration.last_job_start_time, (run as any).sync_start_time);
    assert.equal(integration.next_scheduled_run, null);
  });

  test("a paused integration is listed without a next scheduled run", async () => {
    const workspace = await server.workspace({
      integrations: [entry("CRM", { schedule: "* * * * *", status: "paused" })],
    });
    const { body } = await get(workspace, "/cdi/integrations");
    const [{ integration_status, next_scheduled_run }] = body.results;
    assert.deepEqual([integration_status, next_scheduled_run], ["paused", null]);
  });

  test("the list of integrations is limited to the workspace of the key, identified by app_group_id", async () => {
    const workspaces = [await workspaceOf(2), await workspaceOf(1), await workspaceOf(0)];
    const [one, other, none] = await Promise.all(
      workspaces.map(async (each) => (await get(each, "/cdi/integrations")).body.results),
    );
    assert.deepEqual([one?.length, other?.length, none], [2, 1, []]);
    const groups = [...(one ?? []), ...(other ?? [])].map((each) => each.app_group_id);
    assert.equal(groups[0], groups[1]);
    assert.notEqual(groups[1], groups[2]);
  });
});

describe("pages of integrations and runs", () => {
  const NEXT = /^<\/cdi\/integrations\?cursor=([\w-]+)>; rel="next"$/;
  const PREV = /^<\/cdi\/integrations\?cursor=([\w-]+)>; rel="prev"$/;
  const BOTH =
    /^<\/cdi\/integrations\?cursor=([\w-]+)>; rel="prev",<\/cdi\/integrations\?cursor=([\w-]+)>; rel="next"$/;

  test("a page holds ten integrations and links to the previous and next page in the exact Link format", async () => {
    const workspace = await workspaceOf(25);
    const first = await get(workspace, "/cdi/integrations");
    const [, toSecond] = NEXT.exec(first.link ?? "") ?? [];
    const second = await get(workspace, `/cdi/integrations?cursor=${toSecond}`);
    const [, toFirst, toThird] = BOTH.exec(second.link ?? "") ?? [];
    const third = await get(workspace, `/cdi/integrations?cursor=${toThird}`);
    assert.deepEqual(
      [first, second, third].map(({ body }) => body.results.length),
      [10, 10, 5],
    );
    assert.equal(new Set([first, second, third].flatMap(({ body }) => namesOf(body))).size, 25);
    assert.match(third.link ?? "", PREV);

    const [, toSecondAgain] = PREV.exec(third.link ?? "") ?? [];
    const secondAgain = await get(workspace, `/cdi/integrations?cursor=${toSecondAgain}`);
    assert.deepEqual(namesOf(secondAgain.body), namesOf(second.body));
    assert.match(secondAgain.link ?? "", BOTH);
    const firstAgain = await get(workspace, `/cdi/integrations?cursor=${toFirst}`);
    assert.deepEqual(namesOf(firstAgain.body), namesOf(first.body));
    assert.match(firstAgain.link ?? "", NEXT);
  });

  test("a list of up to ten integrations has no page links, and a full last page has no next link", async () => {
    for (const count of [0, 1, 10]) {
      assert.equal((await get(await workspaceOf(count), "/cdi/integrations")).link, null);
    }
    const workspace = await workspaceOf(20);
    const [, toSecond] = NEXT.exec((await get(workspace, "/cdi/integrations")).link ?? "") ?? [];
    const second = await get(workspace, `/cdi/integrations?cursor=${toSecond}`);
    assert.equal(second.body.results.length, 10);
    assert.match(second.link ?? "", PREV);
  });

  test("runs are paged ten at a time, newest first, and a new run does not shift the pages", async () => {
    const { workspace, id, sync, path } = await startIntegration(server, { warehouse: PLACE });
    const list = `/cdi/integrations/${id}/job_sync_status`;
    for (let count = 0; count < 10; count++) await sync();
    const ten = await get(workspace, list);
    assert.deepEqual([ten.body.results.length, ten.link], [10, null]);
    await sync();
    const first = await get(workspace, list);
    const link = new RegExp(`^<${list}\\?cursor=([\\w-]+)>; rel="next"$`);
    const [, toSecond] = link.exec(first.link ?? "") ?? [];
    await sync();
    const second = await get(workspace, `${list}?cursor=${toSecond}`);
    assert.deepEqual([first.body.results.length, second.body.results.length], [10, 1]);
    const back = new RegExp(`^<${list}\\?cursor=([\\w-]+)>; rel="prev"$`);
    const [, toFirst] = back.exec(second.link ?? "") ?? [];
    const firstAgain = await get(workspace, `${list}?cursor=${toFirst}`);
    assert.deepEqual(firstAgain.body, first.body);
    assert.match(firstAgain.link ?? "", /rel="prev",<[^>]+>; rel="next"$/, "a newer run came");
    const starts = [first, second].flatMap(({ body }) =>
      body.results.map((run) => run.sync_start_time),
    );
    assert.deepEqual(starts, [...starts].sort().reverse());
    assert.equal(new Set(starts).size, 11);
    // The first of all is the one that had rows.
    assert.equal(second.body.results[0].job_status, "partial");
    const admin = await server.admin("GET", `${path}/runs`);
    assert.match(admin.headers.get("link") ?? "", new RegExp(`^<${path}/runs\\?cursor=`));
  });

  test("an invalid cursor for integrations or runs is refused with 400", async () => {
    const { workspace, id } = await startIntegration(server, { warehouse: PLACE });
    const encoded = (text: string) => Buffer.from(text).toString("base64url");
    const cursors = ["", "x", "c2tpcDow", encoded("after"), encoded("after "), encoded("up a")];
    for (const cursor of [...cursors, encoded("after a\0"), `${encoded("after a")}=`]) {
      const { status, body } = await get(workspace, `/cdi/integrations?cursor=${cursor}`);
      assert.deepEqual([cursor, status, body.message], [cursor, 400, "Invalid cursor"]);
    }
    for (const cursor of [...cursors, encoded("after a")]) {
      const path = `/cdi/integrations/${id}/job_sync_status?cursor=${cursor}`;
      const { status, body } = await get(workspace, path);
      assert.deepEqual([cursor, status, body.message], [cursor, 400, "Invalid cursor"]);
    }
  });
});

describe("the sync status", () => {
  test("the sync status lists the runs of an integration with every field", async () => {
    const { workspace, id, sync } = await startIntegration(server, { warehouse: PLACE });
    await sync();
    const { status, body } = await get(workspace, `/cdi/integrations/${id}/job_sync_status`);
    assert.deepEqual([status, body.message], [200, "success"]);
    const [{ sync_start_time, sync_finish_time, ...run }] = body.results;
    assert.deepEqual(run, {
      job_status: "partial",
      last_timestamp_synced: "2026-01-01T12:00:00.500000Z",
      rows_synced: 2,
      rows_failed_with_errors: 1,
    });
    for (const time of [sync_start_time, sync_finish_time]) {
      assert.equal(new Date(time).toISOString(), time);
    }
    assert.ok(sync_start_time <= sync_finish_time);
  });
});

describe("the sync trigger", () => {
  test("the sync trigger responds with 202, and with 429 while another run is listed as running", async () => {
    const { url, release } = await silentWarehouse();
    const { workspace, id, path, ended } = await startIntegration(server, {
      warehouse: { ...PLACE, url },
    });
    const trigger = (headers = {}) =>
      workspace.call("POST", `/cdi/integrations/${id}/sync`, undefined, { headers });
    const first = await trigger();
    assert.deepEqual([first.status, first.body], [202, { message: "success" }]);
    // A later request with this key does not get the refusal.
    const withKey = { "idempotency-key": "refused once" };
    const second = await trigger(withKey);
    assert.deepEqual([second.status, second.body.message], [429, "Another job is in progress"]);
    assert.match(second.headers.get("retry-after") ?? "", /^\d+$/);
    const { body } = await get(workspace, `/cdi/integrations/${id}/job_sync_status`);
    const [{ job_status, sync_finish_time }] = body.results;
    assert.deepEqual([body.results.length, job_status, sync_finish_time], [1, "running", null]);

    release();
    const runs = await server.admin("GET", `${path}/runs`);
    assert.equal((await ended(runs.body.results[0].run_id)).job_status, "error");
    assert.equal((await trigger(withKey)).status, 202);
  });

  test("a sync trigger repeated with its Idempotency-Key starts only one run", async () => {
    const { workspace, id, path, ended } = await startIntegration(server, { warehouse: PLACE });
    const headers = { "idempotency-key": "k" };
    const trigger = () =>
      workspace.call("POST", `/cdi/integrations/${id}/sync`, undefined, { headers });
    assert.equal((await trigger()).status, 202);
    const [{ run_id }] = (await server.admin("GET", `${path}/runs`)).body.results;
    assert.equal((await ended(run_id)).job_status, "partial");
    assert.equal((await trigger()).status, 202);
    assert.equal((await server.admin("GET", `${path}/runs`)).body.results.length, 1);
  });
});

describe("an integration id", () => {
  const PATHS: [method: string, of: (id: string) => string][] = [
    ["GET", (id) => `/cdi/integrations/${id}/job_sync_status`],
    ["POST", (id) => `/cdi/integrations/${id}/sync`],
  ];

  test("a malformed integration id gets 400, and an unknown one or one of another workspace gets 404", async () => {
    const { id: foreign } = await startIntegration(server, { warehouse: PLACE });
    const workspace = await workspaceOf(1);
    for (const [method, path] of PATHS) {
      for (const id of ["x", "123", "00000000-0000-0000-0000-00000000000g"]) {
        const { status, body } = await workspace.call(method, path(id));
        assert.deepEqual([status, body.message], [400, "Invalid integration ID"]);
      }
      for (const id of [randomUUID(), foreign]) {
        const { status, body } = await workspace.call(method, path(id));
        assert.deepEqual([status, body.message], [404, "Integration not found"]);
      }
    }
  });

  test("an integration id is matched case-insensitively", async () => {
    const { workspace, id } = await startIntegration(server, { warehouse: PLACE });
    const path = `/cdi/integrations/${id.toUpperCase()}/job_sync_status`;
    assert.equal((await get(workspace, path)).status, 200);
  });
});
