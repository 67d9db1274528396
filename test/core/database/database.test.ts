/*
 * The database interface on the engine under test: the contents of a typed list, and the guarantees
 * of a transaction that is known in advance.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import {
  isAborted,
  type Queryable,
  type Transaction,
} from "../../../src/core/database/database.ts";
import type { Connection } from "../../../src/core/database/embedded/one-connection.ts";
import { checkpointWhenDue, vacuumWhenDue } from "../../../src/core/database/embedded/pglite.ts";
import { openEngine } from "../../../src/core/database/embedded/pglite-engine.ts";
import { createStatementRunner } from "../../../src/core/database/embedded/pglite-statements.ts";
import { jsonbArrayLiteral } from "../../../src/core/database/parameters/array-literal.ts";
import {
  smallints,
  texts,
  timestamps,
  uuids,
} from "../../../src/core/database/parameters/typed-list.ts";
import { openDatabase } from "../../../src/server/open-database.ts";
import { ENGINE, testConfig } from "../../harness.ts";

const database = await openDatabase(await testConfig());
after(() => database.close());

const RUNS = { numRuns: 50 };

describe("a typed list", () => {
  const comesBack = async (type: string, list: unknown, expected: readonly unknown[]) => {
    const [row] = await database.query(`select to_jsonb($1::${type}[]) as list`, [list]);
    assert.deepEqual(row?.list, expected);
  };

  test("a list of ids reaches the engine unchanged", async () => {
    const ids = fc.array(fc.uuid());
    await fc.assert(
      fc.asyncProperty(ids, (values) => comesBack("uuid", uuids(values), values)),
      RUNS,
    );
  });

  test("a list of texts reaches the engine unchanged, including special characters and null", async () => {
    const text = fc
      .string({ unit: fc.oneof(fc.constantFrom('"', "\\", "{", "}", ",", "\uFEFF"), fc.string()) })
      .filter((value) => value.isWellFormed() && !value.includes("\0"));
    const values = fc.array(
      fc.option(fc.oneof(text, fc.string({ unit: "grapheme" }), fc.constant("NULL"))),
    );
    await fc.assert(
      fc.asyncProperty(values, (list) => comesBack("text", texts(list), list)),
      RUNS,
    );
  });

  test("a list of texts, numbers and booleans as JSON reaches the engine unchanged", async () => {
    const text = fc
      .string({ unit: fc.oneof(fc.constantFrom('"', "\\", "\n", " ", ","), fc.string()) })
      .filter((value) => value.isWellFormed() && !value.includes("\0"));
    const number = fc.oneof(fc.integer(), fc.constantFrom(0.1, -2.5, 1e15));
    const values = fc.array(fc.oneof(text, number, fc.boolean()));
    await fc.assert(
      fc.asyncProperty(values, (list) => comesBack("jsonb", jsonbArrayLiteral(list), list)),
      RUNS,
    );
  });

  test("a list of times is exact to the microsecond, and to the millisecond in distant years", async () => {
    const first = Date.parse("0001-01-01T00:00:00Z");
    const last = Date.UTC(4000, 0, 1);
    const near = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) * 1_000 });
    const distant = fc.integer({ min: first, max: last }).map((ms) => ms * 1_000);
    const values = fc.array(fc.oneof(near, distant));
    await fc.assert(
      fc.asyncProperty(values, async (list) => {
        const rows = await database.query<{ micros: string }>(
          `select (extract(epoch from at) * 1000000)::bigint::text as micros
           from unnest($1::timestamptz[]) with ordinality as given (at, place) order by place`,
          [timestamps(list)],
        );
        assert.deepEqual(
          rows.map((row) => row.micros),
          list.map((micros) => BigInt(micros).toString()),
        );
      }),
      RUNS,
    );
  });

  test("a value that is not of the list's type is refused, and never stored as another one", async () => {
    const id = "018bcfe5-6830-7642-8e92-efb79421738b";
    await comesBack("uuid", uuids([id.toUpperCase()]), [id]);
    for (const wrong of ["", id.slice(1), `${id}0`, id.replace("0", "g"), id.replace("0", "ı")]) {
      assert.throws(() => uuids([wrong]).asBinary(), RangeError, wrong);
    }
    for (const wrong of [32_768, -32_769, 1.5, Number.NaN]) {
      assert.throws(() => smallints([wrong]).asBinary(), RangeError, String(wrong));
    }
    const years = [Date.parse("0000-12-31T23:59:59.999Z"), Date.parse("+010000-01-01T00:00:00Z")];
    for (const wrong of [Number.NaN, Infinity, ...years.map((ms) => ms * 1_000)]) {
      assert.throws(() => timestamps([wrong]).asBinary(), RangeError, String(wrong));
    }
  });
});

describe("a transaction whose statements are sent at once", () => {
  before(() => database.execute("create table kept (id integer primary key)"));
  const insert = (tx: Transaction, id: number, mustWrite?: number) =>
    tx.execute(
      "insert into kept (id) values ($1) on conflict do nothing returning 1",
      [id],
      mustWrite,
    );
  const kept = async () =>
    (await database.query<{ id: number }>("select id from kept order by id")).map(({ id }) => id);

  test("a transaction sent at once is committed and returns the result of each statement", async () => {
    const found = await database.transactionAtOnce((tx) =>
      Promise.all([insert(tx, 1, 1), tx.query("select 7 as seven"), insert(tx, 1)]),
    );
    assert.deepEqual([found[0], [...found[1]], found[2]], [1, [{ seven: 7 }], 0]);
    assert.deepEqual(await kept(), [1]);
  });

  test("a transaction sent at once writes nothing if a statement writes too few rows, and can be retried", async () => {
    const tried = database.transactionAtOnce((tx) =>
      Promise.all([insert(tx, 2), insert(tx, 1, 1)]),
    );
    await assert.rejects(tried, isAborted);
    assert.deepEqual(await kept(), [1]);
  });

  test("a transaction sent at once writes nothing if a statement fails, and fails with that error", async () => {
    const tried = database.transactionAtOnce((tx) =>
      Promise.all([insert(tx, 3), tx.query("select 1 / 0"), insert(tx, 4)]),
    );
    await assert.rejects(tried, { code: "22012" });
    assert.deepEqual(await kept(), [1]);
  });

  test("a transaction fails with the error that aborted it, even if another statement's reaches the caller first", async () => {
    const later = (failing: Promise<unknown>) =>
      failing.catch(async (error) => {
        await sleep(20);
        throw error;
      });
    const tried = database.transaction((tx) =>
      Promise.all([later(tx.query("select 1 / 0")), insert(tx, 3)]),
    );
    await assert.rejects(tried, { code: "22012" });
    assert.deepEqual(await kept(), [1]);
  });

  test("concurrent transactions are all committed, whether or not they are sent at once", async () => {
    const all = await Promise.all([
      ...Array.from({ length: 20 }, (_, index) =>
        database.transactionAtOnce((tx) => insert(tx, 100 + index, 1)),
      ),
      database.transaction(async (tx) => {
        await insert(tx, 200, 1);
        return insert(tx, 201, 1);
      }),
    ]);
    assert.equal(all.length, 21);
    assert.equal((await kept()).length, 1 + 22);
  });
});

describe("a statement", () => {
  test("the values of a row have the types that the interface names, null among them", async () => {
    const [row] = await database.query(
      `select 9007199254740991::bigint as "bigint", 1.50::numeric as "numeric", true as "boolean", 2.5::float8 as "float",
         '2026-01-01T12:00:00.123Z'::timestamptz as "time", '{"a": [1, null]}'::jsonb as "json", 'ä' as "text",
         null::timestamptz as "nothing"`,
    );
    assert.deepEqual(row, {
      bigint: 9_007_199_254_740_991,
      numeric: "1.50",
      boolean: true,
      float: 2.5,
      time: new Date("2026-01-01T12:00:00.123Z"),
      json: { a: [1, null] },
      text: "ä",
      nothing: null,
    });
  });

  test("a statement that failed succeeds with other parameters, within a transaction and outside of one", async () => {
    const quotient = async (queryable: Queryable, divisor: number) => {
      const [row] = await queryable.query("select 12 / $1::int as quotient", [divisor]);
      return row?.quotient;
    };
    await assert.rejects(quotient(database, 0), { code: "22012" });
    assert.equal(await quotient(database, 3), 4);
    await assert.rejects(
      database.transaction((tx) => quotient(tx, 0)),
      { code: "22012" },
    );
    assert.equal(await database.transaction((tx) => quotient(tx, 4)), 3);
  });

  test("the engine keeps no more statements prepared than it is told to, and runs any number of them", {
    skip: ENGINE !== "embedded",
  }, async () => {
    const numbers = Array.from({ length: 600 }, (_, number) => number);
    for (const number of [...numbers, ...numbers.slice(0, 10)]) {
      const rows = await database.query(`select ${number} + $1::int as sum`, [1]);
      assert.deepEqual(rows, [{ sum: number + 1 }]);
    }
    const [kept] = await database.query("select count(*) as count from pg_prepared_statements");
    assert.ok(Number(kept?.count) <= 260, `${kept?.count} statements`);
  });
});

test("the embedded engine keeps nothing of its answers in memory", {
  skip: ENGINE !== "embedded",
}, async () => {
  const engine = await openEngine("memory:");
  after(() => engine.close());
  const { run } = createStatementRunner(engine);
  const text = {
    sql: "select repeat('x', 1000000) as text",
    parameters: [],
    answer: "rows",
  } as const;
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const heapMegabytes = () => {
    collect();
    return process.memoryUsage().heapUsed / 1_000_000;
  };
  await run([text], "part");
  const before = heapMegabytes();
  for (let times = 0; times < 50; times++) await run([text], times % 2 ? "part" : "transaction");
  assert.ok(heapMegabytes() - before < 30, `${before} MB, then ${heapMegabytes()} MB`);
});

describe("the upkeep of the embedded engine", { skip: ENGINE !== "embedded" }, () => {
  async function connect() {
    const engine = await openEngine("memory:");
    after(() => engine.close());
    const connection: Connection = {
      run: createStatementRunner(engine).run,
      script: async (sql) => void (await engine.exec(sql)),
      close: () => engine.close(),
    };
    return { engine, connection };
  }

  test("a checkpoint is written once the log has grown, and empties it", async () => {
    const { engine, connection } = await connect();
    await engine.exec("create table numbers as select generate_series(1, 50000) as number");
    const mostBytes = 1_024 ** 2;
    assert.equal(await checkpointWhenDue(connection, 100 * mostBytes), false);
    assert.equal(await checkpointWhenDue(connection, mostBytes), true);
    assert.equal(await checkpointWhenDue(connection, mostBytes), false);
  });

  test("a table is vacuumed once so many rows were added, and then not until as many more were", async () => {
    const { engine, connection } = await connect();
    await engine.exec(
      "create table numbers (number integer); create table others (number integer)",
    );
    /** Statistics are written once a second. */
    const add = (rows: number) =>
      engine.exec(`
        insert into numbers select generate_series(1, ${rows});
        select pg_stat_force_next_flush()`);
    await add(900);
    assert.equal(await vacuumWhenDue(connection, 1_000), undefined);
    await add(200);
    assert.equal(await vacuumWhenDue(connection, 1_000), "numbers");
    const { rows } = await engine.query(
      "select relpages = relallvisible as seen from pg_class where relname = 'numbers'",
    );
    assert.deepEqual(rows, [{ seen: true }]);
    await add(900);
    assert.equal(await vacuumWhenDue(connection, 1_000), undefined);
  });
});
