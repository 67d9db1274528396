/* The embedded engine while its disk accepts no writes: how requests fail, what the log says, and how it recovers. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { EngineEvent } from "../../../src/core/database/database.ts";
import { openEmbedded } from "../../../src/core/database/embedded/pglite.ts";
import { ENGINE } from "../../harness.ts";
import { until } from "../../until.ts";
import { type ChildServer, post, startChild } from "../child-server.ts";
import { mountSmallDisk, type SmallDisk } from "../small-disk.ts";

const MEGABYTE = 1_024 ** 2;

const RECOVERS_WITHIN_MS = 10_000;

/** The server writes to a folder in trouble once a second. */
const PROBED_WITHIN_MS = 1_500;

const disk = ENGINE === "embedded" ? await mountSmallDisk(300, 6_000) : undefined;
const skip = !disk && "it needs the embedded engine, and root to mount a disk";
const { folder, ...small } = (disk ?? {}) as SmallDisk;

/** Root may write everywhere, so the server of these tests is another user. */
const NOBODY = 65_534;

async function startAsNobody(): Promise<ChildServer> {
  await mkdir(data, { recursive: true });
  await chown(data, NOBODY, NOBODY);
  return startChild({ DATA_DIR: data, LOG_LEVEL: "info" }, { uid: NOBODY });
}

const data = join(folder ?? "", "data");
let server = disk ? await startAsNobody() : ({} as ChildServer);

const eventOf = (external_id: string, properties = {}) => ({
  events: [{ external_id, name: "came", time: "2026-01-01T00:00:00Z", properties }],
});

const track = (server: ChildServer, body: unknown) =>
  post(`${server.url}/users/track`, server.key, body);

const readinessOf = async ({ url }: ChildServer) => {
  const response = await fetch(`${url}/health/ready`);
  return { status: response.status, body: (await response.json()) as { message: string } };
};

async function countEvents(server: ChildServer, ids: readonly string[]): Promise<number> {
  let found = 0;
  for (let at = 0; at < ids.length; at += 50) {
    const { status, body } = await post(`${server.url}/users/export/ids`, server.key, {
      external_ids: ids.slice(at, at + 50),
      fields_to_export: ["external_id", "custom_events"],
    });
    assert.equal(status, 201);
    found += body.users.filter((user: any) => user.custom_events[0].count === 1).length;
  }
  return found;
}

/** Waits until a write is accepted. @returns its user. */
async function untilWritable(server: ChildServer): Promise<string> {
  const giveUpAt = performance.now() + RECOVERS_WITHIN_MS;
  for (;;) {
    const id = `again-${performance.now()}`;
    const { status, body } = await track(server, eventOf(id));
    if (status === 201) return id;
    assert.equal(status, 503, JSON.stringify(body));
    assert.ok(performance.now() < giveUpAt, `It does not recover: ${JSON.stringify(body)}`);
    await sleep(100);
  }
}

interface Trouble {
  begin(): Promise<void>;
  end(): Promise<void>;
  readonly says: RegExp;
}

/** Writes and reads before, during and after a trouble of the disk. */
async function assertRidesOut(server: ChildServer, name: string, trouble: Trouble) {
  const acknowledged: string[] = [];
  for (let count = 0; count < 5; count++) {
    const id = `${name}-${count}`;
    assert.equal((await track(server, eventOf(id))).status, 201);
    acknowledged.push(id);
  }
  await trouble.begin();
  // A folder that cannot be written to shows within a few seconds, the rest with the next request.
  await until(async () => (await readinessOf(server)).status !== 200);
  const { body } = await readinessOf(server);
  assert.match(body.message, trouble.says);
  const refused = await Promise.all([1, 2, 3].map((user) => track(server, eventOf(`no-${user}`))));
  for (const { status, body } of refused) {
    assert.equal(status, 503);
    assert.match(body.message, trouble.says);
    assert.match(body.message, /Nothing can be written/);
  }
  assert.equal(await countEvents(server, acknowledged), acknowledged.length);
  await trouble.end();
  acknowledged.push(await untilWritable(server));
  assert.equal(await countEvents(server, acknowledged), acknowledged.length);
  assert.equal((await readinessOf(server)).status, 200);
}

describe("the embedded engine on a disk that takes no writes", { skip }, () => {
  const acknowledged: string[] = [];

  test("a disk that is filled under load stops writes with 503 before the engine fails, and every acknowledged write is found", async () => {
    await small.fill(80 * MEGABYTE);
    let refusal: { status: number; body: any } | undefined;
    const write = async (writer: number) => {
      for (let count = 0; !refusal; count++) {
        const id = `load-${writer}-${count}`;
        const answer = await track(
          server,
          eventOf(id, { note: randomBytes(10_000).toString("hex") }),
        );
        if (answer.status === 201) acknowledged.push(id);
        else refusal = answer;
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
    assert.equal(refusal?.status, 503);
    assert.match(refusal?.body.message, /^The disk of the data folder is full\./);
    assert.equal(await countEvents(server, acknowledged), acknowledged.length);
    await small.free();
    await untilWritable(server);
  });

  test("a disk without space gets writes refused, reads go on, and writes work again", () =>
    assertRidesOut(server, "space", {
      begin: () => small.fill(0),
      end: () => small.free(),
      says: /^The disk of the data folder is full\./,
    }));

  test("a disk without inodes gets writes refused, reads go on, and writes work again", () =>
    assertRidesOut(server, "inodes", {
      begin: () => small.takeInodes(0),
      end: async () => {
        await sleep(PROBED_WITHIN_MS);
        await small.freeInodes();
      },
      says: /^The disk of the data folder has no inodes left\./,
    }));

  test("a read-only data folder gets writes refused, reads go on, and writes work again", () =>
    assertRidesOut(server, "folder", {
      begin: () => chmod(data, 0o500),
      end: () => chmod(data, 0o700),
      says: /^The data folder cannot be written to\./,
    }));

  test("the log names the path and the free space once for each trouble, and a restart finds every acknowledged write", async () => {
    const { stderr } = await server.end("SIGTERM");
    const lines = stderr.split("\n").filter((line) => /disk|folder/.test(line));
    const about = lines.map((line) => JSON.parse(line)).filter(({ path }) => path === data);
    const full = about.filter(({ level }) => level === "error");
    // A checkpoint may free space for a moment while the disk is filled: then there is one more
    // fault.
    assert.ok(full.length >= 4, String(full.length));
    assert.deepEqual(
      about.map(({ level }) => level),
      full.flatMap(() => ["error", "info"]),
    );
    assert.ok(full[0].free_bytes < 64 * MEGABYTE, String(full[0].free_bytes));
    server = await startAsNobody();
    assert.equal(await countEvents(server, acknowledged), acknowledged.length);
    await server.end("SIGTERM");
  });
});

test("an engine that panics for lack of space is restarted from its log once there is space, with all that was committed", {
  skip,
}, async () => {
  const database = await openEmbedded(join(folder, "panic"));
  after(() => database.close());
  const events: EngineEvent[] = [];
  database.onEvent?.((event) => events.push(event));
  await database.query("create table kept as select generate_series(1, 1000) as number");

  // The transaction has begun when the disk becomes full, so that nothing stops it before the engine notices.
  const panic = database.transaction(async (tx) => {
    await tx.execute("insert into kept values (0)");
    await small.fill(0);
    for (let megabytes = 0; megabytes < 40; megabytes++) {
      await tx.query("select pg_logical_emit_message(true, 'test', repeat('a', 1000000))");
    }
  });
  await assert.rejects(panic, { code: "53100" });
  for (const refused of [
    database.execute("insert into kept values (0)"),
    database.transaction((tx) => tx.execute("insert into kept values (0)")),
  ]) {
    await assert.rejects(refused, { code: "53100" });
  }
  const { user } = process.cpuUsage();
  await sleep(1_000);
  assert.ok(process.cpuUsage().user - user < 900_000, "The engine keeps a core busy.");

  await small.free();
  const giveUpAt = performance.now() + RECOVERS_WITHIN_MS;
  const write = () => database.execute("insert into kept values (1001)");
  while (!(await write().catch(() => undefined))) {
    assert.ok(performance.now() < giveUpAt, "It does not recover.");
    await sleep(100);
  }
  const [row] = await database.query("select count(*), min(number), max(number) from kept");
  assert.deepEqual(row, { count: 1_001, min: 1, max: 1_001 });
  assert.ok(events.some(({ message }) => /engine is back/.test(message)));
});
