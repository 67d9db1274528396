/*
 * Warehouses over HTTP that answer what no service would: pages without an end, bombs, rows of
 * another form, links and redirects to places that they have no business with. A run fails and says
 * so, and the server continues.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { UNGUARDED } from "../../../src/core/outbound/outbound.ts";
import { createClient } from "../../../src/features/warehouses/sources/warehouse-client.ts";
import { startServer } from "../../harness.ts";
import { startIntegration } from "../../sync-runs.ts";
import { startBigQuery } from "../fakes/bigquery.ts";
import type { Reply } from "../fakes/http.ts";
import { TRIED } from "../fakes/kinds.ts";

const server = await startServer();

const SPACES = " ".repeat(80 * 1_048_576);

/** A place that nothing should ask for anything. */
const asked: string[] = [];
const secret = createServer((request, response) => {
  asked.push(`${request.url}`);
  response.end("[]");
});
await new Promise<void>((resolve) => secret.listen(0, "127.0.0.1", resolve));
after(() => secret.close());
const secretUrl = `http://127.0.0.1:${(secret.address() as { port: number }).port}/secret`;

/** A row of a page as each kind writes it. */
const rowOf = (type: string, values: readonly unknown[]) =>
  type === "bigquery" ? { f: values.map((v) => ({ v })) } : values;

/** A page as each kind writes it. */
const pageOf = (type: string, rows: readonly unknown[]) =>
  type === "bigquery" ? { jobComplete: true, rows } : type === "databricks" ? rows : { data: rows };

const TIME = { snowflake: "2026-01-01T12:00:01.000000Z", bigquery: "2026-01-01T12:00:01.000000Z" };
const timeOf = (type: string) => TIME[type as keyof typeof TIME] ?? "1767268801000000";

for (const { type, schema, page, start } of TRIED.filter(({ isHttp }) => isHttp)) {
  const fake = await start();
  const table = `${schema}events`;
  const second = type === "databricks" ? /storage\/[\w-]+\/1/ : page;
  await fake.engine.run(
    `create table ${table} as select timestamptz '2026-01-01 12:00:00Z' + to_seconds(i // 100) as UPDATED_AT,
       'u' || (i % 10) as EXTERNAL_ID, '{"name":"e"}' as PAYLOAD from range(250) t(i)`,
  );
  const good = rowOf(type, [timeOf(type), "12", '{"name":"e"}', "ada"]);
  const many = Array(1_000).fill(good);
  const early = rowOf(type, [
    type === "databricks" ? "0" : "1970-01-01T00:00:00.000000Z",
    "12",
    '{"name":"e"}',
    "ada",
  ]);
  const replies: readonly (readonly [string, Reply, RegExp])[] = [
    [
      "unpacks to 80 MB of spaces",
      { isPacked: true, body: `${type === "databricks" ? "[" : '{"data":['}${SPACES}` },
      /sends more than was asked for/,
    ],
    [
      "has more rows than were announced",
      { body: pageOf(type, many) },
      /more than was asked|after \d+ of 250 rows/,
    ],
    [
      "has a row that is none",
      { body: pageOf(type, Array(100).fill(type === "bigquery" ? null : [])) },
      /another form/,
    ],
    [
      "has a cell that is no text",
      { body: pageOf(type, Array(100).fill(rowOf(type, [timeOf(type), {}, 1, "ada"]))) },
      /another form/,
    ],
    [
      "goes back in time",
      { body: pageOf(type, Array(100).fill(early)) },
      /not in the order of UPDATED_AT/,
    ],
  ];

  for (const [what, reply, message] of replies) {
    test(`a run on ${type} whose page ${what} fails, and the next one applies each row once`, async () => {
      const { workspace, sync } = await startIntegration(server, {
        type: "events",
        warehouse: { ...fake.settings, table },
      });
      fake.faults.push({ on: second, times: 4, reply });
      const run = await sync();
      fake.faults.length = 0;
      assert.equal(run.job_status, "error", `${run.message}`);
      assert.match(`${run.message}`, message);
      assert.equal((await sync()).job_status, "success");
      const [user] = await workspace.profiles({ external_ids: ["u0"] });
      assert.equal((user as any).custom_events[0].count, 25);
    });
  }

  test(`a run on ${type} that is redirected to another place fails, and asks for nothing there`, async () => {
    const { sync } = await startIntegration(server, { warehouse: { ...fake.settings, table } });
    fake.faults.push({
      on: /./,
      times: 30,
      reply: { status: 302, headers: { location: secretUrl } },
    });
    const run = await sync();
    fake.faults.length = 0;
    assert.match(run.job_status, /error/);
    assert.deepEqual(asked, []);
  });
}

test("a run on bigquery whose pages have no rows and always another token ends", async () => {
  const fake = await startBigQuery();
  await fake.engine.run(
    `create table crm.t as select timestamptz '2026-01-01 12:00:00Z' as UPDATED_AT, 'u' as EXTERNAL_ID,
       '{"name":"e"}' as PAYLOAD from range(250)`,
  );
  const { sync } = await startIntegration(server, {
    type: "events",
    warehouse: { ...fake.settings, table: "crm.t" },
  });
  let pages = 0;
  const body = {
    jobComplete: true,
    get pageToken() {
      pages += 1;
      return `from-${pages}`;
    },
  };
  fake.faults.push({ on: /pageToken/, times: 100, reply: { body } });
  const run = await sync();
  assert.match(`${run.message}`, /BigQuery sends pages without rows/);
  assert.ok(pages < 20, `${pages}`);
});

test("a page of bigquery that lost rows on its way fails the run, and the next one applies the rest once", async () => {
  const fake = await startBigQuery();
  await fake.engine.run(
    `create table crm.t as select timestamptz '2026-01-01 12:00:00Z' as UPDATED_AT, 'u' as EXTERNAL_ID,
       '{"name":"e"}' as PAYLOAD from range(250)`,
  );
  const { workspace, sync } = await startIntegration(server, {
    type: "events",
    warehouse: { ...fake.settings, table: "crm.t" },
  });
  fake.faults.push({ on: /pageToken/, reply: { body: { jobComplete: true, rows: [] } } });
  const run = await sync();
  assert.match(`${run.message}`, /^The source failed: the result ended after 100 of 250 rows\.$/);
  assert.equal((await sync()).job_status, "success");
  const user = await workspace.profile({ external_ids: ["u"] });
  assert.equal(user.custom_events[0].count, 250);
});

test("the first page of bigquery is asked for again after a cut", async () => {
  const fake = await startBigQuery();
  await fake.engine.run(
    `create table crm.t as select timestamptz '2026-01-01 12:00:00Z' as UPDATED_AT, 'u' as EXTERNAL_ID,
       '{"name":"e"}' as PAYLOAD from range(250)`,
  );
  fake.looks = 0;
  const { sync } = await startIntegration(server, {
    type: "events",
    warehouse: { ...fake.settings, table: "crm.t" },
  });
  fake.faults.push({ on: /POST .*queries$/, isCut: true });
  const run = await sync();
  assert.deepEqual([run.job_status, run.rows_synced], ["success", 250], `${run.message}`);
});

test("a link of a warehouse on a public host reaches no private host, and stays encrypted", async () => {
  const clientOf = (base: string) =>
    createClient({
      label: "Databricks",
      base,
      signal: new AbortController().signal,
      outbound: UNGUARDED,
      authorize: async () => ({}),
      refusal: () => "busy",
    });
  const read = async (base: string, url: string) => {
    const rows = clientOf(base).rows(async () => ({ url, isLink: true }), undefined, 0);
    for await (const _page of rows);
  };
  await assert.rejects(read("http://8.8.8.8", secretUrl), /not a host that Rapport may call/);
  await assert.rejects(read("https://8.8.8.8", secretUrl), /a link that is not encrypted/);
  assert.deepEqual(asked, []);
  // The warehouse is on a private host itself.
  await read("http://127.0.0.1:1", secretUrl);
  assert.deepEqual(asked, ["/secret"]);
});
