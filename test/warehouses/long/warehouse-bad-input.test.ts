/*
 * A sync's report about a source that it cannot read, and about rows that it rejects: the status of
 * the run, and the log of its rows. Nothing is lost: accepted rows are applied.
 */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { describe, test } from "node:test";
import { startServer } from "../../harness.ts";
import { startIntegration } from "../../sync-runs.ts";
import { startWarehouse } from "../../warehouse.ts";

const server = await startServer();
const warehouse = await startWarehouse();

let tables = 0;

async function startTable(columns: string, values: string, declared: object = {}) {
  const table = `t${++tables}`;
  await warehouse.run(`create table ${table} (${columns});
    ${values && `insert into ${table} values ${values};`}`);
  return startIntegration(server, {
    warehouse: { type: "postgres", url: warehouse.url, table },
    ...declared,
  });
}

const TIMED = "updated_at timestamptz, external_id text, payload text";
const AT = "'2026-01-01 12:00:00+00'";
const GOOD = `(${AT}, 'good', '{"n":1}')`;

/** A port without a listener. */
async function closedPort(): Promise<number> {
  const listener = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  const { port } = listener.address() as { port: number };
  await new Promise((resolve) => listener.close(resolve));
  return port;
}

describe("what a run says about a failure of the source", () => {
  test("the error of a database is shown without the values that it quotes", async () => {
    const table = `t${++tables}`;
    await warehouse.run(`create table ${table} (at text, external_id text, payload text);
      insert into ${table} values ('xada@secret.example', 'ada', '{"n":1}');
      create view v_${table} as select at::timestamptz as updated_at, external_id, payload from ${table};`);
    const { sync } = await startIntegration(server, {
      warehouse: { type: "postgres", url: warehouse.url, table: `v_${table}` },
      retry: { attempts: 1 },
    });
    const run = await sync();
    assert.equal(run.job_status, "error");
    assert.match(run.message ?? "", /invalid input syntax for type timestamp with time zone: …/);
    assert.doesNotMatch(JSON.stringify(run), /ada@secret/);
  });
});

describe("a source that can never satisfy its integration ends the run as config_error", () => {
  const cases: [name: string, columns: string, rule: RegExp][] = [
    ["no UPDATED_AT", "external_id text, payload text", /no column UPDATED_AT/],
    [
      "an UPDATED_AT that is text",
      "updated_at text, external_id text, payload text",
      /UPDATED_AT is/,
    ],
    [
      "an UPDATED_AT that is a number",
      "updated_at int, external_id text, payload text",
      /UPDATED_/,
    ],
    ["no identifier", "updated_at timestamptz, payload text", /no column that names a user/],
    ["half an alias", "updated_at timestamptz, alias_name text, payload text", /belong together/],
    [
      "ids with fractions",
      "updated_at timestamptz, external_id float8, payload text",
      /external_id/,
    ],
    ["no PAYLOAD", "updated_at timestamptz, external_id text", /needs a column PAYLOAD/],
    [
      "a PAYLOAD of bytes",
      "updated_at timestamptz, external_id text, payload bytea",
      /PAYLOAD must/,
    ],
  ];
  for (const [name, columns, rule] of cases) {
    test(`a source with ${name} ends the run as config_error`, async () => {
      const { sync } = await startTable(columns, "");
      const run = await sync();
      assert.deepEqual([run.job_status, run.rows_synced], ["config_error", 0]);
      assert.match(run.message ?? "", rule);
    });
  }

  test("a source without the declared table ends the run as config_error without a retry", async () => {
    const { sync } = await startIntegration(server, {
      retry: { attempts: 20, delay_seconds: 3_600 },
      warehouse: { type: "postgres", url: warehouse.url, table: "nowhere" },
    });
    const run = await sync();
    assert.equal(run.job_status, "config_error");
    assert.match(run.message ?? "", /relation "nowhere" does not exist/);
  });
});

describe("a failing source", () => {
  test("an unreachable source ends the run as error without revealing its password", async () => {
    const port = await closedPort();
    const { sync, workspace, id } = await startIntegration(server, {
      retry: { attempts: 3, delay_seconds: 0 },
      warehouse: { type: "postgres", url: `postgres://u:secret@127.0.0.1:${port}/x`, table: "t" },
    });
    const run = await sync();
    assert.equal(run.job_status, "error");
    assert.match(run.message ?? "", /The source failed: .*ECONNREFUSED/);
    assert.doesNotMatch(JSON.stringify(run), /secret/);
    const { body } = await workspace.call<any>("GET", `/cdi/integrations/${id}/job_sync_status`);
    assert.deepEqual(
      body.results.map((job: any) => [job.job_status, job.rows_synced, job.last_timestamp_synced]),
      [["error", 0, null]],
    );
  });

  test("the next run succeeds once an unreachable source is reachable again", async () => {
    const integration = await startTable(TIMED, GOOD);
    const port = await closedPort();
    const table = `t${tables}`;
    const change = (url: string) =>
      integration.change({ warehouse: { type: "postgres", url, table } });
    await change(`postgres://u@127.0.0.1:${port}/x`);
    assert.equal((await integration.sync()).job_status, "error");
    await change(warehouse.url);
    const run = await integration.sync();
    assert.deepEqual([run.job_status, run.rows_synced], ["success", 1]);
  });
});

describe("a row that cannot be synced", () => {
  const MEGABYTE = 1_048_576;
  const ofSize = (bytes: number) => `'{"long":["' || repeat('x', ${bytes - 13}) || '"]}'`;
  const cases: [name: string, row: string, field: string, code: string][] = [
    ["payload that is no JSON", `${AT}, 'u', '{"a":'`, "PAYLOAD", "PAYLOAD_NOT_JSON"],
    ["payload that is an array", `${AT}, 'u', '[1]'`, "PAYLOAD", "PAYLOAD_NOT_AN_OBJECT"],
    ["payload that is null in JSON", `${AT}, 'u', 'null'`, "PAYLOAD", "PAYLOAD_NOT_AN_OBJECT"],
    ["no payload", `${AT}, 'u', null`, "PAYLOAD", "PAYLOAD_MISSING"],
    ["payload over 1 MB", `${AT}, 'u', ${ofSize(MEGABYTE + 1)}`, "PAYLOAD", "PAYLOAD_TOO_LARGE"],
    ["a value of the wrong type", `${AT}, 'u', '{"dob":7}'`, "dob", "INVALID_ATTRIBUTE"],
    ["text with NUL", `${AT}, 'u', '{"a":"\\u0000"}'`, "a", "INVALID_TEXT"],
    ["a prototype key", `${AT}, 'u', '{"__proto__":{}}'`, "__proto__", "INVALID_KEY"],
    ["an inexact number", `${AT}, 'u', '{"a":9007199254740993}'`, "a", "NUMBER_NOT_EXACT"],
    ["no identifier", `${AT}, null, '{"n":1}'`, "identifier", "MISSING_IDENTIFIER"],
    [
      "another id in the payload",
      `${AT}, 'u', '{"external_id":"v"}'`,
      "external_id",
      "IDENTIFIER_CLASH",
    ],
    [
      "an id that is too long",
      `${AT}, repeat('u', 988), '{}'`,
      "external_id",
      "EXTERNAL_USER_ID_TOO_LARGE",
    ],
    ["no UPDATED_AT", `null, 'u', '{"n":1}'`, "UPDATED_AT", "INVALID_UPDATED_AT"],
  ];
  for (const [name, row, field, code] of cases) {
    test(`a row with ${name} is logged as failed, and the other rows are synced`, async () => {
      const { syncWithLog, workspace } = await startTable(TIMED, `(${row}), ${GOOD}`);
      const { run, rows } = await syncWithLog();
      assert.deepEqual(
        [run.job_status, run.rows_synced, run.rows_failed_with_errors],
        ["partial", 1, 1],
      );
      assert.deepEqual(
        rows.map((each) => [each.outcome, each.field, each.code]),
        [["failed", field, code]],
      );
      const good = await workspace.profile({ external_ids: ["good"] });
      assert.deepEqual(good.custom_attributes, { n: 1 });
      assert.deepEqual(await workspace.profiles({ external_ids: ["u"] }), []);
    });
  }

  test("a row that conflicts with a stored value is logged as failed", async () => {
    const { syncWithLog, workspace } = await startTable(
      TIMED,
      `(${AT}, 'u', '{"a":{"inc":1}}'), ${GOOD}`,
    );
    await workspace.track({ attributes: [{ external_id: "u", a: "text" }] });
    const { run, rows } = await syncWithLog();
    assert.deepEqual([run.job_status, rows[0]?.field], ["partial", "a"]);
  });

  test("a run ends as error if every row fails", async () => {
    const { syncWithLog } = await startTable(TIMED, `(${AT}, 'u', 'x'), (${AT}, 'v', 'y')`);
    const { run, rows } = await syncWithLog();
    assert.deepEqual(
      [run.job_status, run.rows_synced, run.rows_failed_with_errors],
      ["error", 0, 2],
    );
    assert.deepEqual(
      rows.map((row) => [row.identity.external_id, row.updated_at, row.message]).sort(),
      ["u", "v"].map((id) => [id, "2026-01-01T12:00:00.000000Z", "'PAYLOAD' is not valid JSON"]),
    );
  });

  test("the log of failed rows is paginated with 100 rows per page", async () => {
    const integration = await startTable(
      TIMED,
      Array.from({ length: 250 }, (_, index) => `(${AT}, 'u${index}', 'x')`).join(),
    );
    const run = await integration.sync();
    assert.equal(run.rows_failed_with_errors, 250);
    const sizes: number[] = [];
    const seen = new Set<string>();
    let path: string | undefined = `${integration.path}/runs/${run.run_id}/rows`;
    while (path !== undefined) {
      const { headers, body } = await server.admin("GET", path);
      sizes.push(body.results.length);
      for (const row of body.results) seen.add(row.identity.external_id);
      path = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
    }
    assert.deepEqual([sizes, seen.size], [[100, 100, 50], 250]);
  });

  test("a row with a payload of exactly 1 MB is synced", async () => {
    const { sync } = await startTable(
      TIMED,
      `(${AT}, 'u', '{"name":"e","properties":{"p":"' || repeat('x', ${MEGABYTE - 37}) || '"}}')`,
      { type: "events" },
    );
    assert.equal((await sync()).job_status, "success");
  });

  test("rows of events and purchases are validated by the rules of their type", async () => {
    const events = await startTable(TIMED, `(${AT}, 'u', '{}'), (${AT}, 'u', '{"name":"e"}')`, {
      type: "events",
    });
    assert.deepEqual((await events.syncWithLog()).rows[0]?.field, "name");
    const purchases = await startTable(
      TIMED,
      `(${AT}, 'u', '{"product_id":"p","currency":"???","price":1}')`,
      { type: "purchases" },
    );
    assert.deepEqual((await purchases.syncWithLog()).rows[0]?.code, "INVALID_CURRENCY");
  });
});
