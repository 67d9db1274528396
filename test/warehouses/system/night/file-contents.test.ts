/* What files of a sync hold: times in every form, columns in any case, and files without a row. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { startServer } from "../../../harness.ts";
import { temporaryFolder } from "../../../stored-rows.ts";
import { startIntegration } from "../../../sync-runs.ts";

const server = await startServer();
const folder = await temporaryFolder();

const duckdb = await (await DuckDBInstance.create(":memory:")).connect();

/** Writes the result of a query to a Parquet file. */
const writeParquet = (path: string, query: string) =>
  duckdb.run(`copy (${query}) to '${path}' (format parquet)`);

const startFiles = (url: string, declared: object = {}) =>
  startIntegration(server, { warehouse: { type: "files", url }, ...declared });

const inFolder = (...path: string[]) => join(folder, ...path);

const attributesOf = async (
  { workspace }: Awaited<ReturnType<typeof startFiles>>,
  ...external_ids: string[]
) =>
  Object.fromEntries(
    (await workspace.profiles({ external_ids })).map((user) => [
      user.external_id,
      user.custom_attributes,
    ]),
  );

test("UPDATED_AT takes every form of a time that the API takes, in every file", async () => {
  const times: [written: string, read: string][] = [
    ["2026-01-01 12:00:00.123 +0000", "2026-01-01T12:00:00.123000Z"],
    ["2026-01-01 12:00:00 Z", "2026-01-01T12:00:00.000000Z"],
    ["2026-01-01 12:00:00.123456 -0800", "2026-01-01T20:00:00.123456Z"],
    ["20260101T120001Z", "2026-01-01T12:00:01.000000Z"],
    ["2026-01-01T12:00:02:345Z", "2026-01-01T12:00:02.345000Z"],
    ["2026-001", "2026-01-01T00:00:00.000000Z"],
    ["2026-01-01 12:00:03 UTC", "2026-01-01T12:00:03.000000Z"],
    ["20260101T120004.123456+0530", "2026-01-01T06:30:04.123456Z"],
  ];
  for (const [written, read] of times) {
    for (const format of ["csv", "ndjson", "parquet"]) {
      const path = inFolder(`time.${format}`);
      if (format === "csv") {
        await writeFile(path, `updated_at,external_id,payload\n${written},a,{}\nnever,b,{}\n`);
      } else if (format === "ndjson") {
        const rows = [written, "never"].map((updated_at) => ({
          ...{ updated_at, external_id: "a", payload: {} },
        }));
        await writeFile(path, rows.map((row) => JSON.stringify(row)).join("\n"));
      } else {
        await writeParquet(
          path,
          `select unnest(['${written}', 'never']) as updated_at, 'a' as external_id, '{}' as payload`,
        );
      }
      const run = await (await startFiles(path)).sync();
      assert.deepEqual(
        [run.last_timestamp_synced, run.rows_synced, run.rows_failed_with_errors],
        [read, 1, 1],
        `${format} ${written}`,
      );
    }
  }
});
const row = { updated_at: "2026-01-01", external_id: "a", payload: {} };
for (const [what, content] of Object.entries({
  "an array on one line": JSON.stringify([row, row]),
  "an indented object": JSON.stringify(row, null, 2),
  "an indented array": JSON.stringify([row, row], null, 2),
  "a page of HTML": "<!doctype html>\n<title>502 Bad Gateway</title>\n",
  "a line that is cut off": JSON.stringify(row).slice(0, 30),
  scalars: '1\n"text"\nnull\ntrue\n',
  "objects without members": "{}\n{}\n",
  CSV: "updated_at,external_id,payload\n2026-01-01,a,{}\n",
})) {
  test(`a newline-delimited JSON file that holds ${what} fails the run, and its test says why`, async () => {
    const path = inFolder("no-rows.ndjson");
    await writeFile(path, content);
    const integration = await startFiles(path);
    const run = await integration.sync();
    assert.equal(run.job_status, "config_error");
    assert.match(run.message ?? "", /^No line of no-rows\.ndjson is a row: NDJSON has one JSON/);
    const tested = await server.admin("POST", `${integration.path}/test`);
    assert.equal(tested.body.problem, run.message);
  });
}

test("a header alone, no rows and rows that were applied before give a successful run", async () => {
  const header = inFolder("header.csv");
  await writeFile(header, "updated_at,external_id,payload\n");
  const none = inFolder("none-yet.parquet");
  await writeParquet(
    none,
    "select now() as updated_at, 'a' as external_id, '{}' as payload limit 0",
  );
  for (const path of [header, none]) {
    assert.equal((await (await startFiles(path)).sync()).job_status, "success", path);
  }
  const lines = inFolder("applied.ndjson");
  await writeFile(lines, JSON.stringify(row));
  const integration = await startFiles(lines);
  assert.equal((await integration.sync()).rows_synced, 1);
  assert.equal((await integration.sync()).job_status, "success");
});

test("lines may spell a column in any case, and one with two spellings of a column is refused", async () => {
  const path = inFolder("cases.ndjson");
  const lines = [
    '{"UPDATED_AT":"2026-01-01","external_id":"a","PayLoad":{"n":1}}',
    '{"updated_at":"2026-01-02","EXTERNAL_ID":"b","payload":"{\\"n\\":2}","no/te~":1,"No/Te~":null}',
    "{broken",
    '{"Updated_At":"2026-01-03","external_id":"c"}',
  ];
  await writeFile(path, lines.join("\n"));
  const integration = await startFiles(path);
  const run = await integration.sync();
  assert.deepEqual(
    [run.job_status, run.rows_synced, run.rows_failed_with_errors],
    ["partial", 2, 2],
  );
  assert.deepEqual(await attributesOf(integration, "a", "b"), { a: { n: 1 }, b: { n: 2 } });
  const both = inFolder("both.ndjson");
  await writeFile(both, [...lines, '{"email":"a@example.com","EMAIL":"b@example.com"}'].join("\n"));
  const refused = await (await startFiles(both)).sync();
  assert.equal(refused.job_status, "config_error");
  assert.equal(refused.message, "A line has both 'EMAIL' and 'email', which are one column.");
  const csv = inFolder("both.csv");
  await writeFile(csv, "updated_at,email,EMAIL,payload\n2026-01-01,a@example.com,,{}\n");
  const header = await (await startFiles(csv)).sync();
  assert.match(header.message ?? "", /^The first line of both.csv has both 'email' and 'EMAIL'/);
});

test("a file in UTF-16 ends the run with a sentence that says so, in every format of lines", async () => {
  const lines = `${JSON.stringify(row)}\n`.repeat(3);
  const table = "updated_at,external_id,payload\n2026-01-01,a,{}\n";
  for (const [name, text] of [
    ["utf16.ndjson", lines],
    ["utf16.csv", table],
  ] as const) {
    for (const mark of ["\uFEFF", ""]) {
      const path = inFolder(`${mark ? "marked" : "bare"}-${name}`);
      await writeFile(path, Buffer.from(`${mark}${text}`, "utf16le"));
      const run = await (await startFiles(path)).sync();
      assert.equal(run.rows_synced, 0, path);
      assert.notEqual(run.job_status, "success", path);
      assert.match(run.message ?? "", /UTF-8/, `${path}: ${run.message}`);
    }
  }
});
