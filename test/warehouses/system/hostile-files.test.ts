/* Files that somebody else puts into the folder of a warehouse: a run fails and says so, or reads them, and the server continues. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readlinkSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import { startServer } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { startIntegration } from "../../sync-runs.ts";

const server = await startServer();
const folder = await temporaryFolder();

const formatOf = (url: string) => /\.(parquet|csv)$/.exec(url)?.[1] ?? "ndjson";

const startFiles = (url: string) =>
  startIntegration(server, { warehouse: { type: "files", url, format: formatOf(url) } });

test("a packed file that cannot be opened fails its run, and the server continues", async () => {
  const own = join(folder, "unreadable");
  await mkdir(join(own, "a.ndjson.gz"), { recursive: true });
  const run = await (await startFiles(own)).sync();
  assert.notEqual(run.job_status, "success");
  assert.equal((await server.admin("GET", "/admin/v1/workspaces")).status, 200);
});

test("a packed file is closed after a run that reads its beginning alone", {
  skip: process.platform !== "linux",
}, async () => {
  const path = join(folder, "closed.ndjson.gz");
  const line = (index: number) =>
    JSON.stringify({
      updated_at: "2026-01-01T12:00:00Z",
      external_id: `user-${index}`,
      payload: { noise: randomBytes(150).toString("base64") },
    });
  await writeFile(
    path,
    gzipSync(Array.from({ length: 2_000 }, (_, index) => line(index)).join("\n")),
  );
  const integration = await startFiles(path);
  const run = await integration.sync();
  assert.equal(run.job_status, "success", JSON.stringify(run));
  const targets = readdirSync("/proc/self/fd").map((each) => {
    try {
      return readlinkSync(`/proc/self/fd/${each}`);
    } catch {
      return "";
    }
  });
  assert.ok(!targets.includes(path));
});

const duckdb = await (await DuckDBInstance.create(":memory:")).connect();

describe("a file with another column that is called time loses no row", () => {
  for (const format of ["parquet", "csv", "ndjson"] as const) {
    test(format, async () => {
      const path = join(folder, `times.${format}`);
      const write = (rows: readonly (readonly [id: string, updatedAt: string, time: string])[]) =>
        duckdb.run(
          `copy (select id as external_id, '{"n":1}' as payload, updated_at::timestamp as updated_at, time::timestamp as time
           from (values ${rows.map((row) => `('${row.join("','")}')`).join()}) as rows (id, updated_at, time))
         to '${path}' (format ${format === "ndjson" ? "json" : format})`,
        );
      const first = ["a", "2026-01-10 00:00:00", "2026-01-10 00:00:00"] as const;
      await write([first]);
      const integration = await startFiles(path);
      assert.equal((await integration.sync()).job_status, "success");
      await write([first, ["late", "2026-01-11 00:00:00", "2026-01-05 00:00:00"]]);
      const run = await integration.sync();
      assert.equal(run.job_status, "success");
      const { custom_attributes } = await integration.workspace.profile({ external_ids: ["late"] });
      assert.deepEqual(custom_attributes, { n: 1 });
    });
  }
});
