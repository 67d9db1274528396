/* `rapport import` of a Parquet file that is killed and continued, or that is damaged at random places. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { seededRandom } from "../../../core/people/changes/random-changes.ts";
import { startServer, type TestWorkspace } from "../../../harness.ts";
import { sized } from "../../../sizes.ts";
import { temporaryFolder } from "../../../stored-rows.ts";
import { killCommandAt, runCommand } from "../../../system/child-server.ts";

const server = await startServer();
const folder = await temporaryFolder();
const admin = { ADMIN_TOKEN: server.adminToken, RAPPORT_URL: server.url };

let files = 0;
const nextPath = (extension: string): string => join(folder, `file-${++files}.${extension}`);

/** Writes the rows of a statement, as DuckDB does. */
async function parquetOf(statement: string, options = ""): Promise<string> {
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const path = nextPath("parquet");
  await connection.run(`set TimeZone = 'UTC'`);
  await connection.run(`copy (${statement}) to '${path}' (format parquet${options})`);
  connection.closeSync();
  instance.closeSync();
  return path;
}

async function copyOf(content: Uint8Array, extension = "parquet"): Promise<string> {
  const path = nextPath(extension);
  await writeFile(path, content);
  return path;
}

const importing = (kind: string, path: string, { name }: TestWorkspace, ...more: string[]) =>
  runCommand(["import", kind, path, "--workspace", name, ...more], admin);

describe("a Parquet file", { concurrency: 3 }, () => {
  test("rapport import --resume of a Parquet file continues after kills and imports every event exactly once", async () => {
    const workspace = await server.workspace();
    const path = await parquetOf(
      `select 'user ' || (n % 7) as external_id, 'opened' as name, timestamptz '2026-01-01' as time,
         to_json({'n': n}) as properties from range(12000) numbers(n)`,
      ", row_group_size 2048",
    );
    const args = ["import", "events", path, "--workspace", workspace.name];
    for (const more of [[], ["--resume"]]) {
      assert.equal((await killCommandAt([...args, ...more], admin, /rows done/)).code, null);
    }
    const { code, stdout, stderr } = await runCommand([...args, "--resume"], admin);
    assert.deepEqual([code, stdout], [0, "12,000 events imported, 0 rejected\n"], stderr);
    assert.match(stderr, /^Continuing after row \d+,000\.$/m);
    const exported = await runCommand(["export", "events", "--workspace", workspace.name], admin);
    const numbers = exported.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).properties.n);
    assert.equal(new Set(numbers).size, 12_000);
    assert.equal(numbers.length, 12_000);
  });
});

const good = await parquetOf(
  `select 'u' || n as external_id, repeat('text ', n % 50) as note, n as score
   from range(5000) numbers(n)`,
  ", row_group_size 2048",
);
const bytes = await readFile(good);

describe("a Parquet file that cannot be read", { concurrency: 3 }, () => {
  /** Refused or imported, the command ends without help, and reports the result in sentences. */
  function assertSentence({ code, stderr }: { code: number | null; stderr: string }): void {
    assert.ok(code === 0 || code === 1 || code === 2, `it ended with ${code}: ${stderr}`);
    assert.doesNotMatch(stderr, /^\s+at |INTERNAL|Stack Trace/m);
  }

  test("a Parquet file with bytes at random places changed ends in sentences, never in a crash", async () => {
    const workspace = await server.workspace();
    const random = seededRandom(39);
    // Most of the breakable parts are in the footer, at the end.
    const footer = bytes.readUInt32LE(bytes.length - 8) + 8;
    await Promise.all(
      Array.from({ length: 3 }, async () => {
        for (let turn = 0; turn < sized(3, 60); turn++) {
          const copy = Buffer.from(bytes);
          for (let change = 0; change < 8; change++) {
            const span = change % 2 ? footer : bytes.length - 4;
            copy[copy.length - 1 - Math.floor(random() * span)] = Math.floor(random() * 256);
          }
          assertSentence(await importing("users", await copyOf(copy), workspace, "--dry-run"));
        }
      }),
    );
  });
});
