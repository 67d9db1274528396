/* The embedded engine comes back after any failure, with all that was acknowledged, and keeps no request waiting for it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { breakableEngines } from "../core/database/broken-engines.ts";
import { ENGINE, startOwnServer, type TestServer } from "../harness.ts";
import { oneIn } from "../sizes.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { mountSmallDisk } from "../system/small-disk.ts";

const skip = ENGINE !== "embedded" && "PostgreSQL is another process";

/** A request has its response within two seconds, and the engine is back within five; the machine may be busy. */
const RESPONDS_WITHIN_MS = 6_000;
const RECOVERS_WITHIN_MS = 60_000;

const ENDLESS =
  "with recursive all_ones as (select 1 union all select 1 from all_ones) select count(*) from all_ones";

const STALL = "a statement that never returns";

const MEMORY = "a statement that takes all its memory";

/** A hundred texts of half a gigabyte. */
const LARGE = `select ${Array.from({ length: 8 }, (_, one) => `length(string_agg(repeat('${one}', 100000), ''))`)}
  from generate_series(1, 9000)`;

const OVERFLOW = "a stack that overflows";

/** No request brings it to the engine. */
const DEEP = `${"[".repeat(6_000)}${"]".repeat(6_000)}`;

describe("the embedded engine fails", { skip }, async () => {
  const engines = breakableEngines();
  after(engines.restore);
  const disk = skip ? undefined : await mountSmallDisk(400);
  const server = skip
    ? ({} as TestServer)
    : await startOwnServer({ dataDir: join(disk?.folder ?? (await temporaryFolder()), "data") });

  /** Sends requests while the engine fails. @returns how long until the next success, in milliseconds. */
  async function failWith(
    fail: () => Promise<unknown>,
    mend = async () => {},
    canHold = false,
  ): Promise<number> {
    const workspace = await server.workspace();
    const acknowledged: string[] = [];
    let sent = 0;
    const send = async () => {
      const external_id = `u${++sent}`;
      const sentAt = performance.now();
      const { status, headers, body } = await workspace.track({ attributes: [{ external_id }] });
      const tookMs = performance.now() - sentAt;
      assert.ok(tookMs < RESPONDS_WITHIN_MS, `A response took ${Math.round(tookMs)} ms.`);
      if (status === 201) acknowledged.push(external_id);
      else {
        assert.equal(status, 503, JSON.stringify(body));
        assert.ok(Number(headers.get("retry-after")) > 0);
      }
      return status;
    };
    for (let count = 0; count < 5; count++) assert.equal(await send(), 201);
    let hasEnded = false;
    const failed = fail()
      .catch((error: unknown) => error)
      .finally(() => {
        hasEnded = true;
      });
    const failedAt = performance.now();
    let refused = 0;
    // A newer Node may give a statement enough memory, or an error of the engine: then nothing has to come back.
    for (let status = 0; status !== 201 || (refused === 0 && !(canHold && hasEnded)); ) {
      assert.ok(performance.now() - failedAt < RECOVERS_WITHIN_MS, "It does not come back.");
      status = await send();
      if (status === 201) continue;
      refused++;
      const ready = await fetch(`${server.url}/health/ready`);
      if (ready.status !== 200) assert.ok(Number(ready.headers.get("retry-after")) > 0);
      await mend();
      await sleep(5);
    }
    const tookMs = performance.now() - failedAt;
    await failed;
    for (let first = 0; first < acknowledged.length; first += 50) {
      const external_ids = acknowledged.slice(first, first + 50);
      const users = await workspace.profiles({ external_ids });
      assert.equal(users.length, external_ids.length);
    }
    return tookMs;
  }

  const causes: Readonly<Record<string, () => Promise<unknown>>> = {
    [STALL]: () => server.database.query(ENDLESS),
    "a crash of its thread": async () => engines.breakNow("throw"),
    "an exit of its code": async () => engines.breakNow("exit"),
    [MEMORY]: () => server.database.query(LARGE),
    [OVERFLOW]: () => server.database.query("select $1::jsonb", [DEEP]),
  };
  const survivable = [causes[MEMORY], causes[OVERFLOW]];
  const isTried = oneIn(4);
  for (const [cause, fail] of Object.entries(causes)) {
    if (cause !== STALL && !isTried()) continue;
    test(`after ${cause} every request has a response in time, and writes work again with all that was acknowledged`, async (t) => {
      t.diagnostic(
        `${cause}: back after ${Math.round(await failWith(fail, undefined, survivable.includes(fail)))} ms`,
      );
    });
  }

  test("a search that takes longer than a write may does not end the engine, and others are refused meanwhile", async () => {
    const workspace = await server.workspace();
    let hasEnded = false;
    const found = server.database.for("lookup").query("select pg_sleep(6)");
    void found.finally(() => {
      hasEnded = true;
    });
    const reasons = new Set<string>();
    while (!hasEnded) {
      const { status } = await workspace.track({ attributes: [{ external_id: "u" }] });
      if (status === 503) {
        const ready = await server.send("GET", "/health/ready");
        if (ready.status === 503) reasons.add(ready.body.message);
      }
      await sleep(50);
    }
    assert.equal((await found).length, 1);
    assert.deepEqual([...reasons], ["The database has been busy with one statement for too long."]);
    assert.equal((await workspace.track({ attributes: [{ external_id: "u" }] })).status, 201);
  });

  test("after a panic on a full disk writes work again once there is space, with all that was acknowledged", async (t) => {
    if (!disk) return t.skip("it needs root to mount a disk");
    const panic = () =>
      server.database.transaction(async (tx) => {
        await disk.fill(0);
        for (let megabytes = 0; megabytes < 40; megabytes++) {
          await tx.query("select pg_logical_emit_message(true, 'test', repeat('a', 1000000))");
        }
      });
    let isMended = false;
    const mend = async () => {
      if (!isMended) await disk.free();
      isMended = true;
    };
    t.diagnostic(`full disk: back after ${Math.round(await failWith(panic, mend))} ms`);
  });
});
