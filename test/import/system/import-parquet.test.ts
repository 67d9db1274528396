/* The Parquet files that `rapport import` reads, from any program, and damaged ones. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { startServer, type TestWorkspace } from "../../harness.ts";
import { sample } from "../../sizes.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { runCommand } from "../../system/child-server.ts";

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

/** The result of a row of every type; JavaScript shows a value that was rounded. */
const EVERY_TYPE = `
  select 9007199254740991::bigint as external_id, 'Ada' as "First Name", true as vip, 0.3333333333333333::double as third,
    1.5e-7::double as tiny, 12345.67::decimal(20, 5) as amount, 9007199254740991::hugeint as largest, '' as empty,
    '=1+1' as formula, '''quoted' as quoted, [1, 2] as list, {'city': 'London', 'n': null} as address,
    map {'a': 1.5} as scores, timestamptz '2020-01-02T03:04:05.678+01' as zoned, timestamp '2020-01-02 03:04:05' as plain,
    date '2020-02-29' as day, null::integer as nothing, '{"a":[""]}'::json as document`;

describe("a Parquet file", { concurrency: 3 }, () => {
  test("a Parquet file is imported by the types of its columns, which are shown first", async () => {
    const workspace = await server.workspace();
    const path = await parquetOf(EVERY_TYPE);
    const { code, stdout, stderr } = await importing("users", path, workspace);
    assert.deepEqual([code, stdout], [0, "1 user imported, 0 rejected\n"], stderr);
    assert.match(stderr, /^ {2}First Name +→ {2}first_name +text +Ada$/m);
    assert.match(stderr, /^ {2}zoned +→ {2}zoned +time +2020-01-02T02:04:05\.678000Z$/m);
    const ada = await workspace.profile({ external_ids: ["9007199254740991"] });
    assert.equal(ada.first_name, "Ada");
    assert.deepEqual(ada.custom_attributes, {
      vip: true,
      third: 0.3333333333333333,
      tiny: 1.5e-7,
      amount: 12345.67,
      largest: 9007199254740991,
      empty: "",
      formula: "=1+1",
      quoted: "'quoted",
      list: [1, 2],
      address: { city: "London" },
      scores: { a: 1.5 },
      zoned: "2020-01-02T02:04:05.678Z",
      plain: "2020-01-02T03:04:05.000Z",
      day: "2020-02-29",
      document: { a: [""] },
    });
  });

  test("a value of a Parquet file that its column cannot have is named with its column and row, and the rest is imported", async () => {
    const workspace = await server.workspace();
    const path = await parquetOf(
      `select 'u' || n as external_id, if(n = 2, 'no json', '{"n":1}') as custom_attributes,
         if(n = 3, 'nan', '1')::double as score, if(n = 4, 'old', '36') as age,
         if(n = 5, repeat('x', 2100000), 'short') as note,
         if(n = 6, 12345678901234567.891, 1)::decimal(30, 5) as exact
       from range(1, 8) numbers(n)`,
    );
    const { code, stdout, stderr } = await importing(
      "users",
      path,
      workspace,
      ...["--type", "age=number?"],
    );
    assert.deepEqual([code, stdout], [2, "3 users imported, 4 rejected, 1 imported in part\n"]);
    assert.match(stderr, /:2: 'custom_attributes' must be JSON; .* \(COLUMN_TYPE\)$/m);
    assert.match(stderr, /:3: 'score' must be a number; .* \(COLUMN_TYPE\)$/m);
    assert.match(stderr, /:4: 'age' is not a number \(COLUMN_TYPE\)$/m);
    assert.match(stderr, /:5: the row is longer than 2000000 bytes \(LINE_TOO_LONG\)$/m);
    assert.match(stderr, /:6: 'exact' must be a number; .* \(COLUMN_TYPE\)$/m);
    const found = await workspace.profiles({ external_ids: ["u1", "u2", "u4", "u7"] });
    assert.deepEqual(
      found
        .map(({ external_id, custom_attributes }) => [external_id, custom_attributes.age])
        .sort(),
      [
        ["u1", 36],
        ["u4", undefined],
        ["u7", 36],
      ],
    );
  });

  test("rapport import --dry-run of a Parquet file imports nothing, and --map puts its columns elsewhere", async () => {
    const workspace = await server.workspace();
    const path = await parquetOf(
      `select 'c-1' as customer, 'London' as city, 'x'::blob as picture, 5 as "n:text"`,
    );
    const refused = await importing("users", path, workspace, "--map", "customer=external_id");
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^rapport: The column 'picture' of \S+ has the type BLOB, /m);
    const args = [
      "--map",
      "customer=external_id",
      "--map",
      "city=address.city",
      "--map",
      "picture=",
    ];
    const dry = await importing("users", path, workspace, ...args, "--dry-run");
    assert.deepEqual([dry.code, dry.stdout], [0, "1 user would be imported, 0 rejected\n"]);
    assert.equal((await workspace.profiles({ external_ids: ["c-1"] })).length, 0);
    const asText = [...args.slice(0, -2), "--type", "picture=text"];
    assert.equal((await importing("users", path, workspace, ...asText)).code, 0);
    const profile = await workspace.profile({ external_ids: ["c-1"] });
    assert.deepEqual(profile.custom_attributes, {
      address: { city: "London" },
      picture: "x",
      "n:text": 5,
    });
    const unknown = await importing("users", path, workspace, "--map", "town=home_city");
    assert.match(unknown.stderr, /There is no column 'town'\. The columns are customer, city, /);
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

  const CUT = [0.99, 0.5, 0.01, 8 / bytes.length, 4 / bytes.length];
  test("a Parquet file that ends early is refused in one sentence, and nothing of it is imported", async () => {
    const workspace = await server.workspace();
    for (const share of sample(CUT, 2)) {
      const path = await copyOf(bytes.subarray(0, Math.ceil(bytes.length * share)));
      const result = await importing("users", path, workspace);
      assertSentence(result);
      assert.deepEqual([result.code, result.stdout], [1, ""]);
      assert.match(
        result.stderr,
        /^rapport: \S+ cannot be read; it may be damaged, or end early: /m,
      );
    }
    assert.equal((await workspace.profiles({ external_ids: ["u1"] })).length, 0);
  });

  const refused: [what: string, path: () => Promise<string>, message: RegExp, ...more: string[]][] =
    [
      ["packed with gzip", () => copyOf(gzipSync(bytes), "parquet.gz"), /unpack it \(gunzip\)/],
      [
        "CSV by that name",
        () => copyOf(Buffer.from("external_id\na\n")),
        /does not begin with PAR1/,
      ],
      [
        "read as CSV",
        async () => good,
        /is a Parquet file: leave out --format csv/,
        "--format",
        "csv",
      ],
    ];
  for (const [what, pathOf, message, ...more] of sample(refused, 1)) {
    test(`a Parquet file is refused with the reason: ${what}`, async () => {
      const workspace = await server.workspace();
      const { code, stderr } = await importing("users", await pathOf(), workspace, ...more);
      assert.equal(code, 1);
      assert.match(stderr, message);
    });
  }

  test("a Parquet file from a pipe is refused with the reason", async () => {
    const workspace = await server.workspace();
    const pipe = nextPath("pipe");
    execFileSync("mkfifo", [pipe]);
    const [{ code, stderr }] = await Promise.all([
      importing("users", pipe, workspace),
      writeFile(pipe, bytes).catch(() => {}),
    ]);
    assert.equal(code, 1);
    assert.match(stderr, /Parquet is not read from a pipe/);
  });
});
