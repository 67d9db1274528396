/* The faults of a PostgreSQL, on clusters of our own. docs/operations/faults.md has a row for each. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { type Cluster, startCluster } from "../../lab/bench/engines/postgres-cluster.ts";
import { examineAll } from "../../src/cli/doctor.ts";
import { serve } from "../../src/server/serve.ts";
import { startProxy } from "../core/database/slow-proxy.ts";
import { freePort } from "../free-port.ts";
import { ENGINE, startOwnServer, testConfig } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { until } from "../until.ts";
import { assertKept, assertSurvives } from "./faults.ts";

/** Small, quick to start, and durable where a test crashes it. */
const SMALL = { shared_buffers: "16MB", max_wal_size: "64MB", min_wal_size: "32MB" };

/** Stopped before their folders are removed: hooks run in the order they were registered. */
const clusters: Cluster[] = [];
after(() => Promise.all(clusters.map((each) => each.stop())));

async function startSmall(folder: string): Promise<Cluster | undefined> {
  const started = await startCluster(folder, SMALL);
  if (started) clusters.push(started);
  return started;
}

const cluster = ENGINE === "postgres" ? await startSmall(await temporaryFolder()) : undefined;
const skip = !cluster && "it needs TEST_DATABASE_URL and the programs of PostgreSQL (initdb)";

const serverOn = (databaseUrl: string) => startOwnServer({ databaseUrl });

let databases = 0;
async function newDatabase({ url }: Cluster): Promise<string> {
  const name = `faults_${++databases}`;
  await asOperator(url, `create database ${name}`);
  return `${url}/${name}`;
}

async function asOperator(url: string, ...statements: string[]): Promise<void> {
  const sql = postgres(`${url}/postgres`, { max: 1, onnotice: () => {} });
  for (const statement of statements) await sql.unsafe(statement);
  await sql.end();
}

describe("a server whose PostgreSQL fails", { skip }, () => {
  const own = cluster as Cluster;

  test("while PostgreSQL is stopped requests get 503 and Retry-After, and after its start they are served again", async () => {
    await assertSurvives(await serverOn(await newDatabase(own)), {
      begin: () => own.stop(),
      end: () => own.start(),
      says: /^The database does not respond\.$/,
    });
  });

  test("the log says once that the database is lost, and once that it is back and after how long", async () => {
    const lines: string[] = [];
    const settings = { databaseUrl: await newDatabase(own), logLevel: "info" } as const;
    const server = await startOwnServer(settings, { write: (line) => void lines.push(line) });
    await assertSurvives(server, {
      begin: () => own.stop(),
      end: () => own.start(),
      says: /^The database does not respond\.$/,
    });
    const entries = lines.map((line) => JSON.parse(line));
    const [lost, ...moreLost] = entries.filter(({ msg }) => msg === "the database is lost");
    const [back, ...moreBack] = entries.filter(({ msg }) => msg === "the database is back");
    assert.deepEqual([moreLost, moreBack], [[], []]);
    assert.deepEqual([lost.level, back.level], ["error", "info"]);
    assert.match(`${lost.code} ${lost.reason}`, /^(?:E?CONN|57P0)\w+ .+/);
    assert.ok(back.after_s > 0, String(back.after_s));
    // One line for the same trouble, not one for each request, and no stack: it is no fault of the program.
    const failed = entries.filter(({ msg }) => msg === "request failed");
    assert.ok(failed.length > 0 && failed.every(({ message }) => message.length > 0));
    assert.deepEqual([...new Set(failed.map(({ stack }) => stack))], [undefined]);
    assert.equal(new Set(failed.map(({ code }) => code)).size, failed.length);
    const health = entries.filter(({ msg }) => /^(not ready|ready again)$/.test(msg));
    assert.deepEqual(
      [health[0], health.at(-1)].map(({ level, msg, reason }) => [level, msg, reason]),
      [
        ["warn", "not ready", "The database does not respond."],
        ["info", "ready again", undefined],
      ],
    );
    const reasons = health.map(({ reason }) => reason);
    assert.ok(
      reasons.every((reason, index) => reason !== reasons[index - 1]),
      reasons.join(),
    );
  });

  test("the metric of the database turns 0 when PostgreSQL is lost, and 1 when it is back", async () => {
    const metricsPort = await freePort();
    const server = await startOwnServer({ databaseUrl: await newDatabase(own), metricsPort });
    const readGauge = async () => {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      return /^rapport_database_up (\d+)$/m.exec(text)?.[1];
    };
    const seen = [await readGauge()];
    await assertSurvives(server, {
      begin: () => own.stop(),
      async end() {
        seen.push(await readGauge());
        await own.start();
      },
      says: /^The database does not respond\.$/,
    });
    seen.push(await readGauge());
    assert.deepEqual(seen, ["1", "0", "1"]);
  });

  test("rapport doctor says whether the running server is ready, and why not", async () => {
    const databaseUrl = await newDatabase(own);
    const port = await freePort();
    const server = await startOwnServer({ databaseUrl, port });
    const said = async () => {
      const environment = { DATABASE_URL: databaseUrl, DATA_DIR: "memory:", PORT: String(port) };
      const findings = await examineAll(environment);
      return findings.find(({ check }) => check === "server");
    };
    assert.equal((await said())?.status, "ok");
    await assertSurvives(server, {
      begin: () => own.stop(),
      async end() {
        const found = await said();
        assert.equal(found?.status, "failed");
        assert.equal(
          found?.message,
          "The running server is not ready: The database does not respond.",
        );
        await own.start();
      },
      says: /^The database does not respond\.$/,
    });
    assert.equal((await said())?.status, "ok");
  });

  test("a server that starts before PostgreSQL waits for it, says so once, and gives up after DATABASE_WAIT", async () => {
    const databaseUrl = await newDatabase(own);
    await own.stop();
    const lines: string[] = [];
    const logTo = { write: (line: string) => void lines.push(line) };
    const config = await testConfig({ logLevel: "warn" });
    const hurried = serve({ ...config, databaseUrl, databaseWaitSeconds: 0 });
    await assert.rejects(
      hurried,
      /^Error: The database of DATABASE_URL cannot be used: .*ECONNREFUSED/,
    );
    const starting = serve({ ...config, databaseUrl, databaseWaitSeconds: 60 }, logTo);
    await sleep(1_500);
    await own.start();
    const server = await starting;
    after(() => server.stop());
    assert.equal((await fetch(`${server.welcome.url}/health/ready`)).status, 200);
    const waits = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === "warn");
    assert.deepEqual(
      waits.map(({ msg, wait_s }) => [msg, wait_s]),
      [["waiting for the database", 60]],
    );
  });

  test("a server does not start on a database that takes no writes, and says so, as rapport doctor does", async () => {
    const databaseUrl = await newDatabase(own);
    const config = await testConfig();
    const first = await serve({ ...config, databaseUrl });
    await first.stop();
    const name = databaseUrl.slice(databaseUrl.lastIndexOf("/") + 1);
    await asOperator(own.url, `alter database ${name} set default_transaction_read_only = on`);
    const says = "The database is read-only: default_transaction_read_only is on";
    await assert.rejects(serve({ ...config, databaseUrl }), (error: Error) =>
      error.message.startsWith(says),
    );
    const findings = await examineAll({
      DATABASE_URL: databaseUrl,
      DATA_DIR: "memory:",
      PORT: "0",
    });
    const failed = findings.filter(({ status }) => status === "failed");
    assert.deepEqual(
      failed.map(({ check, message }) => [check, message.startsWith(says)]),
      [["writes", true]],
    );
  });

  test("after PostgreSQL is killed and recovers, the server goes on and nothing acknowledged is lost", async () => {
    await assertSurvives(await serverOn(await newDatabase(own)), {
      begin: () => own.crash(),
      end: () => own.start(),
      says: /^The database does not respond\.$/,
    });
  });

  test("while PostgreSQL takes no writes, as after a failover, health says so, and writes go on afterwards", async () => {
    const setReadOnly = (value: string) =>
      asOperator(
        own.url,
        `alter system set default_transaction_read_only = ${value}`,
        "select pg_reload_conf()",
      );
    await assertSurvives(await serverOn(await newDatabase(own)), {
      begin: async () => {
        await setReadOnly("on");
        await new Promise((resolve) => setTimeout(resolve, 500));
      },
      end: async () => {
        const sql = postgres(`${own.url}/postgres`, { max: 1 });
        await sql.unsafe("set default_transaction_read_only = off");
        await sql.unsafe("alter system reset default_transaction_read_only");
        await sql.unsafe("select pg_reload_conf()");
        await sql.end();
      },
      says: /^The database is read-only\.$/,
    });
  });

  test("while PostgreSQL has no connection left, health says so, and requests are served once there are some", async (t) => {
    const database = await newDatabase(own);
    const server = await serverOn(database);
    const hogs: postgres.Sql[] = [];
    const endAll = async () => void (await Promise.all(hogs.splice(0).map((hog) => hog.end())));
    t.after(endAll);
    /** Takes every place, also of the server's connections. */
    const takeAll = async () => {
      let all = Infinity;
      while (hogs.length < all) {
        const hog = postgres(`${own.url}/postgres`, { max: 1, fetch_types: false });
        if (hogs.length === 0) all = Number((await hog`show max_connections`)[0]?.max_connections);
        const isTaken = await hog`select 1`.then(
          () => true,
          () => false,
        );
        if (isTaken) hogs.push(hog);
        else await hog.end();
        // Asked by one that has its place: the server may have taken the last ones again.
        await hogs[0]?.unsafe(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'rapport'",
        );
      }
    };
    await assertSurvives(server, {
      begin: takeAll,
      end: endAll,
      says: /^The database has no connection left\.$/,
    });
  });

  test("while PostgreSQL refuses the login or the database is gone, health, the metric and the log say so, and requests are served afterwards", async () => {
    const database = await newDatabase(own);
    const name = database.slice(database.lastIndexOf("/") + 1);
    await asOperator(own.url, "create role engage login", `alter database ${name} owner to engage`);
    const asEngage = new URL(database);
    asEngage.username = "engage";
    const lines: string[] = [];
    const metricsPort = await freePort();
    const settings = { databaseUrl: asEngage.href, metricsPort, logLevel: "info" } as const;
    const server = await startOwnServer(settings, { write: (line) => void lines.push(line) });
    const isUp = async () => {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      return /^rapport_database_up (\d+)$/m.exec(text)?.[1];
    };
    const end = `select pg_terminate_backend(pid) from pg_stat_activity where datname like '${name}%'`;
    const faults: [statement: string, undone: string, says: RegExp][] = [
      [
        "alter role engage nologin",
        "alter role engage login",
        /^The database refuses the login\.$/,
      ],
      [
        `alter database ${name} rename to ${name}_away`,
        `alter database ${name}_away rename to ${name}`,
        /^The database does not exist\.$/,
      ],
    ];
    for (const [statement, undone, says] of faults) {
      await assertSurvives(server, {
        // No connection of the server comes back in between.
        begin: () =>
          asOperator(
            own.url,
            "alter role engage connection limit 0",
            end,
            statement,
            "alter role engage connection limit -1",
            end,
          ),
        async end() {
          // Health is asked now and then, as a load balancer does.
          await until(async () => {
            await server.send("GET", "/health/ready");
            return (await isUp()) === "0";
          });
          await asOperator(own.url, undone);
        },
        says,
      });
      assert.equal(await isUp(), "1");
    }
    const told = lines
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => /^the database is /.test(msg));
    assert.deepEqual(
      told.map(({ msg, code }) => [msg, code]),
      [
        ["the database is lost", "28000"],
        ["the database is back", undefined],
        ["the database is lost", "3D000"],
        ["the database is back", undefined],
      ],
    );
  });

  test("with 100 ms for every statement requests succeed, and concurrent ones share transactions", async () => {
    const proxy = await startProxy(await newDatabase(own));
    const server = await serverOn(proxy.url);
    const workspace = await server.workspace();
    proxy.delay(100);
    const ids = Array.from({ length: 40 }, (_, user) => `slow-${user}`);
    const time = "2026-01-01T00:00:00Z";
    const answers = await Promise.all(
      ids.map((external_id) => workspace.track({ events: [{ external_id, name: "came", time }] })),
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
    assert.equal((await server.send("GET", "/health/ready")).status, 200);
    proxy.delay(0);
    await assertKept(workspace, ids);
  });

  test("on a network that loses packets requests succeed or get 503, and a repeated one takes effect once", async () => {
    const proxy = await startProxy(await newDatabase(own));
    const server = await serverOn(proxy.url);
    const workspace = await server.workspace();
    const time = "2026-01-01T00:00:00Z";
    // A lost packet is sent again after a pause; now and then a connection does not survive it.
    proxy.lose({ packets: 0.1, connections: 0.005 });
    const ids = Array.from({ length: 40 }, (_, user) => `lossy-${user}`);
    const write = async (external_id: string) => {
      const body = { events: [{ external_id, name: "came", time }] };
      const headers = { "idempotency-key": `key-${external_id}` };
      for (let tries = 0; tries < 50; tries++) {
        const answer = await workspace.track(body, { headers });
        if (answer.status === 201) return;
        assert.equal(answer.status, 503, JSON.stringify(answer.body));
        assert.ok(answer.headers.get("retry-after"));
      }
      assert.fail(`${external_id} is not acknowledged`);
    };
    await Promise.all(ids.map(write));
    proxy.lose({ packets: 0, connections: 0 });
    await assertKept(workspace, ids);
  });
});
