/* `/health/live` and `/health/ready`: what watches over the server asks without a key. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import postgres from "postgres";
import { BY_THE_SERVER } from "../../src/core/base/context/context.ts";
import { Problem } from "../../src/core/base/problem.ts";
import { FULL_VERSION } from "../../src/core/base/version.ts";
import type { Database } from "../../src/core/database/database.ts";
import { healthEndpoints } from "../../src/server/health-endpoints.ts";
import { openDatabase } from "../../src/server/open-database.ts";
import { ENGINE, startOwnServer, testConfig } from "../harness.ts";

describe("a running server", () => {
  test("a running server responds to /health/live and /health/ready with 200, without a key", async () => {
    const server = await startOwnServer();
    const live = await server.send("GET", "/health/live");
    assert.deepEqual(
      [live.status, live.body],
      [200, { version: FULL_VERSION, message: "success" }],
    );
    const ready = await server.send("GET", "/health/ready");
    assert.deepEqual([ready.status, ready.body], [200, { message: "success" }]);
  });

  test("a server that loses its database stays live, but /health/ready responds with 503", {
    skip: ENGINE !== "postgres",
  }, async () => {
    const server = await startOwnServer();
    const url = new URL(server.config.databaseUrl ?? "");
    const name = url.pathname.slice(1);
    url.pathname = "/postgres";
    const sql = postgres(url.href, { max: 1, onnotice: () => {} });
    await sql.unsafe(`drop database ${name} with (force)`);
    await sql.end();
    const ready = await server.send("GET", "/health/ready");
    assert.equal(ready.status, 503);
    assert.match(ready.body.message, /^The database does not (?:exist|respond)\.$/);
    assert.match(ready.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    assert.equal((await server.send("GET", "/health/live")).status, 200);
    const track = await server.send("POST", "/users/track", {}, { key: "any" });
    assert.equal(track.status, 503);
    assert.match(track.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  });
});

describe("/health/ready", () => {
  const ready = healthEndpoints.find(({ contract }) => contract.path === "/health/ready");
  const input = { params: undefined, query: undefined, body: undefined } as never;

  const ask = (database: Database, isReady = true) => {
    const disk = { hasSpace: async () => true };
    const load = { overload: () => undefined };
    return ready?.handler(
      { database, load, disk, log: { info() {}, warn() {} }, readiness: { isReady } } as never,
      BY_THE_SERVER,
      input,
    );
  };

  test("/health/ready responds with 200 within a transaction for which others may have to wait, also after an error in it", async () => {
    const database = await openDatabase(await testConfig());
    const statuses: (number | undefined)[] = [];
    const failed = database.transaction(async (tx) => {
      await tx.query("select 1");
      statuses.push((await ask(database))?.status);
      await tx.query("select 1 / $1::int", [0]).catch(() => {});
      statuses.push((await ask(database))?.status);
      await tx.query("select 1");
    });
    await assert.rejects(failed, { code: "22012" });
    assert.deepEqual(statuses, [200, 200]);
    await database.close();
  });

  test("/health/ready responds with 503 while the server starts or stops and once its database is closed", async () => {
    const database = await openDatabase(await testConfig());
    assert.equal((await ask(database))?.status, 200);
    await assert.rejects(
      async () => ask(database, false),
      (problem: Problem) => problem instanceof Problem && problem.code === "UNAVAILABLE",
    );
    await database.close();
    await assert.rejects(async () => ask(database), { code: "UNAVAILABLE" });
  });
});
