/*
 * The results of each type of warehouses that are read by statements, value by value.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../../../harness.ts";
import { startIntegration } from "../../../sync-runs.ts";
import { startBigQuery } from "../../fakes/bigquery.ts";
import { TRIED } from "../../fakes/kinds.ts";

const server = await startServer();

const NOON = "timestamptz '2026-01-01 12:00:00Z'";

/** A type of the column UPDATED_AT, a value, and the time that it is. */
const TIMES = [
  ["timestamptz", "'2026-01-01 13:00:00.123456+01:00'", "2026-01-01T12:00:00.123456Z"],
  ["timestamp", "'2026-03-29 02:30:00.5'", "2026-03-29T02:30:00.500000Z"],
  ["date", "'2026-01-01'", "2026-01-01T00:00:00.000000Z"],
] as const;

/** A type of the column EXTERNAL_ID, a value, and the id. */
const IDS = [
  ["varchar", "'Ada Ωmega'", "Ada Ωmega"],
  ["bigint", "9223372036854775807", "9223372036854775807"],
  [
    "decimal(38,0)",
    "12345678901234567890123456789012345678",
    "12345678901234567890123456789012345678",
  ],
] as const;

const NO_IDS = ["double", "decimal(9,2)", "boolean", "blob", "varchar[]"];

/** A type of the column PAYLOAD, a value, and the attributes of a user who has `old: 1` and `kept: 2`. */
const PAYLOADS = [
  ["varchar", `'{"plan":"gold","old":null}'`, { plan: "gold", kept: 2 }],
  [
    "json",
    `'{"plan":{"name":"gold"},"tags":["a","b"],"ok":true}'`,
    { plan: { name: "gold" }, tags: ["a", "b"], ok: true, old: 1, kept: 2 },
  ],
  [
    "json",
    `'{"n":9007199254740993,"d":12345678901234567.89,"small":1.50,"text":"12345678901234567890"}'`,
    {
      n: "9007199254740993",
      d: "12345678901234567.89",
      small: 1.5,
      text: "12345678901234567890",
      old: 1,
      kept: 2,
    },
  ],
  [
    "struct(plan varchar, n bigint, ok boolean, old varchar, tags varchar[])",
    "{'plan': 'gold', 'n': 9223372036854775807, 'ok': false, 'old': null, 'tags': ['a']}",
    { plan: "gold", n: "9223372036854775807", ok: false, tags: ["a"], kept: 2 },
  ],
  ["map(varchar, varchar)", "map {'plan': 'gold'}", { plan: "gold", old: 1, kept: 2 }],
] as const;

const BAD_PAYLOADS = [
  ["varchar", "null", "PAYLOAD_MISSING"],
  ["varchar", "'no'", "PAYLOAD_NOT_JSON"],
  ["varchar[]", "['a']", "PAYLOAD_NOT_AN_OBJECT"],
  ["json", "'[1]'", "PAYLOAD_NOT_AN_OBJECT"],
] as const;

for (const { type, schema, lacks, start } of TRIED) {
  const has = ([column]: readonly [string, ...unknown[]]) => !lacks.test(column);
  const fake = await start();
  let tables = 0;

  const startTable = async (columns: string, values: string) => {
    const table = `${schema}v${++tables}`;
    await fake.engine.run(
      `create table ${table} (${columns}); insert into ${table} values (${values})`,
    );
    return startIntegration(server, { warehouse: { ...fake.settings, table } });
  };

  describe(`values of ${type}`, () => {
    test(`a time of ${type} keeps its microseconds, and is in UTC if it has no zone`, async () => {
      for (const [column, value, expected] of TIMES) {
        const { sync } = await startTable(
          `UPDATED_AT ${column}, EXTERNAL_ID varchar, PAYLOAD varchar`,
          `${value}, 'ada', '{"a":1}'`,
        );
        const run = await sync();
        assert.deepEqual(
          [run.job_status, run.last_timestamp_synced],
          ["success", expected],
          column,
        );
        const again = await sync();
        assert.deepEqual([again.rows_read, again.rows_synced], [1, 0], column);
      }
    });

    test(`whole numbers of ${type} are ids with all their digits, other types are none`, async () => {
      for (const [column, value, expected] of IDS) {
        const { sync, workspace } = await startTable(
          `UPDATED_AT timestamptz, EXTERNAL_ID ${column}, PAYLOAD varchar`,
          `${NOON}, ${value}, '{"a":1}'`,
        );
        assert.equal((await sync()).job_status, "success", column);
        assert.equal((await workspace.profile({ external_ids: [expected] })).external_id, expected);
      }
      for (const column of NO_IDS.filter((each) => has([each]))) {
        const { sync } = await startTable(
          `UPDATED_AT timestamptz, EXTERNAL_ID ${column}, PAYLOAD varchar`,
          `${NOON}, null, '{"a":1}'`,
        );
        const run = await sync();
        assert.deepEqual(
          [run.job_status, run.message],
          ["config_error", "The column EXTERNAL_ID must be text or whole numbers."],
        );
      }
    });

    test(`payloads of ${type} are text or objects, lose no digits, and tell null from missing`, async () => {
      for (const [column, value, expected] of PAYLOADS.filter(has)) {
        const { sync, workspace } = await startTable(
          `UPDATED_AT timestamptz, EXTERNAL_ID varchar, PAYLOAD ${column}`,
          `${NOON}, 'ada', ${value}`,
        );
        await workspace.track({ attributes: [{ external_id: "ada", old: 1, kept: 2 }] });
        const run = await sync();
        assert.deepEqual([run.job_status, run.message], ["success", null], column);
        const { custom_attributes } = await workspace.profile({ external_ids: ["ada"] });
        assert.deepEqual(custom_attributes, expected, column);
      }
    });

    test(`payloads of ${type} that are no objects are rejected row by row, binary ones as a whole`, async () => {
      for (const [column, value, code] of BAD_PAYLOADS.filter(has)) {
        const { syncWithLog } = await startTable(
          `UPDATED_AT timestamptz, EXTERNAL_ID varchar, PAYLOAD ${column}`,
          `${NOON}, 'ada', ${value}`,
        );
        const { rows } = await syncWithLog();
        assert.deepEqual(
          rows.map((row) => [row.identity, row.code]),
          [[{ external_id: "ada" }, code]],
        );
      }
      const { sync } = await startTable(
        "UPDATED_AT timestamptz, EXTERNAL_ID varchar, PAYLOAD blob",
        `${NOON}, 'ada', null`,
      );
      assert.match(`${(await sync()).message}`, /PAYLOAD must be JSON as text, or an object/);
    });

    test(`columns of ${type} are found in any case, quoted or not`, async () => {
      const { sync } = await startTable(
        `"updated_At" timestamptz, "external_ID" varchar, "Payload" varchar, "odd ""name" varchar`,
        `${NOON}, 'ada', '{"a":1}', 'x'`,
      );
      assert.equal((await sync()).job_status, "success");
    });
  });
}

describe("tables of bigquery that insist on a filter over their partitions", () => {
  test("a table partitioned by ingestion, by another day or by UPDATED_AT is read whole, rows without a partition too", async () => {
    const fake = await startBigQuery();
    const rows = `values (${NOON}, 'ada', '{"a":1}', null), (${NOON}, 'bob', '{"a":1}', '2020-01-01')`;
    for (const [name, column, field] of [
      ["ingested", "_PARTITIONTIME timestamptz", undefined],
      ["by_day", "day date", "day"],
      ["by_time", "other varchar", "UPDATED_AT"],
    ] as const) {
      await fake.engine.run(
        `create table crm.${name} (UPDATED_AT timestamptz, EXTERNAL_ID varchar, PAYLOAD varchar, ${column});
         insert into crm.${name} ${rows}`,
      );
      fake.partitioned.set(name, {
        requirePartitionFilter: true,
        timePartitioning: { type: "DAY", ...(field && { field }) },
      });
      const { sync } = await startIntegration(server, {
        warehouse: { ...fake.settings, table: `crm.${name}` },
      });
      const run = await sync();
      assert.deepEqual([run.job_status, run.rows_synced], ["success", 2], `${run.message}`);
    }
  });
});
