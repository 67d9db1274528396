/* A full disk of a PostgreSQL, on a small disk of its own: docs/operations/faults.md. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import postgres from "postgres";
import { type Cluster, startCluster } from "../../lab/bench/engines/postgres-cluster.ts";
import { ENGINE, startOwnServer } from "../harness.ts";
import { until } from "../until.ts";
import { assertKept, assertSurvives } from "./faults.ts";
import { mountSmallDisk } from "./small-disk.ts";

/** Small, quick to start, and durable where a test crashes it. */
const SMALL = { shared_buffers: "16MB", max_wal_size: "64MB", min_wal_size: "32MB" };

async function newDatabase({ url }: Cluster): Promise<string> {
  const sql = postgres(`${url}/postgres`, { max: 1, onnotice: () => {} });
  await sql.unsafe("create database full_disk");
  await sql.end();
  return `${url}/full_disk`;
}

test("while the disk of PostgreSQL is full requests get 503, health names the disk, and both recover with space", async (t) => {
  let full: Cluster | undefined;
  after(() => full?.stop());
  const disk = ENGINE === "postgres" ? await mountSmallDisk(140) : undefined;
  if (disk) full = await startCluster(disk.folder, SMALL);
  if (!disk || !full) return t.skip("it needs TEST_DATABASE_URL, initdb, and root to mount a disk");
  const note = "x".repeat(20_000);
  await assertSurvives(await startOwnServer({ databaseUrl: await newDatabase(full) }), {
    begin: () => disk.fill(0),
    end: () => disk.free(),
    says: /^The disk of the database is full\.$/,
    body: {
      events: Array.from({ length: 50 }, (_, index) => ({
        external_id: `large-${index}`,
        name: "came",
        time: "2026-01-01T00:00:00Z",
        properties: { note: `${index}${note}` },
      })),
    },
  });
});

test("once the disk of PostgreSQL is full small writes are refused too, by a sentence that names it, reads go on, and writes work again by themselves", async (t) => {
  let full: Cluster | undefined;
  after(() => full?.stop());
  const disk = ENGINE === "postgres" ? await mountSmallDisk(140) : undefined;
  if (disk) full = await startCluster(disk.folder, SMALL);
  if (!disk || !full) return t.skip("it needs TEST_DATABASE_URL, initdb, and root to mount a disk");
  const lines: string[] = [];
  const settings = { databaseUrl: await newDatabase(full), logLevel: "info" } as const;
  const server = await startOwnServer(settings, { write: (line) => void lines.push(line) });
  const workspace = await server.workspace();
  const write = (external_id: string, note = "") =>
    workspace.track({
      events: [{ external_id, name: "came", time: "2026-01-01T00:00:00Z", properties: { note } }],
    });
  assert.equal((await write("before")).status, 201);

  await disk.fill(0);
  const large = "x".repeat(49_000);
  let last = 0;
  for (let user = 0; last !== 503; user++) last = (await write(`f-${user}`, large)).status;
  const refused = await Promise.all(
    Array.from({ length: 20 }, (_, user) => write(`refused-${user}`)),
  );
  for (const { status, headers, body } of refused) {
    assert.equal(status, 503);
    assert.ok(headers.get("retry-after"));
    assert.match(
      body.message,
      /^The disk of the database is full\. Nothing can be written at present/,
    );
  }
  await assertKept(workspace, ["before"]);
  const { body } = await server.send("GET", "/health/ready");
  assert.equal(body.message, "The disk of the database is full.");

  // Without being asked for its health.
  await disk.free();
  await until(async () => (await write("after")).status === 201);
  await assertKept(workspace, ["before", "after"]);
  const troublesTold = () =>
    lines.map((line) => JSON.parse(line)).filter(({ msg }) => /^The disk of/.test(msg));
  await until(() => troublesTold().at(-1)?.level === "info");
  const said = troublesTold();
  assert.deepEqual(
    said.map(({ level }) => level),
    ["error", "info"],
  );
});
