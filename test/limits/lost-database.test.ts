/*
 * How soon callers learn that PostgreSQL is gone or frozen, for every kind of request. The server
 * is a separate process, so that it shares no event loop with its callers.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { type Cluster, startCluster } from "../../lab/bench/engines/postgres-cluster.ts";
import { ENGINE } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { type ChildServer, startChild } from "../system/child-server.ts";

const PROMISED_MS = 2_000;

/** How long requests are sent after the database is lost, and how often. */
const WATCHED_MS = 6_000;
const EVERY_MS = 50;

const SMALL = { shared_buffers: "16MB", max_wal_size: "64MB", min_wal_size: "32MB" };

let cluster: Cluster | undefined;
after(() => cluster?.stop());
if (ENGINE === "postgres") cluster = await startCluster(await temporaryFolder(), SMALL);
const skip = !cluster && "it needs TEST_DATABASE_URL and the programs of PostgreSQL (initdb)";
const own = cluster as Cluster;

/** Sends a signal to every process of the cluster. */
function signalAll(signal: "SIGSTOP" | "SIGCONT"): void {
  const first = readFileSync(join(own.data, "postmaster.pid"), "utf8").split("\n")[0] as string;
  const children = execFileSync("ps", ["-o", "pid=", "--ppid", first], { encoding: "utf8" });
  // When the first continues, it ends those whose callers have left.
  for (const pid of [...children.split("\n").filter((line) => line.trim()), first]) {
    process.kill(Number(pid), signal);
  }
}

async function startOnNewDatabase(name: string): Promise<ChildServer> {
  const sql = postgres(`${own.url}/postgres`, { max: 1, onnotice: () => {} });
  await sql.unsafe(`create database ${name}`);
  await sql.end();
  return startChild({ DATABASE_URL: `${own.url}/${name}`, DATA_DIR: await temporaryFolder() });
}

const EVENT = { external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" };

interface Asked {
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly sentAt: number;
}

async function ask(server: ChildServer, index: number, startedAt: number): Promise<Asked> {
  const kinds: [path: string, body?: unknown, key?: string][] = [
    ["/users/track", { events: [{ ...EVENT, external_id: `user-${index}` }] }],
    ["/users/export/ids", { external_ids: ["ada"] }],
    ["/users/merge", { merge_updates: [] }],
    ["/users/track", { events: [EVENT] }, `unknown-key-${randomUUID()}`],
    ["/subscription/user/status?external_id=ada"],
    ["/health/ready"],
  ];
  const [path, body, key] = kinds[index % kinds.length] as (typeof kinds)[number];
  const begun = performance.now();
  const response = await fetch(`${server.url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key ?? server.key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  const ms = Math.round(performance.now() - begun);
  return { path, status: response.status, ms, sentAt: Math.round(begun - startedAt) };
}

/** Sends requests of all kinds while the database is lost. */
async function askMeanwhile(server: ChildServer): Promise<Asked[]> {
  const asked: Promise<Asked>[] = [];
  const startedAt = performance.now();
  for (let index = 0; performance.now() - startedAt < WATCHED_MS; index++) {
    asked.push(ask(server, index, startedAt));
    await sleep(EVERY_MS);
  }
  return Promise.all(asked);
}

async function assertRefusesSoon(
  name: string,
  { begin, end }: { begin(): unknown; end(): unknown },
): Promise<void> {
  const server = await startOnNewDatabase(name);
  for (let index = 0; index < 30; index++) await ask(server, index, 0);
  await begin();
  const asked = await askMeanwhile(server).finally(() => end());
  // A merge of nothing needs no database once the key is known to be right, for a second.
  const refused = asked.filter(({ status, path }) => status !== 503 && path !== "/users/merge");
  assert.deepEqual(refused, []);
  const late = asked.filter(({ ms }) => ms > PROMISED_MS);
  assert.deepEqual(late, []);

  for (let tries = 0; (await ask(server, 5, 0)).status !== 200; tries++) {
    assert.ok(tries < 600, "It does not recover.");
    await sleep(100);
  }
  const served = await Promise.all(Array.from({ length: 30 }, (_, index) => ask(server, index, 0)));
  assert.deepEqual(
    served.filter(({ status }) => status >= 500),
    [],
  );
  await server.end("SIGTERM");
}

describe("a PostgreSQL that is lost", { skip }, () => {
  test("while PostgreSQL is frozen every request gets 503 within two seconds, and is served once the server is ready again", () =>
    assertRefusesSoon("frozen", {
      begin: () => signalAll("SIGSTOP"),
      end: () => signalAll("SIGCONT"),
    }));

  test("while PostgreSQL is stopped every request gets 503 within two seconds, and is served once the server is ready again", () =>
    assertRefusesSoon("stopped", { begin: () => own.stop(), end: () => own.start() }));

  test("a slow statement on a PostgreSQL that responds is not cut off", async () => {
    const server = await startOnNewDatabase("slow");
    await ask(server, 0, 0);
    const other = postgres(`${own.url}/slow`, { max: 1 });
    after(() => other.end());
    await other.unsafe("begin");
    await other.unsafe("update profiles set version = version");
    const waiting = ask(server, 0, 0);
    await sleep(4_000);
    await other.unsafe("rollback");
    assert.equal((await waiting).status, 201);
    await server.end("SIGTERM");
  });
});
