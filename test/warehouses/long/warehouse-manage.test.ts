/*
 * Integrations one by one through the admin API: created, read, changed and removed, beside those
 * that a manifest declares.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../harness.ts";
import { until } from "../../until.ts";
import { startWarehouse } from "../../warehouse.ts";

const server = await startServer();
const warehouse = await startWarehouse();
await warehouse.run(`
  create table one (updated_at timestamptz, external_id text, payload text);
  insert into one values ('2026-01-01', 'ada', '{"name":"one"}');
  create table two (updated_at timestamptz, external_id text, payload text);
  insert into two values ('2025-01-01', 'ada', '{"name":"two"}')`);

const inTable = (table: string) => ({ type: "postgres", url: warehouse.url, table });

const EVENTS = { name: "CRM", type: "events", warehouse: inTable("one") };

const pathOf = (workspace: TestWorkspace, id?: string): string =>
  `/admin/v1/workspaces/${workspace.name}/integrations${id ? `/${id}` : ""}`;

const apply = (workspace: TestWorkspace, integrations: object[]) =>
  server.admin("POST", "/admin/v1/apply", {
    company: { name: "Test" },
    workspaces: [{ name: workspace.name, integrations }],
  });

/** Starts a sync and waits for its end. */
async function sync(path: string): Promise<any> {
  const { run_id } = (await server.admin("POST", `${path}/sync`)).body;
  return until(async () => {
    const { run } = (await server.admin("GET", `${path}/runs/${run_id}`)).body;
    return run.job_status !== "running" && run;
  });
}

describe("an integration in the admin API", () => {
  test("the admin API creates, reads, lists, changes and removes integrations without exposing credentials", async () => {
    const workspace = await server.workspace();
    const path = pathOf(workspace, randomUUID());
    const made = await server.admin("PUT", path, {
      ...EVENTS,
      schedule: "0 4 * * *",
      contact_emails: "ops@acme.example,it@acme.example",
      retry: { attempts: 2 },
      warehouse: { ...inTable("one"), url: "postgres://reader:hush@127.0.0.1:1/crm" },
    });
    assert.equal(made.status, 200);
    const expected = {
      integration_id: path.split("/").at(-1),
      name: "CRM",
      type: "events",
      status: "active",
      contact_emails: "ops@acme.example, it@acme.example",
      schedule: "0 4 * * *",
      schedule_time_zone: "UTC",
      retry: { attempts: 2, delay_seconds: 10 },
      warehouse: { type: "postgres", place: "one" },
      declared: false,
    };
    assert.deepEqual(made.body, { ...expected, message: "success" });
    assert.deepEqual((await server.admin("GET", path)).body, { ...expected, message: "success" });
    const paused = await server.admin("PUT", path, { ...EVENTS, name: "Paused", status: "paused" });
    assert.deepEqual(
      [paused.body.name, paused.body.status, paused.body.schedule, paused.body.contact_emails],
      ["Paused", "paused", null, ""],
    );
    const list = await server.admin("GET", pathOf(workspace));
    assert.deepEqual(
      list.body.integrations.map((each: any) => each.name),
      ["Paused"],
    );
    assert.equal((await server.admin("DELETE", path)).status, 200);
    assert.deepEqual((await server.admin("GET", pathOf(workspace))).body.integrations, []);
    assert.equal((await server.admin("GET", path)).status, 404);
    assert.equal((await server.admin("DELETE", path)).status, 404);
  });

  test("a sync resumes after its integration is renamed and restarts after its table changes", async () => {
    const workspace = await server.workspace();
    const path = pathOf(workspace, randomUUID());
    await server.admin("PUT", path, EVENTS);
    assert.equal((await sync(path)).rows_synced, 1);
    await server.admin("PUT", path, { ...EVENTS, name: "Renamed" });
    assert.equal((await sync(path)).rows_synced, 0);
    await server.admin("PUT", path, { ...EVENTS, warehouse: inTable("two") });
    assert.equal((await sync(path)).rows_synced, 1);
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.deepEqual(
      ada.custom_events.map((event: any) => [event.name, event.count]),
      [
        ["one", 1],
        ["two", 1],
      ],
    );
  });

  test("an integration has a next scheduled run only while it is active and has a schedule", async () => {
    const workspace = await server.workspace();
    const path = pathOf(workspace, randomUUID());
    const isPlanned = async () => {
      const { body } = await workspace.call<any>("GET", "/cdi/integrations");
      return body.results[0].next_scheduled_run !== null;
    };
    const schedule = "0 4 * * *";
    const seen: boolean[] = [];
    for (const change of [{ schedule }, { schedule, status: "paused" }, { schedule }, {}]) {
      await server.admin("PUT", path, { ...EVENTS, ...change });
      seen.push(await isPlanned());
    }
    assert.deepEqual(seen, [true, false, true, false]);
  });

  test("a schedule is in its own time zone, and the next scheduled run in UTC", async () => {
    const workspace = await server.workspace();
    const path = pathOf(workspace, randomUUID());
    const nextRun = async () => {
      const { body } = await workspace.call<any>("GET", "/cdi/integrations");
      return body.results[0].next_scheduled_run;
    };
    const schedule = "0 9 * * *";
    const made = await server.admin("PUT", path, {
      ...EVENTS,
      schedule,
      schedule_time_zone: "Asia/Kathmandu",
    });
    assert.equal(made.body.schedule_time_zone, "Asia/Kathmandu");
    assert.match(await nextRun(), /T03:15:00\.000Z$/);
    const moved = await server.admin("PATCH", path, { schedule_time_zone: "Asia/Tokyo" });
    assert.deepEqual(
      [moved.body.schedule, moved.body.schedule_time_zone],
      [schedule, "Asia/Tokyo"],
    );
    assert.match(await nextRun(), /T00:00:00\.000Z$/);
    const { body: manifest } = await server.admin(
      "GET",
      `/admin/v1/workspaces/${workspace.name}/manifest`,
    );
    assert.match(JSON.stringify(manifest), /"schedule_time_zone":"Asia\/Tokyo"/);
    const reset = await server.admin("PATCH", path, { schedule_time_zone: null });
    assert.equal(reset.body.schedule_time_zone, "UTC");
    const wrong = await server.admin("PATCH", path, { status: "pausd" });
    assert.match(
      wrong.body.message,
      /'status' must be one of active, paused; did you mean 'paused'/,
    );
    assert.match(await nextRun(), /T09:00:00\.000Z$/);
  });

  test("a manifest keeps undeclared integrations, and a declared one stays declared when the API changes it", async () => {
    const workspace = await server.workspace();
    const [own, declared] = [randomUUID(), randomUUID()];
    await server.admin("PUT", pathOf(workspace, own), { ...EVENTS, name: "Own" });
    await apply(workspace, [{ id: declared, ...EVENTS }]);
    const changed = await server.admin("PUT", pathOf(workspace, declared), {
      ...EVENTS,
      name: "Changed",
    });
    assert.equal(changed.body.declared, true);
    const updated = await apply(workspace, [{ id: declared, ...EVENTS }]);
    assert.deepEqual(
      updated.body.changes.map((change: any) => [change.action, change.name]),
      [["updated", "CRM"]],
    );
    await apply(workspace, []);
    const { integrations } = (await server.admin("GET", pathOf(workspace))).body;
    assert.deepEqual(
      integrations.map((each: any) => [each.name, each.declared]),
      [["Own", false]],
    );
  });

  test("an integration adopted by a manifest keeps its progress unless its table changes", async () => {
    for (const [table, rows] of [
      ["one", 0],
      ["two", 1],
    ] as const) {
      const workspace = await server.workspace();
      const id = randomUUID();
      await server.admin("PUT", pathOf(workspace, id), EVENTS);
      await sync(pathOf(workspace, id));
      await apply(workspace, [{ id, ...EVENTS, warehouse: inTable(table) }]);
      assert.equal((await sync(pathOf(workspace, id))).rows_synced, rows, table);
    }
  });
});

describe("a change to an integration", () => {
  test("a change to an integration leaves an audit row, through the API or a manifest; a no-op leaves none", async () => {
    const workspace = await server.workspace();
    const id = randomUUID();
    const path = pathOf(workspace, id);
    const way = { ...inTable("one"), url: "postgres://reader:hush@127.0.0.1:1/crm" };
    const entry = { ...EVENTS, warehouse: way };
    await apply(workspace, [{ id, ...entry }]);
    await server.admin("PUT", path, entry);
    await server.admin("PUT", path, { ...entry, schedule: "0 4 * * *" });
    await server.admin("DELETE", path);
    const query = new URLSearchParams({ workspace: workspace.name, kind: "integration" });
    const { entries } = (await server.admin("GET", `/admin/v1/audit?${query}`)).body;
    const details = { type: "events", status: "active", schedule: null, warehouse: "postgres one" };
    const one = "/admin/v1/workspaces/:name/integrations/:integration_id";
    assert.deepEqual(
      entries.map((each: any) => [each.action, each.name, each.call, each.details]),
      [
        ["removed", "CRM", `DELETE ${one}`, null],
        ["updated", "CRM", `PUT ${one}`, { ...details, schedule: "0 4 * * *" }],
        ["created", "CRM", "POST /admin/v1/apply", details],
      ],
    );
    assert.doesNotMatch(JSON.stringify(entries), /hush|reader/);
  });
});

describe("an invalid integration", () => {
  test("an invalid or duplicate integration is refused with the reason, and none is added", async () => {
    const workspace = await server.workspace();
    const path = pathOf(workspace, randomUUID());
    await server.admin("PUT", path, EVENTS);
    const cases: [change: object, status: number, rule: RegExp][] = [
      [{ name: undefined }, 400, /'name'/],
      [{ name: "a\0b" }, 400, /name/],
      [{ type: "catalogs" }, 400, /'type' must be one of/],
      [{ schedule: "daily" }, 400, /'schedule' must be a cron expression/],
      [
        { schedule_time_zone: "Berlin" },
        400,
        /'schedule_time_zone' must be the name of a time zone/,
      ],
      [
        { schedule_time_zone: "+02:00" },
        400,
        /'schedule_time_zone' must be the name of a time zone/,
      ],
      [{ warehouse: { type: "oracle" } }, 400, /warehouse/],
      [{ warehouse: { type: "files", url: "/data/" } }, 400, /needs a 'format'/],
      [{ id: randomUUID() }, 400, /'id'/],
    ];
    for (const [change, status, rule] of cases) {
      const answer = await server.admin("PUT", path, { ...EVENTS, ...change });
      assert.equal(answer.status, status, JSON.stringify(change));
      assert.match(answer.body.message, rule);
    }
    const other = await server.admin("PUT", pathOf(workspace, randomUUID()), EVENTS);
    assert.deepEqual([other.status, /same name/.test(other.body.message)], [409, true]);
    const malformed = await server.admin("PUT", pathOf(workspace, "crm"), EVENTS);
    assert.deepEqual([malformed.status, malformed.body.message], [400, "Invalid integration ID"]);
    assert.equal((await server.admin("GET", pathOf(workspace))).body.integrations.length, 1);
    const nowhere = `/admin/v1/workspaces/nowhere/integrations`;
    assert.equal((await server.admin("GET", nowhere)).status, 404);
    assert.equal((await server.admin("PUT", `${nowhere}/${randomUUID()}`, EVENTS)).status, 404);
  });
});
