/*
 * A sync against `kill -9`, several times at random moments: it resumes where it stopped, every
 * row is applied, and no event twice. On one server that is started again; on PostgreSQL also with
 * another server process that takes over.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ENGINE, testConfig } from "../../harness.ts";
import { sized } from "../../sizes.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { type ChildServer, type Environment, post, startChild } from "../../system/child-server.ts";

const KILLS = sized(1, 10);
const ROWS_AT_ONCE = 20_000;
const USERS = 40;
const FIRST_TIME = Date.parse("2026-01-01T12:00:00Z");
const TOKEN = "admin-token-of-the-crash-test";
const KEY = "api-key-of-the-crash-test";
const ID = randomUUID();

async function place(): Promise<Environment> {
  const { databaseUrl } = await testConfig();
  return {
    DATA_DIR: await temporaryFolder(),
    ADMIN_TOKEN: TOKEN,
    JOB_LEASE_SECONDS: "1",
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
}

/**
 * A file of events that grows, many of them with the same UPDATED_AT and the same content: these
 * are what a sync could most easily double or omit when it resumes.
 */
async function startFile() {
  const path = join(await temporaryFolder(), "events.csv");
  await writeFile(path, "UPDATED_AT,EXTERNAL_ID,PAYLOAD\n");
  const expected = new Map<string, number>();
  let rows = 0;
  return {
    path,
    expected,
    async grow() {
      const lines = Array.from({ length: ROWS_AT_ONCE }, () => {
        const [user, name] = [`u${rows % USERS}`, `e${rows % 3}`];
        const time = new Date(FIRST_TIME + Math.floor(rows / 10_000) * 1_000).toISOString();
        const key = `${user} ${name}`;
        expected.set(key, (expected.get(key) ?? 0) + 1);
        rows++;
        return `${time},${user},"{""name"":""${name}""}"\n`;
      });
      await appendFile(path, lines.join(""));
    },
  };
}

type GrowingFile = Awaited<ReturnType<typeof startFile>>;

const declare = (server: ChildServer, url: string) =>
  post(`${server.url}/admin/v1/apply`, TOKEN, {
    company: { name: "Crash" },
    workspaces: [
      {
        name: "crash",
        api_keys: [{ name: "key", key: KEY, permissions: ["all"] }],
        integrations: [
          { id: ID, name: "Events", type: "events", warehouse: { type: "files", url } },
        ],
      },
    ],
  });

const RUNS = `/admin/v1/workspaces/crash/integrations/${ID}`;

async function lastRun(server: ChildServer): Promise<any> {
  const response = await fetch(`${server.url}${RUNS}/runs`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const { results } = (await response.json()) as { results: unknown[] };
  return results[0];
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Every event of the file is there, and none is there twice. */
async function assertWhole(server: ChildServer, { expected }: GrowingFile): Promise<void> {
  const external_ids = Array.from({ length: USERS }, (_, index) => `u${index}`);
  const { body } = await post(`${server.url}/users/export/ids`, KEY, { external_ids });
  const counts = new Map<string, number>();
  for (const user of body.users) {
    for (const { name, count } of user.custom_events) {
      counts.set(`${user.external_id} ${name}`, count);
    }
  }
  assert.deepEqual([...counts].sort(), [...expected].sort());
}

/** Gives a sync rows to read, and waits until a random moment while it runs. */
async function untilSomewhereInARun(server: ChildServer, file: GrowingFile): Promise<void> {
  if ((await lastRun(server))?.job_status !== "running") {
    await file.grow();
    assert.equal((await post(`${server.url}${RUNS}/sync`, TOKEN, {})).status, 202);
  }
  await pause(Math.random() * 500);
}

async function untilEnded(server: ChildServer): Promise<any> {
  for (;;) {
    const run = await lastRun(server);
    if (run.job_status !== "running") return run;
    await pause(20);
  }
}

describe("a sync whose process is killed again and again", () => {
  test("a sync resumes after its server is killed and restarted, and applies every event exactly once", async () => {
    const environment = await place();
    const file = await startFile();
    let server = await startChild(environment);
    let interrupted = 0;
    await declare(server, file.path);
    for (let kill = 0; kill < KILLS; kill++) {
      await untilSomewhereInARun(server, file);
      await server.end("SIGKILL");
      server = await startChild(environment);
      if ((await lastRun(server)).job_status === "running") interrupted++;
    }
    assert.ok(interrupted > 0, "No kill met a run that went on.");
    assert.equal((await untilEnded(server)).job_status, "success");
    await assertWhole(server, file);
    await server.end("SIGTERM");
  });

  test("a sync with a killed server is resumed by another server process on the same database", {
    skip: ENGINE === "embedded" && "the embedded engine serves one process",
  }, async () => {
    const environment = await place();
    const file = await startFile();
    let [server, other] = [await startChild(environment), await startChild(environment)];
    await declare(server, file.path);
    for (let kill = 0; kill < KILLS; kill++) {
      await untilSomewhereInARun(server, file);
      await server.end("SIGKILL");
      [server, other] = [other, await startChild(environment)];
    }
    assert.equal((await untilEnded(server)).job_status, "success");
    await assertWhole(server, file);
    await Promise.all([server.end("SIGTERM"), other.end("SIGTERM")]);
  });
});
