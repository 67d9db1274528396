/*
 * Temporary and permanent refusals of warehouses: suspended warehouses, quotas, slow statements. A
 * run names the refusal, and leaves nothing running behind.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import { UNGUARDED } from "../../../src/core/outbound/outbound.ts";
import { openSource } from "../../../src/features/warehouses/sources/kinds.ts";
import { startServer } from "../../harness.ts";
import { startIntegration } from "../../sync-runs.ts";
import type { Reply } from "../fakes/http.ts";
import { FAKES, type FakeWarehouse } from "../fakes/kinds.ts";

const server = await startServer();

const ofSnowflake = (code: string, message: string): Reply => ({
  status: 422,
  body: { code, message, sqlState: "57P03" },
});

const ofBigQuery = (reason: string): Reply => ({
  status: 403,
  body: { error: { code: 403, message: "No.", errors: [{ reason }] } },
});

const ofDatabricks = (error_code: string): Reply => ({
  body: { statement_id: "01", status: { state: "FAILED", error: { error_code, message: "No." } } },
});

const ofMysql = (errno: number, sqlState: string, message: string): Reply => ({
  body: { errno, sqlState, message },
});

/** The kind, its response to a statement, the status of the run, and its message. */
const REFUSALS: readonly [string, Reply, string, RegExp][] = [
  [
    "snowflake",
    ofSnowflake("000606", "No active warehouse"),
    "error",
    /no active warehouse .* suspended/,
  ],
  ["snowflake", ofSnowflake("090073", "resource monitor"), "error", /quota is used up/],
  ["bigquery", ofBigQuery("quotaExceeded"), "error", /quota is used up/],
  ["bigquery", ofBigQuery("accessDenied"), "config_error", /needs bigquery\.jobs\.create/],
  ["bigquery", ofBigQuery("rateLimitExceeded"), "success", /^null$/],
  ["databricks", ofDatabricks("RESOURCE_EXHAUSTED"), "error", /quota is used up/],
  [
    "databricks",
    { status: 404, body: { error_code: "NOT_FOUND" } },
    "config_error",
    /no such SQL warehouse/,
  ],
  [
    "mysql",
    ofMysql(1226, "42000", "User 'rapport' has exceeded the 'max_questions' resource"),
    "error",
    /quota on the server is used up/,
  ],
  [
    "mysql",
    ofMysql(1142, "42000", "SELECT command denied to user 'rapport'@'10.0.0.7' for table 't'"),
    "config_error",
    /may not select from the table\.$/,
  ],
  ["mysql", ofMysql(1053, "08S01", "Server shutdown in progress"), "error", /shutdown in progress/],
  ["mysql", ofMysql(1292, "22007", "Incorrect value: 'ada@example.com'"), "error", /value: …$/],
];

for (const { type, schema, statement, cancel, start } of FAKES) {
  const fake: FakeWarehouse = await start();
  const table = `${schema}users`;
  await fake.engine.run(
    `create table ${table} (UPDATED_AT timestamptz, EXTERNAL_ID varchar, PAYLOAD varchar)`,
  );
  const integration = await startIntegration(server, { warehouse: { ...fake.settings, table } });

  describe(`what ${type} refuses`, () => {
    for (const [, reply, status, message] of REFUSALS.filter(([kind]) => kind === type)) {
      test(`a run that ${type} refuses with ${JSON.stringify(reply.body)} ends as ${status} and says why`, async () => {
        fake.faults.push({ on: statement, reply });
        const run = await integration.sync();
        fake.faults.length = 0;
        assert.equal(run.job_status, status, `${run.message}`);
        assert.match(`${run.message}`, message);
      });
    }

    test(`a sync waits for a warehouse of ${type} that takes a while to begin`, async () => {
      fake.looks = 3;
      const run = await integration.sync();
      fake.looks = 0;
      assert.equal(run.job_status, "success", `${run.message}`);
    });

    test(`a run that ends early cancels its statement in ${type}`, async () => {
      fake.looks = 1_000;
      const aborting = new AbortController();
      const opening = { signal: aborting.signal, outbound: UNGUARDED };
      const opened = openSource({ ...fake.settings, type, table }, opening).then(async (source) =>
        source.select(
          {
            updatedAt: { name: "UPDATED_AT", isTime: true, isText: false },
            identifiers: [],
            payload: undefined,
          },
          { from: "2026-01-01T00:00:00.000000Z", until: "2026-01-02T00:00:00.000000Z" },
        ),
      );
      setTimeout(() => aborting.abort(), 300);
      await assert.rejects(opened);
      fake.looks = 0;
      assert.match(fake.requests.at(-1) ?? "", cancel);
    });
  });
}

test("only its own file and the list of kinds name a kind of warehouse that is read by statements", () => {
  const wrong = ["src", "web/src"].flatMap((folder) =>
    readdirSync(join(packageRoot(), folder), { recursive: true, encoding: "utf8" })
      .filter((path) => /\.tsx?$/.test(path) && !path.includes("warehouses/sources/"))
      .filter((path) => {
        const text = readFileSync(join(packageRoot(), folder, path), "utf8");
        return FAKES.some(({ type }) => text.toLowerCase().includes(type));
      }),
  );
  assert.deepEqual(wrong, [], "Let it follow from the schemas of the kind.");
});
