/* DATABASE_URL: the engine that a started server uses. */
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { test } from "node:test";
import postgres from "postgres";
import { ENGINE, testConfig } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { post, runCommand, startChild } from "../../system/child-server.ts";

test("a server with DATABASE_URL keeps its data in that database and opens no embedded engine", {
  skip: ENGINE !== "postgres" && "it needs a PostgreSQL: set TEST_DATABASE_URL",
}, async () => {
  const { databaseUrl = "" } = await testConfig();
  const DATA_DIR = await temporaryFolder();
  const server = await startChild({ DATA_DIR, DATABASE_URL: databaseUrl });
  const attributes = [{ external_id: "kept-in-postgres", seen: true }];
  assert.equal((await post(`${server.url}/users/track`, server.key, { attributes })).status, 201);
  await server.end("SIGTERM");
  const sql = postgres(databaseUrl, { max: 1 });
  const rows = await sql`select 1 from identifiers where value = 'kept-in-postgres'`;
  await sql.end();
  assert.equal(rows.length, 1);
  assert.ok(!(await readdir(DATA_DIR)).includes("engine"));
});

test("a server that cannot reach its DATABASE_URL exits with 1 and does not use the embedded engine", async () => {
  const DATA_DIR = await temporaryFolder();
  const DATABASE_URL = "postgres://user@127.0.0.1:9/none";
  const environment = { PORT: "0", DATA_DIR, DATABASE_URL, DATABASE_WAIT: "0" };
  const { code } = await runCommand(["serve"], environment);
  assert.equal(code, 1);
  assert.deepEqual(await readdir(DATA_DIR), []);
});
