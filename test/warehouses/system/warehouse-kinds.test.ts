/*
 * Warehouses that are read by statements: order, ties, bounds and faults, the same for each kind, against imitations that
 * execute the statements (fakes/).
 */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../harness.ts";
import { startIntegration } from "../../sync-runs.ts";
import { startDatabricks } from "../fakes/databricks.ts";
import { TRIED } from "../fakes/kinds.ts";
import { startSnowflake } from "../fakes/snowflake.ts";

const server = await startServer();

const COLUMNS = "UPDATED_AT timestamptz, EXTERNAL_ID varchar, PAYLOAD varchar";

test("a private key of snowflake may have lost its line breaks, or have them as \\n", async () => {
  const fake = await startSnowflake();
  await fake.engine.run(`create table t (${COLUMNS})`);
  for (const lost of [" ", "\\n"]) {
    const private_key = `${fake.settings.private_key}`.trim().replaceAll("\n", lost);
    const { sync } = await startIntegration(server, {
      warehouse: { ...fake.settings, private_key, table: "t" },
    });
    assert.equal((await sync()).job_status, "success");
  }
  fake.close();
});

test("a service principal of databricks gets its own token, and another one when that expires", async () => {
  const fake = await startDatabricks();
  await fake.engine.run(`create table crm.t (${COLUMNS})`);
  const { sync } = await startIntegration(server, {
    warehouse: { ...fake.principal, table: "crm.t" },
  });
  fake.faults.push({ on: /GET/, before: () => fake.expireTokens() });
  assert.equal((await sync()).job_status, "success");
  assert.equal(fake.requests.filter((each) => each.includes("/oidc/v1/token")).length, 2);
  fake.close();
});

test("a connection of databricks without a login is refused when it is declared", async () => {
  const connection = { type: "databricks", host: "dbc-1.example", path: "/sql/1.0/warehouses/a" };
  const { status, body } = await server.admin("PUT", "/admin/v1/connections/none", {
    ...connection,
    workspaces: [],
  });
  assert.equal(status, 400);
  assert.match(body.message, /needs a 'token', or a 'client_id' with its 'client_secret'/);
});

for (const { type, schema, isHttp, page, statement, statements, start } of TRIED) {
  const fake = await start();
  let tables = 0;

  const startTable = async (columns: string, rows: string, declared: object = {}) => {
    const table = `${schema}t${++tables}`;
    await fake.engine.run(`create table ${table} (${columns})`);
    if (rows) await fake.engine.run(`insert into ${table} ${rows}`);
    const integration = await startIntegration(server, {
      warehouse: { ...fake.settings, table },
      ...declared,
    });
    return { ...integration, table };
  };

  /** Events of ten users, with a hundred ties at each time. */
  const events = (from: number, count: number): string =>
    `select timestamptz '2026-01-01 12:00:00Z' + to_seconds(i // 100), 'u' || (i % 10), '{"name":"e"}'
     from range(${from}, ${from + count}) t(i)`;

  const eventCounts = async (workspace: TestWorkspace): Promise<number[]> => {
    const external_ids = Array.from({ length: 10 }, (_, index) => `u${index}`);
    const users = await workspace.profiles({ external_ids });
    return users.map((user: any) => user.custom_events?.[0]?.count ?? 0);
  };

  describe(`a ${type} warehouse`, () => {
    after(() => fake.close());

    test(`a sync from ${type} applies rows in the order of UPDATED_AT over many pages`, async () => {
      const { workspace, sync } = await startTable(
        COLUMNS,
        `select timestamptz '2026-01-01 00:00:00Z' + to_seconds(250 - i), 'ada', '{"n":' || (250 - i) || '}'
         from range(250) t(i)`,
      );
      const run = await sync();
      assert.deepEqual([run.job_status, run.rows_synced, run.message], ["success", 250, null]);
      assert.equal(run.last_timestamp_synced, "2026-01-01T00:04:10.000000Z");
      const ada = await workspace.profile({ external_ids: ["ada"] });
      assert.equal(ada.custom_attributes.n, 250);
    });

    test(`a second sync from ${type} reads late ties at the watermark and repeats none`, async () => {
      const { workspace, table, sync } = await startTable(COLUMNS, events(0, 150), {
        type: "events",
      });
      await sync();
      await fake.engine.run(`insert into ${table} ${events(150, 70)}`);
      const run = await sync();
      assert.deepEqual([run.job_status, run.rows_synced, run.rows_read], ["success", 70, 120]);
      assert.deepEqual(await eventCounts(workspace), Array(10).fill(22));
      assert.equal((await sync()).rows_synced, 0);
    });

    test(`a run on ${type} is one statement for its columns, one for its rows and one for rows without a time, which name no other column`, async () => {
      const { table, sync } = await startTable(
        `${COLUMNS}, note varchar`,
        "values (null, 'x', '{}', 'n')",
      );
      const before = fake.engine.statements.length;
      assert.equal((await sync()).rows_failed_with_errors, 1);
      const [, ...asked] = fake.engine.statements.slice(before);
      assert.equal(asked.length, statements - 1, asked.join("\n"));
      for (const text of asked) {
        assert.ok(text.includes(table.slice(schema.length)), text);
        assert.ok(!/note|\*/.test(text.replace("count(*)", "")), text);
      }
      assert.ok(!/payload/i.test(asked.at(-1) ?? ""), asked.at(-1));
    });

    test(`a run on ${type} shows the bytes that the warehouse says it has scanned, or null`, async () => {
      const { path, sync } = await startTable(COLUMNS, events(0, 150), { type: "events" });
      const { run_id } = await sync();
      const { run } = (await server.admin("GET", `${path}/runs/${run_id}`)).body;
      assert.equal(run.bytes_scanned, type === "bigquery" ? 15_000 : null);
    });

    test(`a payload of 20 MB stays in ${type}, and its row is rejected by name`, async () => {
      const { workspace, syncWithLog } = await startTable(
        COLUMNS,
        `values ('2026-01-01 12:00:00Z', 'big', '{"a":"' || repeat('x', 20000000) || '"}'),
           ('2026-01-01 12:00:00Z', repeat('y', 20000000), '{"a":1}'),
           ('2026-01-01 12:00:00Z', 'ada', '{"a":1}')`,
      );
      const { run, rows } = await syncWithLog();
      assert.deepEqual([run.job_status, run.rows_synced], ["partial", 1]);
      assert.deepEqual(
        rows.map(({ identity, code }) => [identity.external_id?.length, code]).sort(),
        [
          [3, "PAYLOAD_TOO_LARGE"],
          [1_000, "EXTERNAL_USER_ID_TOO_LARGE"],
        ].sort(),
      );
      assert.equal((await workspace.profile({ external_ids: ["ada"] })).custom_attributes.a, 1);
    });

    test(`rows of ${type} without a time or with a future one are counted and named`, async () => {
      const { syncWithLog } = await startTable(
        COLUMNS,
        "values (null, 'never', '{}'), ('2126-01-01', 'later', '{}'), (null, 'nor', '{}')",
      );
      const { run, rows } = await syncWithLog();
      assert.equal(run.rows_failed_with_errors, 2);
      assert.deepEqual(
        rows.map(({ outcome, identity, code }) => [outcome, identity.external_id, code]).sort(),
        [
          ["failed", "never", "INVALID_UPDATED_AT"],
          ["failed", "nor", "INVALID_UPDATED_AT"],
          ["waiting", "later", "UPDATED_AT_IN_FUTURE"],
        ],
      );
    });

    for (const [what, fault] of [
      ["a 429 with Retry-After", { reply: { status: 429, headers: { "retry-after": "0" } } }],
      ["a 503", { reply: { status: 503 } }],
      ["a page cut in its middle", { isCut: true }],
      [
        "a page with fewer rows than announced",
        { reply: { body: type === "databricks" ? [] : { data: [] } } },
      ],
      ["a page that comes slowly", { dripMs: 20 }],
    ] as const) {
      // A page of BigQuery does not say how many rows it has; the whole result does.
      if (type === "bigquery" && what.includes("fewer rows")) continue;
      if (!isHttp && !what.includes("slowly")) continue;
      test(`after ${what} a sync from ${type} asks for the page again and applies each row once`, async () => {
        const { workspace, sync } = await startTable(COLUMNS, events(0, 250), {
          type: "events",
        });
        fake.faults.push({ on: page, ...fault });
        const before = fake.engine.statements.length;
        const run = await sync();
        assert.deepEqual([run.job_status, run.rows_synced], ["success", 250], `${run.message}`);
        assert.deepEqual(await eventCounts(workspace), Array(10).fill(25));
        assert.equal(fake.engine.statements.length - before, statements);
        assert.equal(fake.faults.length, 0);
      });
    }

    test(`a run on ${type} that loses its pages for good says so, and the next one applies the rest once`, {
      skip: !isHttp,
    }, async () => {
      const { workspace, sync } = await startTable(COLUMNS, events(0, 250), { type: "events" });
      const busy = { status: 503, headers: { "retry-after": "0" } };
      fake.faults.push({ on: page, times: 20, reply: busy });
      const run = await sync();
      assert.equal(run.job_status, "error");
      assert.match(`${run.message}`, /^The source failed: .* is busy \(status 503\)\.$/);
      fake.faults.length = 0;
      assert.equal((await sync()).job_status, "success");
      assert.deepEqual(await eventCounts(workspace), Array(10).fill(25));
    });

    test(`a token of ${type} that expires between two pages is renewed`, {
      skip: !isHttp,
    }, async () => {
      const { sync } = await startTable(COLUMNS, events(0, 250), { type: "events" });
      const expired = type === "databricks" ? /chunks/ : page;
      fake.faults.push({ on: expired, reply: { status: 401 } });
      const run = await sync();
      assert.deepEqual([run.job_status, run.rows_synced], ["success", 250], `${run.message}`);
    });

    test(`a table of ${type} that does not exist ends the run as config_error`, async () => {
      const { sync, change } = await startTable(COLUMNS, "");
      await change({ warehouse: { ...fake.settings, table: `${schema}missing` } });
      const run = await sync();
      assert.equal(run.job_status, "config_error");
      assert.match(`${run.message}`, /exist|no such table|not authorized/i);
    });

    test(`a column of ${type} that goes while the run begins ends it as config_error`, async () => {
      const { table, sync } = await startTable(COLUMNS, events(0, 10), { type: "events" });
      // BigQuery describes a table without a statement.
      if (type !== "bigquery") fake.faults.push({ on: statement, before: () => {} });
      const drop = () => fake.engine.run(`alter table ${table} drop column PAYLOAD`);
      fake.faults.push({ on: statement, before: drop });
      const run = await sync();
      fake.faults.length = 0;
      assert.equal(run.job_status, "config_error", `${run.message}`);
      assert.match(`${run.message}`, /PAYLOAD/);
    });

    test(`a login that ${type} refuses is reported as that, and never with its secrets`, {
      skip: !isHttp,
    }, async () => {
      const { sync } = await startTable(COLUMNS, "");
      fake.faults.push({ on: /./, times: 20, reply: { status: 401, body: "no" } });
      const run = await sync();
      fake.faults.length = 0;
      assert.equal(run.job_status, "config_error");
      assert.match(`${run.message}`, /refuses the (?:login|service account)/);
    });
  });
}
