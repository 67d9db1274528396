/*
 * The results of a warehouse's rows: a sync from a real PostgreSQL, read back through the API.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NEWSLETTER, startServer } from "../harness.ts";
import { startIntegration } from "../sync-runs.ts";
import { startWarehouse } from "../warehouse.ts";

const server = await startServer();
const warehouse = await startWarehouse();

let tables = 0;

/** Makes a table with rows, and an integration that reads it. */
async function startTable(columns: string, rows: readonly string[], declared: object = {}) {
  const table = `t${++tables}`;
  await warehouse.run(`create table ${table} (${columns})`);
  for (const row of rows) await warehouse.run(`insert into ${table} values (${row})`);
  const integration = await startIntegration(server, {
    warehouse: { type: "postgres", url: warehouse.url, table },
    ...declared,
  });
  return { ...integration, table };
}

const TIMED = "updated_at timestamptz, external_id text, payload text";
const AT = "'2026-01-01 12:00:00+00'";

describe("attribute rows", () => {
  test("attribute rows change users in the same way as attributes objects", async () => {
    const { workspace, syncWithLog } = await startTable(TIMED, [
      `${AT}, 'ada', '{"first_name":"Ada","plan":"gold","logins":{"inc":2},"tags":["a"]}'`,
      `${AT}, 'bob', '{"email":"bob@example.com","subscription_groups":
        [{"subscription_group_id":"${NEWSLETTER}","subscription_state":"subscribed"}]}'`,
    ]);
    await workspace.track({ attributes: [{ external_id: "ada", logins: 3, old: true }] });
    const { run, rows } = await syncWithLog();
    assert.deepEqual(
      [run.job_status, run.rows_synced, run.rows_failed_with_errors, rows],
      ["success", 2, 0, []],
    );
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.equal(ada.first_name, "Ada");
    assert.deepEqual(ada.custom_attributes, { plan: "gold", logins: 5, tags: ["a"], old: true });
    const bob = await workspace.profile({ email_address: "BOB@example.com" });
    assert.equal(bob.external_id, "bob");
    assert.equal(bob.subscription_groups[0].status, "subscribed");
  });

  test("a number that names users has one spelling: 42 and 42.00 are one user, and digits after the point stay", async () => {
    const { workspace, syncWithLog } = await startTable(
      "updated_at timestamptz, external_id numeric, payload text",
      [
        `${AT}, 42, '{"a":1}'`,
        `${AT}, 42.00, '{"b":1}'`,
        `${AT}, 42.50, '{"c":1}'`,
        `${AT}, 100, '{"d":1}'`,
        `${AT}, 12345678901234567890.000, '{"e":1}'`,
      ],
    );
    const { run, rows } = await syncWithLog();
    assert.deepEqual([run.job_status, run.rows_synced, rows], ["success", 5, []]);
    const names = ["42", "42.5", "100", "12345678901234567890", "42.00", "42.50", "1"];
    const users = await workspace.profiles({ external_ids: names });
    const found = users.map((user) => [user.external_id, user.custom_attributes]);
    assert.deepEqual(Object.fromEntries(found), {
      "42": { a: 1, b: 1 },
      "42.5": { c: 1 },
      "100": { d: 1 },
      "12345678901234567890": { e: 1 },
    });
  });

  test("a whole number names users as it is; one with digits after the point by its type is refused with the column", async () => {
    const whole = await startTable(
      "updated_at timestamptz, external_id numeric(12, 0), payload text",
      [`${AT}, 42, '{"a":1}'`, `${AT}, 100, '{"b":1}'`],
    );
    assert.equal((await whole.sync()).job_status, "success");
    const users = await whole.workspace.profiles({ external_ids: ["42", "100"] });
    assert.equal(users.length, 2);
    const cents = await startTable(
      "updated_at timestamptz, external_id numeric(10, 2), payload text",
      [`${AT}, 42, '{"a":1}'`],
    );
    const run = await cents.sync();
    assert.equal(run.job_status, "config_error");
    assert.match(run.message ?? "", /external_id/i);
    assert.deepEqual(await cents.workspace.profiles({ external_ids: ["42", "42.00"] }), []);
  });

  test("the change feed has the end of a sync after the sync's changes", async () => {
    const { workspace, id, table, sync } = await startTable(TIMED, [
      `${AT}, 'ada', '{"plan":"gold"}'`,
      `${AT}, 'bob', '{"email":5}'`,
    ]);
    const settings = `/admin/v1/workspaces/${workspace.name}/settings`;
    const before = (await server.admin("GET", settings)).body.settings;
    await server.admin("PUT", settings, { ...before, change_feed: true });
    const done = await sync();
    await warehouse.run(`drop table ${table}`);
    const failed = await sync();
    const types = "types=user.created,sync.finished";
    const { status, body } = await workspace.call<any>("GET", `/changes?cursor=beginning&${types}`);
    assert.equal(status, 200);
    const [created, ...ends] = body.changes;
    assert.equal(created.user.external_id, "ada");
    const end = { type: "sync.finished", integration_id: id };
    assert.deepEqual(
      ends.map(({ id: _id, at: _at, ...facts }: any) => facts),
      [
        { ...end, run_id: done.run_id, status: "partial", rows_synced: 1, rows_failed: 1 },
        { ...end, run_id: failed.run_id, status: "config_error", rows_synced: 0, rows_failed: 0 },
      ],
    );
  });

  test("a subscription change by a sync is recorded in the history with the id of the run", async () => {
    const { workspace, sync } = await startTable(TIMED, [
      `${AT}, 'bob', '{"subscription_groups":
        [{"subscription_group_id":"${NEWSLETTER}","subscription_state":"subscribed"}]}'`,
    ]);
    const run = await sync();
    const path = `/admin/v1/workspaces/${workspace.name}/subscription-history`;
    const { changes } = (await server.admin("GET", path)).body;
    assert.deepEqual(
      changes.map((each: any) => [each.external_id, each.call, each.key_name, each.request_id]),
      [["bob", "cdi.sync", null, run.run_id]],
    );
  });

  test("a row can identify its user by alias, platform_id, email or phone", async () => {
    const columns =
      "updated_at timestamp, ALIAS_NAME text, alias_label text, BRAZE_ID text, email text, phone text, payload jsonb";
    const { workspace, table, sync } = await startTable(columns, []);
    await workspace.track({ attributes: [{ external_id: "known", n: 0 }] });
    const known = await workspace.profile({ external_ids: ["known"] });
    await warehouse.run(`insert into ${table} values
      (${AT}, 'a', 'crm', null, null, null, '{"n":1,"_update_existing_only":false}'),
      (${AT}, null, null, '${known.platform_id}', null, null, '{"n":2}'),
      (${AT}, null, null, null, 'Eve@Example.com', null, '{"n":3}'),
      (${AT}, null, null, null, null, '+4915112345678', '{"n":4}')`);
    assert.equal((await sync()).job_status, "success");
    const ns = await Promise.all(
      [
        { user_aliases: [{ alias_name: "a", alias_label: "crm" }] },
        { external_ids: ["known"] },
        { email_address: "eve@example.com" },
        { phone: "+4915112345678" },
      ].map(async (request) => (await workspace.profile(request)).custom_attributes.n),
    );
    assert.deepEqual(ns, [1, 2, 3, 4]);
  });

  test("rows are applied in the order of UPDATED_AT", async () => {
    const rows = Array.from({ length: 20 }, (_, index) => {
      const day = ((index * 7) % 20) + 1;
      return `'2026-01-${String(day).padStart(2, "0")}', 'ada', '{"day":${day}}'`;
    });
    const { workspace, sync } = await startTable(TIMED, rows);
    await sync();
    const { custom_attributes } = await workspace.profile({ external_ids: ["ada"] });
    assert.equal(custom_attributes.day, 20);
  });

  test("a row without effect counts as synced and is logged with the reason", async () => {
    const { syncWithLog, workspace } = await startTable(TIMED, [
      `${AT}, 'nobody', '{"n":1,"_update_existing_only":true}'`,
    ]);
    const { run, rows } = await syncWithLog();
    assert.deepEqual(
      [run.job_status, run.rows_synced, run.rows_skipped, run.rows_failed_with_errors],
      ["success", 1, 1, 0],
    );
    assert.deepEqual(
      [rows[0]?.outcome, rows[0]?.code, rows[0]?.identity],
      ["skipped", "USER_NOT_FOUND", { external_id: "nobody" }],
    );
    assert.deepEqual(await workspace.profiles({ external_ids: ["nobody"] }), []);
  });
});

describe("event rows", () => {
  test("each event row becomes a separate event, at UPDATED_AT if its payload has no time", async () => {
    const { workspace, sync } = await startTable(
      TIMED,
      [
        `${AT}, 'ada', '{"name":"seen"}'`,
        `${AT}, 'ada', '{"name":"seen"}'`,
        `${AT}, 'ada', '{"name":"bought","time":"2025-05-05T05:05:05Z","properties":{"n":1}}'`,
      ],
      { type: "events" },
    );
    assert.equal((await sync()).rows_synced, 3);
    const { custom_events } = await workspace.profile({ external_ids: ["ada"] });
    const seen = { first: "2026-01-01T12:00:00.000Z", last: "2026-01-01T12:00:00.000Z" };
    const bought = { first: "2025-05-05T05:05:05.000Z", last: "2025-05-05T05:05:05.000Z" };
    assert.deepEqual(custom_events, [
      { name: "bought", ...bought, count: 1 },
      { name: "seen", ...seen, count: 2 },
    ]);
  });

  test("an event row with an email and a phone belongs to the email", async () => {
    const { workspace, sync } = await startTable(
      "updated_at timestamptz, email text, phone text, payload text",
      [`${AT}, 'ada@example.com', '+4915112345678', '{"name":"seen"}'`],
      { type: "events" },
    );
    assert.equal((await sync()).job_status, "success");
    const ada = await workspace.profile({ email_address: "ada@example.com" });
    assert.deepEqual([ada.custom_events[0].count, ada.phone], [1, null]);
  });
});

describe("purchase rows", () => {
  test("purchase rows become purchases whose amounts are summed exactly", async () => {
    const { workspace, sync } = await startTable(
      TIMED,
      [
        `${AT}, 'ada', '{"product_id":"tea","currency":"EUR","price":0.1,"quantity":3}'`,
        `${AT}, 'ada', '{"product_id":"tea","currency":"EUR","price":0.2}'`,
      ],
      { type: "purchases" },
    );
    assert.equal((await sync()).rows_synced, 2);
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.deepEqual([ada.purchases[0].count, ada.total_revenue], [4, 0.5]);
  });
});

describe("a source table", () => {
  test("a source may be a table or a view, with names in any case or quoting and with further columns", async () => {
    await warehouse.run(`create schema "Crm Data";
      create table "Crm Data"."Users" ("Extra" int, "UPDATED_AT" date, "External_Id" bigint, "PAYLOAD" json);
      insert into "Crm Data"."Users" values (1, '2026-01-01', 7, '{"n":1}');
      create view user_view as select * from "Crm Data"."Users"`);
    for (const table of ['"Crm Data"."Users"', "public.user_view"]) {
      const { workspace, sync } = await startIntegration(server, {
        warehouse: { type: "postgres", url: warehouse.url, table },
      });
      assert.equal((await sync()).job_status, "success");
      const profile = await workspace.profile({ external_ids: ["7"] });
      assert.deepEqual(profile.custom_attributes, { n: 1 });
    }
  });

  test("the statements for Redshift read a table in PostgreSQL", async () => {
    const { table } = await startTable(TIMED, [`${AT}, 'ada', '{"n":1}'`, `null, 'bob', '{}'`]);
    const { syncWithLog, workspace } = await startIntegration(server, {
      warehouse: { type: "redshift", url: warehouse.url, table },
    });
    const { run, rows } = await syncWithLog();
    assert.deepEqual([run.job_status, rows[0]?.identity], ["partial", { external_id: "bob" }]);
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.deepEqual(ada.custom_attributes, { n: 1 });
  });

  test("UPDATED_AT is read to the microsecond, and in UTC if it has no zone", async () => {
    // A warehouse in another zone: what is said of UTC must not hold by chance.
    const setZone = (zone: string) =>
      warehouse.run(`set timezone to ${zone}; do $$ begin
        execute format($f$alter database %I set timezone to ${zone}$f$, current_database()); end $$`);
    await setZone("'Asia/Kolkata'");
    const columns = (type: string) => `updated_at ${type}, external_id text, payload text`;
    for (const [type, written, read] of [
      ["timestamp", "2026-01-01 12:00:00.000001", "2026-01-01T12:00:00.000001Z"],
      ["timestamptz", "2026-01-01 12:00:00.000001", "2026-01-01T06:30:00.000001Z"],
      ["date", "2026-01-01", "2026-01-01T00:00:00.000000Z"],
    ] as const) {
      const { sync } = await startTable(columns(type), [`'${written}', 'a', '{"n":1}'`]);
      assert.equal((await sync()).last_timestamp_synced, read, type);
    }
    await setZone("default");
  });

  test("a table with more rows than one transaction holds is synced completely", async () => {
    const { workspace, sync, table } = await startTable(TIMED, [], { type: "events" });
    await warehouse.run(`insert into ${table}
      select timestamptz ${AT} + (i / 100) * interval '1 second', 'u' || i % 10, '{"name":"e"}'
      from generate_series(0, 2499) i`);
    const run = await sync();
    assert.deepEqual([run.job_status, run.rows_read, run.rows_synced], ["success", 2_500, 2_500]);
    const users = await workspace.profiles({
      external_ids: Array.from({ length: 10 }, (_, index) => `u${index}`),
    });
    assert.deepEqual(
      users.map((user) => user.custom_events[0].count),
      Array.from({ length: 10 }, () => 250),
    );
  });
});
