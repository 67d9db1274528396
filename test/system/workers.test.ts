/* Several server processes that share a port and a PostgreSQL (WEB_CONCURRENCY, serve --workers). */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import { ENGINE, testConfig } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { post, startChild } from "./child-server.ts";

const EVENT = { external_id: "ada", name: "opened", time: "2026-01-01T12:00:00Z" };

/** The processes that a process has started; undefined if this system cannot tell. */
function workersOf(pid: number): number[] | undefined {
  try {
    const lines = execFileSync("ps", ["-e", "-o", "pid=,ppid="], { encoding: "utf8" }).split("\n");
    const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number));
    return pairs.flatMap(([child = 0, parent]) => (parent === pid ? [child] : []));
  } catch {
    return undefined;
  }
}

const canRun = ENGINE === "postgres" && workersOf(process.pid) !== undefined;

describe("several server processes", { skip: !canRun }, () => {
  test("several server processes serve one workspace, replace a killed process and exit together with 0", async () => {
    const { databaseUrl = "" } = await testConfig();
    const server = await startChild({
      DATABASE_URL: databaseUrl,
      DATA_DIR: await temporaryFolder(),
      WEB_CONCURRENCY: "3",
      LOG_LEVEL: "error",
    });
    assert.match(server.greeting, /PostgreSQL, 3 server processes/);
    let taken = 0;
    const writing = (): Promise<unknown> =>
      Promise.all(
        Array.from({ length: 16 }, async () => {
          for (let round = 0; round < 10; round++) {
            const answer = await post(`${server.url}/users/track`, server.key, {
              attributes: [{ external_id: "ada", n: { inc: 1 } }],
              events: [EVENT],
            });
            assert.equal(answer.status, 201, JSON.stringify(answer.body));
            taken++;
          }
        }),
      );
    await writing();
    const workers = workersOf(server.pid) ?? [];
    assert.equal(workers.length, 3);
    process.kill(workers[0] as number, "SIGKILL");
    while (workersOf(server.pid)?.filter((pid) => !workers.includes(pid)).length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await writing();
    const body = { external_ids: ["ada"] };
    const { body: found } = await post(`${server.url}/users/export/ids`, server.key, body);
    const [{ custom_attributes, custom_events }] = found.users;
    assert.deepEqual([custom_attributes.n, custom_events[0].count], [taken, taken]);
    const { code, stderr } = await server.end("SIGTERM");
    const told = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      [code, told.map(({ level, pid, signal, msg }) => [level, pid, signal, msg])],
      [0, [["error", workers[0], "SIGKILL", "a server process ended; another one replaces it"]]],
    );
    assert.deepEqual(workersOf(server.pid), []);
  });
});
