/* The ends of rows in the files that a sync reads, for any values. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import { AWKWARD_TEXT, LONG_ATTRIBUTES } from "../../awkward-text.ts";
import { startServer } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { startIntegration } from "../../sync-runs.ts";

const server = await startServer();
const folder = await temporaryFolder();
const duckdb = await (await DuckDBInstance.create(":memory:")).connect();

const inFolder = (name: string) => join(folder, name);

test("separators, control characters, byte order marks and long lines are part of a value in files of every format", async () => {
  const users = [
    { external_id: "r1", note: AWKWARD_TEXT },
    { external_id: `r2${AWKWARD_TEXT.slice(1, 20)}`, note: "\u2029" },
    { external_id: "r3", ...LONG_ATTRIBUTES },
  ];
  const rows = users.map(({ external_id, ...payload }, index) => [
    `2026-01-01T12:00:0${index}Z`,
    external_id,
    JSON.stringify(payload),
  ]);
  const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const header = "UPDATED_AT,EXTERNAL_ID,PAYLOAD";
  const csv = [header, ...rows.map((row) => row.map(cell).join(","))];
  const ndjson = rows.map(([updated_at, external_id, payload]) =>
    JSON.stringify({ updated_at, external_id, payload }),
  );
  await writeFile(inFolder("lines.csv"), `\uFEFF${csv.join("\n")}`);
  await writeFile(inFolder("lines-crlf.csv"), `${csv.join("\r\n")}\r\n`);
  await writeFile(inFolder("lines.ndjson"), ndjson.join("\n"));
  await writeFile(inFolder("lines-crlf.ndjson"), `${ndjson.join("\r\n")}\r\n`);
  await writeFile(inFolder("marked.ndjson"), `\uFEFF${ndjson.join("\n")}`);
  await writeFile(inFolder("marked.ndjson.gz"), gzipSync(`\uFEFF${ndjson.join("\n")}`));
  await duckdb.run(
    `copy (from read_csv('${inFolder("lines.csv")}', all_varchar = true))
     to '${inFolder("lines.parquet")}' (format parquet)`,
  );
  const names = [
    "lines.csv",
    "lines-crlf.csv",
    "lines.ndjson",
    "lines-crlf.ndjson",
    "marked.ndjson",
    "marked.ndjson.gz",
    "lines.parquet",
  ];
  for (const name of names) await checkSynced(name);

  async function checkSynced(name: string): Promise<void> {
    const warehouse = { type: "files", url: inFolder(name) };
    const integration = await startIntegration(server, { warehouse });
    const { run, rows: log } = await integration.syncWithLog();
    assert.deepEqual([run.job_status, run.rows_synced, log], ["success", 3, []], name);
    const ids = users.map((user) => user.external_id);
    const found = await integration.workspace.profiles({ external_ids: ids });
    assert.deepEqual(
      Object.fromEntries(found.map((user) => [user.external_id, user.custom_attributes])),
      Object.fromEntries(users.map(({ external_id, ...attributes }) => [external_id, attributes])),
      name,
    );
  }
});
