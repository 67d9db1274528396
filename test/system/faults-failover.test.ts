/* A primary with a synchronous standby is killed and the standby promoted. docs/operations/faults.md */
import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { type Cluster, startCluster } from "../../lab/bench/engines/postgres-cluster.ts";
import { freePort } from "../free-port.ts";
import { ENGINE, startOwnServer } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { assertKept, untilReady } from "./faults.ts";

const SETTINGS = { shared_buffers: "16MB", max_wal_size: "64MB", min_wal_size: "32MB" };

/** A copy of a running cluster that follows it. */
async function startStandby(primary: Cluster, port: number) {
  const home = dirname(primary.data);
  const data = join(home, "standby");
  await primary.run("pg_basebackup", [
    "-d",
    primary.url,
    "-D",
    data,
    "-R",
    "-X",
    "stream",
    "-c",
    "fast",
  ]);
  const upstream = new URL(primary.url);
  await appendFile(
    join(data, "postgresql.auto.conf"),
    `primary_conninfo = 'host=127.0.0.1 port=${upstream.port} user=postgres application_name=standby'\n`,
  );
  const options = [
    ...Object.entries(SETTINGS).map(([name, value]) => `-c ${name}=${value}`),
    `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories='${home}'`,
  ].join(" ");
  const control = (...parameters: string[]) =>
    primary.run("pg_ctl", ["-D", data, "-w", "-s", ...parameters]);
  await control("-l", join(home, "standby-log"), "-o", options, "start");
  return { promote: () => control("promote"), stop: () => control("-m", "immediate", "stop") };
}

/** Commits wait for the standby from now on. */
async function waitForStandby({ url }: Cluster): Promise<void> {
  const sql = postgres(`${url}/postgres`, { max: 1 });
  await sql.unsafe("alter system set synchronous_standby_names = 'standby'");
  await sql.unsafe("select pg_reload_conf()");
  for (let tries = 0; tries < 100; tries++) {
    const rows = await sql`select 1 from pg_stat_replication where sync_state = 'sync'`;
    if (rows.length > 0) break;
    await sleep(100);
  }
  await sql.end();
}

test("when the primary is killed and its synchronous standby promoted, nothing acknowledged is lost, writes go on without a restart, and with both hosts gone the server stops", async (t) => {
  const stops: (() => Promise<unknown>)[] = [];
  after(() => Promise.allSettled(stops.map((stop) => stop())));
  const primary =
    ENGINE === "postgres" ? await startCluster(await temporaryFolder(), SETTINGS) : undefined;
  if (!primary) return t.skip("it needs TEST_DATABASE_URL and the programs of PostgreSQL (initdb)");
  stops.push(() => primary.crash());
  const port = await freePort();
  const standby = await startStandby(primary, port);
  stops.push(() => standby.stop());
  await waitForStandby(primary);

  const databaseUrl = `${primary.url},127.0.0.1:${port}/postgres`;
  const server = await startOwnServer({ databaseUrl, databaseTimeoutSeconds: 5 });
  const workspace = await server.workspace();
  const acknowledged: string[] = [];
  let isOver = false;
  const write = async (writer: number) => {
    for (let number = 0; !isOver; number++) {
      const external_id = `w${writer}-${number}`;
      const body = { events: [{ external_id, name: "came", time: "2026-01-01T00:00:00Z" }] };
      const headers = { "idempotency-key": external_id };
      for (;;) {
        const answer = await workspace.track(body, { headers });
        if (answer.status === 201) break;
        assert.equal(answer.status, 503, JSON.stringify(answer.body));
        assert.ok(answer.headers.get("retry-after"));
        await sleep(100);
      }
      if (number < 20) acknowledged.push(external_id);
      await sleep(20);
    }
  };
  const writing = Promise.all([1, 2].map(write));
  await sleep(500);
  await primary.crash();
  const ready = await server.send("GET", "/health/ready");
  assert.equal(ready.status, 503);
  await standby.promote();
  await untilReady(server);
  await sleep(300);
  isOver = true;
  await writing;
  await assertKept(workspace, acknowledged);

  // With both hosts gone the server stops in time, and tries them no more.
  await standby.stop();
  assert.equal((await server.send("GET", "/health/ready")).status, 503);
  await server.stop();
  let attempts = 0;
  const listener = createServer((socket) => {
    attempts += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(port, "127.0.0.1", resolve));
  await sleep(1_000);
  listener.close();
  assert.equal(attempts, 0);
});
