import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import fc from "fast-check";
import { profileIdOf, seedStatements } from "../../lab/bench/engines/seed.ts";
import { createMessages, findError } from "../../lab/bench/floors/messages.ts";
import { compare, type Turn } from "../../lab/bench/guard/compare.ts";
import { type Histogram, percentile, record, sumOf } from "../../lab/bench/load/histogram.ts";
import { rapport } from "../../lab/bench/peers/rapport.ts";
import { summarise } from "../../lab/bench/phase.ts";
import { createRandom } from "../../lab/bench/workloads/random.ts";
import { createUserPicker } from "../../lab/bench/workloads/users.ts";
import { WORKLOADS } from "../../lab/bench/workloads/workloads.ts";
import { ciRows, guardRows } from "../../lab/figures.ts";
import { openEngine } from "../../src/core/database/embedded/pglite-engine.ts";

/* The instrument itself: its data, its writes and its counts. It is never run here: nothing is timed. */

const USERS = 50;
const EVENTS_PER_USER = 12;
const SEED = { users: USERS, statistics: true, addresses: true, eventsPerUser: EVENTS_PER_USER };

describe("npm run bench", async () => {
  const engine = await openEngine("memory:");
  after(() => engine.close());
  const rowsOf = async (table: string) => {
    const { rows } = await engine.query<{ rows: number }>(`select count(*) as rows from ${table}`);
    return rows[0]?.rows;
  };
  for (const statement of seedStatements(SEED)) {
    await engine.exec(statement);
  }

  test("the benchmark's users fit the schema and have the ids that the floors write to", async () => {
    assert.equal(await rowsOf("profiles"), USERS);
    assert.equal(await rowsOf("identifiers"), USERS * 2);
    assert.equal(await rowsOf("events"), USERS * EVENTS_PER_USER);
    const { rows: wrong } = await engine.query(
      `select * from event_summaries full join (
         select profile_id, name, count(*) as count, min(occurred_at) as first_at, max(occurred_at) as last_at
         from events group by 1, 2) as counted using (profile_id, name, count, first_at, last_at)
       where counted.name is null or event_summaries.bucket is null`,
    );
    assert.deepEqual(wrong, []);
    const { rows } = await engine.query<{ id: string }>(
      "select profile_id as id from identifiers where value = 'user-7'",
    );
    assert.equal(rows[0]?.id.replaceAll("-", ""), Buffer.from(profileIdOf(7)).toString("hex"));
  });

  test("the comparison with peers counts exactly the users whose attributes have changed", async () => {
    const changed = async () => {
      const { rows } = await engine.query<{ rows: number }>(rapport.countChangedUsers);
      return rows[0]?.rows;
    };
    assert.equal(await changed(), 0);
    await engine.exec("begin");
    await engine.exec(
      `update profiles set standard_attributes = standard_attributes || '{"home_city": "Elsewhere"}'
       where external_id = 'user-7'`,
    );
    await engine.exec(
      `update profiles set custom_attributes = custom_attributes || '{"score": 8.5}'
       where external_id in ('user-7', 'user-8')`,
    );
    assert.equal(await changed(), 2);
    await engine.exec("rollback");
  });

  for (const { name, floor, proof, distribution } of WORKLOADS) {
    test(`the plain SQL of the workload ${name} fits the schema and writes its full volume`, async () => {
      const units = 20;
      const random = createRandom(1);
      const messages = createMessages();
      await engine.exec("deallocate all");
      for (const [statement, sql] of Object.entries(floor.embedded.statements)) {
        messages.parse(statement, sql);
      }
      floor.write(messages, units, random, createUserPicker(distribution, USERS, random));
      messages.sync();
      const before = await rowsOf("events");
      assert.equal(findError(await engine.execProtocolRaw(messages.take())), undefined);
      if (proof) assert.equal(await rowsOf("events"), (before ?? 0) + units / 2);
    });
  }

  test("the guard compares turn by turn, for each item, and takes the median", () => {
    const turn = (units: number, server: number, database: number | null): Turn => ({
      seconds: 2,
      units,
      server,
      database,
      statements: database === null ? null : units / 10,
    });
    // Twice a tenth dearer; once the machine was busy with something else.
    const here = [turn(1_000, 1.1, 0.22), turn(500, 9, 9), turn(2_000, 2.2, 0.44)];
    const other = [turn(1_000, 1, 0.2), turn(500, 0.5, 0.1), turn(4_000, 4, 0.8)];
    const { here: figures, ratios } = compare(here, other);
    assert.deepEqual(ratios, {
      rate: 1,
      cpu: 1.1,
      cpuRange: [1.1, 30],
      server: 1.1,
      database: 1.1,
      statements: 1,
    });
    assert.deepEqual(figures, {
      perSecond: 583,
      serverMs: 3_510,
      databaseMs: 2_760,
      statements: 100,
    });
    const embedded = compare([turn(10, 3, null)], [turn(10, 2, null)]);
    const { cpu, database, statements } = embedded.ratios;
    assert.deepEqual([cpu, database, statements], [1.5, null, null]);
    assert.deepEqual([embedded.here.databaseMs, embedded.here.statements], [null, null]);
  });

  test("the table of figures names what was not measured", () => {
    const values = [...ciRows(undefined), ...guardRows(undefined)].map(([, value]) => value);
    assert.equal(values.length, 3);
    for (const value of values) assert.match(value, /^missing: /);
    const step = { title: "Limits", seconds: 90, cpu_seconds: 61.5, passed: 1_000, failed: 0 };
    const run = { commit: "abc", seconds: 600, cpu_seconds: 1_000, steps: [step] };
    assert.deepEqual(ciRows(run).slice(1), [
      ["CI of abc", "10 min, 1,000 CPU s"],
      ["CI: Limits", "1.5 min, 62 CPU s, 1,000 passed, 0 failed"],
    ]);
    assert.match(String(ciRows(run)[0]), /missing/);
  });

  test("the benchmark's percentiles are accurate to 1%, also across several histograms", () => {
    const latencies = fc.array(fc.double({ min: 0.02, max: 10_000, noNaN: true }), {
      minLength: 1,
    });
    fc.assert(
      fc.property(latencies, latencies, (one, other) => {
        const histograms = [one, other].map((list) => {
          const histogram: Histogram = [];
          for (const latency of list) record(histogram, latency);
          return histogram;
        });
        const sorted = [...one, ...other].sort((a, b) => a - b);
        for (const share of [0.5, 0.95, 0.99]) {
          const exact = sorted[Math.ceil(sorted.length * share) - 1] as number;
          const found = percentile(sumOf(histograms), share);
          assert.ok(found >= exact * 0.9999 && found <= exact * 1.0101, `${found} for ${exact}`);
        }
      }),
    );
  });

  test("a measurement in which the server refuses every request fails with what it answered", () => {
    const watched = { server: 1, database: null, load: 1, others: 0 };
    const round = { seconds: 1, units: 0, latencies: [], failures: { "503": 12 }, ...watched };
    assert.throws(() => summarise([round]), /No request was acknowledged: \{"503":12\}/);
  });

  test("the benchmark's skewed choice reaches almost every user and favors a few", () => {
    const pick = createUserPicker("zipf", 1_000, createRandom(1));
    const counts = new Map<number, number>();
    for (let draw = 0; draw < 100_000; draw++) {
      const user = pick();
      assert.ok(user >= 0 && user < 1_000);
      counts.set(user, (counts.get(user) ?? 0) + 1);
    }
    const most = [...counts.values()].sort((a, b) => b - a).slice(0, 10);
    assert.ok(counts.size > 950);
    assert.ok(most.reduce((sum, count) => sum + count, 0) > 30_000);
  });
});
