/*
 * A PostgreSQL that stops responding, and transactions that hold locks for too long. A proxy that
 * lets nothing through imitates a stopped server: to its client both look the same. How soon requests
 * are refused then: test/limits.
 */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { isUnavailable, withRetries } from "../../src/core/database/database.ts";
import { openPostgres } from "../../src/core/database/postgres/postgres.ts";
import { freshDatabase } from "../core/database/fresh-database.ts";
import { startProxy } from "../core/database/slow-proxy.ts";
import { ENGINE, startOwnServer } from "../harness.ts";

const skip = ENGINE !== "postgres" && "the embedded engine has no connections";

/** A statement may take so long here. */
const TIMEOUT_SECONDS = 3;

const event = (external_id: string) => ({
  events: [{ external_id, name: "came", time: "2026-01-01T00:00:00Z" }],
});

describe("a database that stops responding", { skip }, () => {
  test("while the database hangs, requests get 503 with Retry-After and readiness fails; both recover afterwards", async () => {
    const proxy = await startProxy(`${await freshDatabase()}`);
    const server = await startOwnServer({ databaseUrl: proxy.url });
    const workspace = await server.workspace();
    assert.equal((await workspace.track(event("ada"))).status, 201);

    proxy.pause();
    const requests = Array.from({ length: 30 }, (_, index) =>
      index % 2 === 0
        ? workspace.track(event(`user-${index}`))
        : workspace.call("POST", "/users/export/ids", { external_ids: ["ada"] }),
    );
    const live = await server.send("GET", "/health/live");
    assert.equal(live.status, 200);
    const ready = await server.send("GET", "/health/ready");
    assert.equal(ready.status, 503);
    for (const answer of await Promise.all(requests)) {
      assert.equal(answer.status, 503, JSON.stringify(answer.body));
      assert.match(String(answer.headers.get("retry-after")), /^\d+$/);
    }

    proxy.resume();
    for (let attempt = 0; attempt < 20; attempt++) {
      if ((await server.send("GET", "/health/ready")).status === 200) break;
      await sleep(500);
    }
    assert.equal((await workspace.track(event("bob"))).status, 201);
    assert.equal((await workspace.profiles({ external_ids: ["ada"] })).length, 1);
  });

  test("database connections without a response are closed, so that they do not accumulate", async () => {
    const proxy = await startProxy(`${await freshDatabase()}`);
    const database = await openPostgres(proxy.url, 1);
    after(() => database.close());
    proxy.pause();
    for (let round = 0; round < 3; round++) {
      const failed = await database.query("select 1").catch((error) => error);
      assert.ok(isUnavailable(failed), String(failed));
    }
    const failed = await database.transaction((tx) => tx.query("select 1")).catch((error) => error);
    assert.ok(isUnavailable(failed), String(failed));
    await sleep(100);
    assert.ok(proxy.connections <= 2, `There are ${proxy.connections} connections.`);
    proxy.resume();
    assert.equal((await database.query("select 1")).length, 1);
  });
});

describe("a transaction that holds locks", { skip }, () => {
  test("a request that waits too long for a database lock gets 503 with Retry-After and succeeds once it is free", async () => {
    const databaseUrl = `${await freshDatabase()}`;
    const server = await startOwnServer({ databaseUrl, databaseTimeoutSeconds: TIMEOUT_SECONDS });
    const workspace = await server.workspace();
    await workspace.track(event("ada"));
    const other = postgres(databaseUrl, { max: 1 });
    after(() => other.end());
    await other.unsafe("begin");
    await other.unsafe("update profiles set version = version");
    const attributes = [{ external_id: "ada", color: "red" }];
    const answer = await workspace.track({ attributes });
    assert.equal(answer.status, 503, JSON.stringify(answer.body));
    assert.ok(answer.headers.get("retry-after"));
    await other.unsafe("rollback");
    assert.equal((await workspace.track({ attributes })).status, 201);
  });

  test("a transaction whose process has stalled is aborted, which releases its locks", async () => {
    const url = `${await freshDatabase()}`;
    const [paused, other] = [await openPostgres(url, 1), await openPostgres(url, 5)];
    after(() => Promise.all([paused.close(), other.close()]));
    await other.for("analysis").transaction((tx) => tx.script("create table t as select 1 as x"));
    let tell: () => void = () => {};
    const locked = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const abandoned = paused
      .transaction(async (tx) => {
        await tx.execute("update t set x = 2");
        tell();
        await sleep(2_500);
        await tx.query("select 1");
      })
      .catch((error: unknown) => error);
    await locked;
    await withRetries(other, (tx) => tx.execute("update t set x = 3"));
    assert.ok(isUnavailable(await abandoned));
    assert.deepEqual([...(await other.query("select x from t"))], [{ x: 3 }]);
  });
});

test("analysis queries may run longer than the statements of a request", {
  skip,
}, async () => {
  const database = await openPostgres(`${await freshDatabase()}`, 1);
  after(() => database.close());
  const failed = await database.query("select pg_sleep(1.5)").catch((error) => error);
  assert.ok(isUnavailable(failed));
  assert.equal((await database.for("analysis").query("select pg_sleep(1.5)")).length, 1);
});
