/*
 * Syncs from real files: Parquet, CSV and newline-delimited JSON, on a disk and on a storage that speaks
 * S3's protocol.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import { startServer } from "../../harness.ts";
import { ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY, startStorage } from "../../s3-server.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { startIntegration } from "../../sync-runs.ts";

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

describe("a Parquet file", () => {
  test("a Parquet file is synced with microsecond timestamps and with whole numbers as external ids", async () => {
    const path = inFolder("users.parquet");
    await writeParquet(
      path,
      `select * from (values
        (timestamp '2026-01-01 12:00:00.000001', 7::bigint, '{"n":1}', 'other'),
        (timestamp '2026-01-01 12:00:00.000002', 8::bigint, '{"n":2}', 'other'))
        as users ("UPDATED_AT", "External_Id", payload, extra)`,
    );
    const integration = await startFiles(path);
    const run = await integration.sync();
    assert.deepEqual(
      [run.job_status, run.rows_synced, run.last_timestamp_synced],
      ["success", 2, "2026-01-01T12:00:00.000002Z"],
    );
    assert.deepEqual(await attributesOf(integration, "7", "8"), { 7: { n: 1 }, 8: { n: 2 } });
    assert.equal((await integration.sync()).rows_read, 1);
    assert.equal((await integration.sync()).rows_synced, 0);
  });

  test("a Parquet file with unsuitable columns ends the run as config_error", async () => {
    const cases: [columns: string, rule: RegExp][] = [
      ["1 as external_id, '{}' as payload", /no column UPDATED_AT/],
      ["5 as updated_at, 1 as external_id, '{}' as payload", /UPDATED_AT is not a date/],
      ["now() as updated_at, 1.5::double as external_id, '{}' as payload", /whole numbers/],
      [
        "now() as updated_at, 1 as external_id, {'n': 1} as payload",
        /PAYLOAD must be JSON as text/,
      ],
    ];
    for (const [index, [columns, rule]] of cases.entries()) {
      const path = inFolder(`unfit-${index}.parquet`);
      await writeParquet(path, `select ${columns}`);
      const run = await (await startFiles(path)).sync();
      assert.equal(run.job_status, "config_error");
      assert.match(run.message ?? "", rule);
    }
  });

  test("an invalid Parquet file ends the run as config_error, in words that are not the library's", async () => {
    const path = inFolder("none.parquet");
    for (const content of ["no parquet", `PAR1${"x".repeat(40)}PAR1`]) {
      await writeFile(path, content);
      const run = await (await startFiles(path)).sync();
      assert.deepEqual(
        [run.job_status, run.message],
        ["config_error", "none.parquet cannot be read: it is no Parquet file, or was cut off."],
      );
    }
    const packed = inFolder("packed.csv.gz");
    await writeFile(packed, "updated_at,external_id,payload\n");
    const run = await (await startFiles(packed)).sync();
    assert.match(
      run.message ?? "",
      /packed\.csv\.gz cannot be read: it is not compressed with gzip/,
    );
    assert.doesNotMatch(run.message ?? "", /Error:/);
  });
});

describe("a CSV file", () => {
  test("a CSV file is read as text: ids keep leading zeros, payloads keep quotes and line breaks", async () => {
    const path = inFolder("users.csv");
    await writeFile(
      path,
      [
        "EXTERNAL_ID,PAYLOAD,UPDATED_AT,NOTE",
        '007,"{""n"":1,\n""text"":""one, two""}",2026-01-01T12:00:00+02:00,x',
        '"1e3","{""n"":2}",2026-01-01 12:00:00.5,',
        "",
      ].join("\n"),
    );
    const integration = await startFiles(path);
    const { run, rows } = await integration.syncWithLog();
    assert.deepEqual([run.job_status, rows], ["success", []]);
    assert.equal(run.last_timestamp_synced, "2026-01-01T12:00:00.500000Z");
    assert.deepEqual(await attributesOf(integration, "007", "1e3"), {
      "007": { n: 1, text: "one, two" },
      "1e3": { n: 2 },
    });
  });

  test("every CSV line that cannot be read is logged, and the other lines are synced", async () => {
    const path = inFolder("broken.csv");
    const lines = Array.from({ length: 3_000 }, (_, index) => `2026-01-01,u${index},"{""n"":1}"`);
    lines[1_500] = "2026-01-01,short";
    lines[1_600] = "2026-01-01,unquoted,{a:1,b:2}";
    lines[1_700] = 'yesterday,untimely,"{""n"":1}"';
    lines[1_800] = '2026-01-01,,"{""n"":1}"';
    await writeFile(path, ["UPDATED_AT,EXTERNAL_ID,PAYLOAD", ...lines].join("\n"));
    const { run, rows } = await (await startFiles(path)).syncWithLog();
    assert.deepEqual(
      [run.job_status, run.rows_synced, run.rows_failed_with_errors],
      ["partial", 2_996, 4],
    );
    assert.deepEqual(
      rows.map(({ identity, updated_at, code }) => [identity, updated_at, code]),
      [
        [{}, "2026-01-01T00:00:00.000000Z", "MISSING_IDENTIFIER"],
        [{ external_id: "untimely" }, "yesterday", "INVALID_UPDATED_AT"],
        [{ file: "broken.csv", line: "1502" }, null, "BROKEN_LINE"],
        [{ file: "broken.csv", line: "1602" }, null, "BROKEN_LINE"],
      ],
    );
  });

  test("a CSV file with an unreadable header line ends the run as config_error", async () => {
    const path = inFolder("wide.csv");
    const names = Array.from({ length: 1_200 }, (_, index) => `c${index}`);
    await writeFile(path, `UPDATED_AT,EXTERNAL_ID,PAYLOAD,${names.join(",")}\n`);
    const run = await (await startFiles(path)).sync();
    assert.deepEqual(
      [run.job_status, run.message],
      ["config_error", "The first line of wide.csv cannot be read, or has more than 500 columns."],
    );
  });

  test("an empty CSV file gives a successful run", async () => {
    const path = inFolder("empty.csv");
    await writeFile(path, "");
    assert.equal((await (await startFiles(path)).sync()).job_status, "success");
  });

  test("a CSV file is found by its literal name even if it contains glob characters or quotes", async () => {
    for (const name of ["b1.csv", "[ab]?*'.csv"]) {
      await writeFile(
        inFolder(name),
        `UPDATED_AT,EXTERNAL_ID,PAYLOAD\n2026-01-01,"${name}","{""n"":1}"\n`,
      );
    }
    const integration = await startFiles(inFolder("[ab]?*'.csv"));
    assert.equal((await integration.sync()).rows_synced, 1);
    assert.deepEqual(await attributesOf(integration, "[ab]?*'.csv"), { "[ab]?*'.csv": { n: 1 } });
  });

  test("a CSV row with a payload over 1 MB is logged as failed, and the other rows are synced", async () => {
    const path = inFolder("large.csv");
    const large = `{""a"":""${"x".repeat(1_048_576)}""}`;
    const lines = [`2026-01-01,large,"${large}"`, '2026-01-02,small,"{""n"":1}"'];
    await writeFile(path, ["UPDATED_AT,EXTERNAL_ID,PAYLOAD", ...lines].join("\n"));
    const { run, rows } = await (await startFiles(path)).syncWithLog();
    assert.deepEqual(
      [run.rows_synced, rows[0]?.identity.external_id, rows[0]?.code, rows[0]?.message],
      [1, "large", "PAYLOAD_TOO_LARGE", "Payload was greater than 1MB"],
    );
  });
});

describe("a newline-delimited JSON file", () => {
  test("a newline-delimited JSON file accepts payloads as objects and as text, and adds no nulls to them", async () => {
    const path = inFolder("users.ndjson.gz");
    const lines = [
      { updated_at: "2026-01-01T12:00:00Z", external_id: "a", payload: { n: 1, gone: null } },
      { updated_at: "2026-01-01T12:00:01Z", external_id: "b", payload: '{"text":"x"}', more: [1] },
    ];
    await writeFile(path, gzipSync(lines.map((line) => JSON.stringify(line)).join("\n")));
    const integration = await startFiles(path);
    await integration.workspace.track({
      attributes: [
        { external_id: "a", gone: 1, text: "stays" },
        { external_id: "b", gone: 1 },
      ],
    });
    assert.equal((await integration.sync()).job_status, "success");
    assert.deepEqual(await attributesOf(integration, "a", "b"), {
      a: { n: 1, text: "stays" },
      b: { text: "x", gone: 1 },
    });
  });

  test("every line that is not a JSON object is logged, and the other lines are synced", async () => {
    const path = inFolder("broken.jsonl");
    const good = { UPDATED_AT: "2026-01-01", EXTERNAL_ID: 7, PAYLOAD: { n: 1 } };
    await writeFile(path, [JSON.stringify(good), "{broken", "[1]", "7"].join("\n"));
    const { run, rows } = await (await startFiles(path)).syncWithLog();
    assert.deepEqual(
      [run.job_status, run.rows_synced, run.rows_failed_with_errors],
      ["partial", 1, 3],
    );
    assert.deepEqual(new Set(rows.map((row) => row.code)), new Set(["INVALID_UPDATED_AT"]));
  });

  test("an empty newline-delimited JSON file gives a successful run", async () => {
    const path = inFolder("empty.ndjson");
    for (const content of ["", "\n \n\t\r\n"]) {
      await writeFile(path, content);
      assert.equal((await (await startFiles(path)).sync()).job_status, "success");
    }
  });
});

describe("a folder", () => {
  test("a folder is synced with all matching files below it, including files added between runs", async () => {
    const path = inFolder("many");
    await mkdir(join(path, "below"), { recursive: true });
    const csv = (...lines: string[]) => ["updated_at,external_id,payload", ...lines].join("\n");
    await writeFile(join(path, "b.csv"), csv('2026-01-02,u,"{""b"":1,""last"":""b""}"'));
    await writeFile(
      join(path, "below", "a.csv"),
      ["payload,external_id,updated_at", '"{""a"":1,""last"":""a""}",u,2026-01-01'].join("\n"),
    );
    await writeFile(join(path, "readme.txt"), "no rows");
    const warehouse = { type: "files", url: `${path}/`, format: "csv" };
    const integration = await startIntegration(server, { warehouse });
    assert.equal((await integration.sync()).rows_synced, 2);
    await writeFile(join(path, "c.csv"), csv('2026-01-03,u,"{""c"":1}"'));
    assert.equal((await integration.sync()).rows_synced, 1);
    const expected = { u: { a: 1, b: 1, c: 1, last: "b" } };
    assert.deepEqual(await attributesOf(integration, "u"), expected);
    await rm(path, { recursive: true });
    const run = await integration.sync();
    assert.equal(run.job_status, "config_error");
    assert.match(run.message ?? "", /There is no file or folder/);
  });

  test("a folder without matching files gives a successful run that says so", async () => {
    const path = inFolder("nothing");
    await mkdir(path);
    const warehouse = { type: "files", url: path, format: "parquet" };
    const run = await (await startIntegration(server, { warehouse })).sync();
    assert.deepEqual([run.job_status, run.message], ["success", "There is no file to read."]);
  });

  test("a folder without a declared format is refused", async () => {
    await assert.rejects(startFiles(inFolder("many/")), /warehouse' needs a 'format'/);
  });
});

describe("temporary files of a sync", () => {
  test("a sync removes the temporary files of a killed process, and not those of a running one", async () => {
    const { pid: killed } = spawnSync(process.execPath, ["--version"]);
    const folderOf = (pid: number) => join(tmpdir(), `rapport-sync-${hostname()}-${pid}-copied`);
    const running = process.ppid;
    for (const pid of [killed, running]) {
      await mkdir(folderOf(pid), { recursive: true });
      await writeFile(join(folderOf(pid), "users.csv"), "copied");
    }
    const source = inFolder("small.csv");
    await writeFile(source, "UPDATED_AT,EXTERNAL_ID,PAYLOAD\n2026-01-01T00:00:00Z,ada,{}\n");
    assert.equal((await (await startFiles(source)).sync()).job_status, "success");
    assert.deepEqual(
      [killed, running].map((pid) => existsSync(folderOf(pid))),
      [false, true],
    );
    await rm(folderOf(running), { recursive: true });
  });
});

describe("an S3-compatible storage", () => {
  const ROWS = "select timestamptz '2026-01-01 12:00:00+00' as updated_at, 'u' as external_id";

  test("an S3 prefix is synced like a folder: with signed requests, pagination and any object names", async () => {
    const storage = await startStorage();
    const names = [
      "in/a b+c*[1].parquet",
      "in/ü/d%2.parquet",
      "in/e.parquet",
      "in/f.parquet",
      "g.parquet",
    ];
    for (const [index, name] of names.entries()) {
      const path = inFolder("copy.parquet");
      await writeParquet(path, `${ROWS}, '{"n${index}":1}' as payload`);
      storage.objects.set(name, await readFile(path));
    }
    const integration = await startIntegration(server, {
      warehouse: {
        type: "s3",
        url: "s3://crm/in/",
        format: "parquet",
        endpoint: storage.endpoint,
        region: REGION,
        access_key_id: ACCESS_KEY_ID,
        secret_access_key: SECRET_ACCESS_KEY,
      },
    });
    const run = await integration.sync();
    assert.deepEqual([run.message, run.job_status, run.rows_synced], [null, "success", 4]);
    assert.deepEqual(await attributesOf(integration, "u"), { u: { n0: 1, n1: 1, n2: 1, n3: 1 } });
  });

  test("an S3 refusal ends the run as config_error, and an unreachable storage ends it as error", async () => {
    const storage = await startStorage();
    const warehouse = {
      type: "s3",
      url: "s3://crm/users.csv",
      endpoint: storage.endpoint,
      region: REGION,
      access_key_id: ACCESS_KEY_ID,
      secret_access_key: SECRET_ACCESS_KEY,
    };
    const cases: [change: object, status: string, message: RegExp][] = [
      [{}, "config_error", /refuses s3:\/\/crm\/users\.csv: NoSuchKey/],
      [{ url: "s3://other/users.csv" }, "config_error", /NoSuchBucket/],
      [{ secret_access_key: "wrong" }, "config_error", /SignatureDoesNotMatch/],
      [{ endpoint: "http://127.0.0.1:1" }, "error", /The source failed/],
    ];
    for (const [change, status, message] of cases) {
      const integration = await startIntegration(server, {
        warehouse: { ...warehouse, ...change },
      });
      const run = await integration.sync();
      assert.equal(run.job_status, status);
      assert.match(run.message ?? "", message);
    }
  });

  test("an S3 storage that repeats a listing page or exceeds 20 GB ends the run with a clear message", async () => {
    const storage = await startStorage();
    storage.objects.set("in/a.csv", Buffer.from("UPDATED_AT,EXTERNAL_ID,PAYLOAD\n"));
    const warehouse = {
      type: "s3",
      url: "s3://crm/in/",
      format: "csv",
      endpoint: storage.endpoint,
      region: REGION,
      access_key_id: ACCESS_KEY_ID,
      secret_access_key: SECRET_ACCESS_KEY,
    };
    storage.faults.repeatsToken = true;
    const repeating = await (await startIntegration(server, { warehouse })).sync();
    assert.equal(repeating.job_status, "error");
    assert.match(
      repeating.message ?? "",
      /The storage repeats the same page of s3:\/\/crm\/in\/\./,
    );
    storage.faults.repeatsToken = false;
    storage.faults.announcedBytes = 30 * 1_024 ** 3;
    const large = await (await startIntegration(server, { warehouse })).sync();
    assert.equal(large.job_status, "config_error");
    assert.match(large.message ?? "", /larger than 20 GB together/);
  });
});
