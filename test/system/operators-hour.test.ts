/*
 * An operator's hour: two servers on one PostgreSQL, with manifests that differ; the key is
 * rotated, the database lost, its disk filled, a backup restored elsewhere, an old schema upgraded.
 * Every acknowledged write is there at the end.
 */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { type Cluster, startCluster } from "../../lab/bench/engines/postgres-cluster.ts";
import { migrateWithin } from "../../src/core/database/migrations/migrate.ts";
import { openPostgres } from "../../src/core/database/postgres/postgres.ts";
import { ENGINE } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";
import {
  type ChildServer,
  type Environment,
  post,
  runCommand,
  startChild,
} from "./child-server.ts";
import { mountSmallDisk } from "./small-disk.ts";

const OLD_KEY = "the-first-secret-key-of-the-hour";
const NEW_KEY = "the-second-secret-key-of-the-hour";
const APP_KEY = "key-of-the-app-in-the-operators-hour";
const NEW_APP_KEY = "key-of-the-new-app-in-the-operators-hour";
const CENTER = "0f4e6c1a-7d02-4c55-9a3e-2b8d51c7f6a4";
const TIME = "2026-01-01T12:00:00Z";
const PATIENCE_MS = 30_000;

const keys = { app: APP_KEY, new: NEW_APP_KEY };
const manifestOf = (version: number, ...names: (keyof typeof keys)[]) => ({
  version,
  company: { name: "Acme" },
  workspaces: [
    {
      name: "shop",
      api_keys: names.map((name) => ({ name, key: keys[name], permissions: ["all"] })),
      preference_centers: [{ id: CENTER, name: "main" }],
    },
  ],
});

const acknowledged: string[] = [];

/** Writes an event of a new user. @returns the status; acknowledged writes are remembered. */
async function write({ url }: ChildServer, id: string, note = ""): Promise<number> {
  const event = { external_id: id, name: "came", time: TIME, properties: { note } };
  const { status } = await post(`${url}/users/track`, APP_KEY, { events: [event] });
  if (status === 201) acknowledged.push(id);
  return status;
}

async function assertAllThere({ url }: ChildServer): Promise<void> {
  const { body } = await post(`${url}/users/export/ids`, APP_KEY, { external_ids: acknowledged });
  const found = body.users.map((user: { external_id: string }) => user.external_id);
  assert.deepEqual(found.sort(), [...acknowledged].sort());
}

const linkStatus = async ({ url }: ChildServer): Promise<number> => {
  const headers = { authorization: `Bearer ${APP_KEY}` };
  return (await fetch(`${url}/preference_center/v1/${CENTER}/url/ada`, { headers })).status;
};

async function untilReady({ url }: ChildServer): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while ((await fetch(`${url}/health/ready`)).status !== 200) {
    assert.ok(performance.now() < giveUpAt, "The server does not recover.");
    await sleep(100);
  }
}

async function newDatabase({ url }: Cluster, name: string): Promise<string> {
  const sql = postgres(`${url}/postgres`, { max: 1, onnotice: () => {} });
  await sql.unsafe(`create database ${name}`);
  await sql.end();
  return `${url}/${name}`;
}

test("an operator's hour on PostgreSQL, from the first start to a restored backup, loses nothing that was acknowledged", async (t) => {
  let cluster: Cluster | undefined;
  after(() => cluster?.stop());
  const disk = ENGINE === "postgres" ? await mountSmallDisk(200) : undefined;
  const small = { shared_buffers: "16MB", max_wal_size: "64MB", min_wal_size: "32MB" };
  if (disk) cluster = await startCluster(disk.folder, small);
  if (!disk || !cluster)
    return t.skip("it needs TEST_DATABASE_URL, initdb, and root to mount a disk");
  const folder = await temporaryFolder();
  const file = async (name: string, content: object) => {
    await writeFile(join(folder, name), JSON.stringify(content));
    return join(folder, name);
  };
  const DATABASE_URL = await newDatabase(cluster, "hour");
  const machine = (name: string, more: Environment): Environment => ({
    DATABASE_URL,
    DATA_DIR: join(folder, name),
    LOG_LEVEL: "info",
    DEMO: "false",
    SECRET_KEY: OLD_KEY,
    ...more,
  });

  // Two servers; the second still has the manifest of last week.
  const newer = await file("newer.json", manifestOf(2, "app", "new"));
  const older = await file("older.json", manifestOf(1, "app"));
  let one = await startChild(machine("one", { MANIFEST: newer }));
  let two = await startChild(machine("two", { MANIFEST: older }));
  const token = (await readFile(join(folder, "one", "admin-token"), "utf8")).trim();
  assert.ok(![one, two].some(({ greeting }) => greeting.includes(token)));
  const { status } = await post(`${two.url}/users/track`, NEW_APP_KEY, {
    events: [{ external_id: "ada", name: "came", time: TIME }],
  });
  assert.equal(status, 201);
  acknowledged.push("ada");

  // The key is rotated: not before every server has it.
  assert.equal(await linkStatus(one), 200);
  const admin = { ADMIN_TOKEN: token };
  const rotate = () => runCommand(["secrets", "rotate", "--url", two.url], admin);
  const changing = { SECRET_KEY: NEW_KEY, PREVIOUS_SECRET_KEY: OLD_KEY };
  const ended = await two.end("SIGTERM");
  assert.match(ended.stderr, /The manifest is not applied\. A newer manifest/);
  two = await startChild(machine("two", { MANIFEST: newer, ...changing }));
  const early = await rotate();
  assert.match(early.stderr, new RegExp(`is missing on .*\\(process ${one.pid}\\)`));
  await one.end("SIGTERM");
  one = await startChild(machine("one", { MANIFEST: newer, ...changing }));
  const rotated = await rotate();
  assert.equal(rotated.code, 0, rotated.stderr);
  assert.deepEqual([await linkStatus(one), await linkStatus(two)], [200, 200]);

  // The database is lost for a while.
  await cluster.stop();
  assert.deepEqual([await write(one, "lost-1"), await write(two, "lost-2")], [503, 503]);
  await sleep(1_000);
  await cluster.start();
  for (const server of [one, two]) {
    await untilReady(server);
    assert.equal(await write(server, `back-${server.pid}`), 201);
  }

  // Its disk is full for a while.
  await disk.fill(0);
  const large = "x".repeat(49_000);
  let last = 0;
  for (let user = 0; user < 200 && last !== 503; user++)
    last = await write(one, `f-${user}`, `${user}${large}`);
  assert.equal(last, 503);
  await disk.free();
  await untilReady(one);
  assert.equal(await write(one, "space"), 201);
  await assertAllThere(two);

  // A backup is restored into another database, and served.
  const backup = join(folder, "hour.backup");
  const backedUp = await runCommand(["backup", backup], {
    DATABASE_URL,
    DATA_DIR: join(folder, "one"),
    SECRET_KEY: NEW_KEY,
  });
  assert.equal(backedUp.code, 0, backedUp.stderr);
  const { stderr } = await one.end("SIGTERM");
  for (const message of ["the database is lost", "the database is back"]) {
    assert.equal(stderr.split(message).length, 2, message);
  }
  await two.end("SIGTERM");
  const elsewhere = {
    DATABASE_URL: await newDatabase(cluster, "restored"),
    DATA_DIR: join(folder, "restored"),
    SECRET_KEY: NEW_KEY,
  };
  const restored = await runCommand(["restore", backup], elsewhere);
  assert.equal(restored.code, 0, restored.stderr);
  const third = await startChild({ ...elsewhere, DEMO: "false" });
  await assertAllThere(third);
  assert.equal(await linkStatus(third), 200);
  await third.end("SIGTERM");

  // A database of an earlier version is upgraded.
  const upgraded = { ...elsewhere, DATABASE_URL: await newDatabase(cluster, "earlier") };
  const earlier = await openPostgres(upgraded.DATABASE_URL);
  await earlier.for("analysis").transaction((tx) => migrateWithin(tx, (name) => name < "0014"));
  await earlier.close();
  const before = await runCommand(["doctor", "--json"], { ...upgraded, PORT: "0" });
  assert.match(before.stdout, /Migrations to apply: 0014/);
  assert.equal((await runCommand(["migrate"], upgraded)).code, 0);
  const doctor = await runCommand(["doctor", "--json"], { ...upgraded, PORT: "0" });
  assert.match(doctor.stdout, /"Up to date\."/);
});
