/* `rapport tail`: requests to a running server as they arrive. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import { freePort } from "../../free-port.ts";
import { startServer, testConfig } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { post, runCommand, startChild } from "../../system/child-server.ts";

const server = await startServer();

const NOON = "2026-01-01T12:00:00Z";

/** The command while it runs, fed by requests until it has printed the expected text. */
function follow(args: readonly string[], url: string, adminToken: string) {
  const main = join(packageRoot(), "dist", "bundle", "main.js");
  const child: ChildProcess = spawn(process.execPath, [main, "tail", ...args], {
    env: { PATH: process.env.PATH, RAPPORT_URL: url, ADMIN_TOKEN: adminToken },
    stdio: ["ignore", "pipe", "pipe"],
  });
  after(() => child.kill("SIGKILL"));
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (text) => {
    stdout += text;
  });
  child.stderr?.on("data", (text) => {
    stderr += text;
  });
  const ended = once(child, "close").then(([code]) => ({ code, stdout, stderr }));
  return {
    ended,
    /**
     * Sends requests until the command has printed something, because it takes a moment to connect.
     */
    async feed(send: () => Promise<unknown>, until: (printed: string) => boolean) {
      while (!until(stdout + stderr)) {
        await send();
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
}

describe("rapport tail", () => {
  test("rapport tail prints one line for each request with its verdicts, and ends after so many", async () => {
    const workspace = await server.workspace();
    const args = ["--workspace", workspace.name, "--endpoint", "/users/track", "--limit", "2"];
    const tail = follow(args, server.url, server.adminToken);
    let isOver = false;
    void tail.ended.then(() => {
      isOver = true;
    });
    await tail.feed(
      () =>
        workspace.track({
          events: [
            { external_id: "ada", name: "opened", time: NOON },
            { external_id: "bob", name: "opened", time: "yesterday" },
          ],
        }),
      () => isOver,
    );
    const { code, stdout } = await tail.ended;
    assert.equal(code, 0);
    const lines = stdout.trimEnd().split("\n");
    assert.equal(lines.length, 2);
    for (const line of lines) {
      assert.match(
        line,
        /^\d\d:\d\d:\d\d\.\d{3} {2}201 {2}POST \/users\/track {2}[\d.]+ ms {2}\S+ {2}1 of 2 accepted, [A-Z_]+$/,
      );
    }
  });

  test("rapport tail prints rejected items with --details, JSON with --json, and only requests that match the filters", async () => {
    const workspace = await server.workspace();
    const bad = () =>
      workspace.track({ events: [{ external_id: "bob", name: "opened", time: "yesterday" }] });
    const good = () =>
      workspace.track({ events: [{ external_id: "lovelace", name: "opened", time: NOON }] });
    const of = (...args: string[]) =>
      follow(["--workspace", workspace.name, ...args], server.url, server.adminToken);
    const details = of("--details", "--user", "bob");
    const json = of("--json", "--status", "201", "--limit", "1");
    await details.feed(
      () => Promise.all([good(), bad()]),
      (printed) => /events\[0\] bob: [A-Z_]+ .*time/.test(printed) && !printed.includes("lovelace"),
    );
    await json.feed(good, (printed) => printed.endsWith("\n"));
    const { code, stdout } = await json.ended;
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout).status, 201);
  });

  test("rapport tail explains a wrong filter, a wrong workspace, a server without live requests, and a missing server", async () => {
    const { name } = await server.workspace();
    const run = (url: string, ...args: string[]) =>
      runCommand(["tail", "--url", url, ...args], { ADMIN_TOKEN: server.adminToken });
    const wrongStatus = await run(server.url, "--workspace", name, "--status", "many");
    assert.deepEqual([wrongStatus.code, wrongStatus.stdout], [1, ""]);
    assert.match(wrongStatus.stderr, /status/);
    const wrongName = await run(server.url, "--workspace", "no-such");
    assert.match(wrongName.stderr, /There is no workspace 'no-such'/);
    const nowhere = await run(`http://127.0.0.1:${await freePort()}`);
    assert.match(nowhere.stderr, /cannot be reached: no program listens there/);
    assert.match(
      (await run(server.url, "--help")).stdout,
      /npx rapport-server tail --status 4xx --details/,
    );
  });

  test("rapport tail ends after --for seconds, and shows the requests of all processes of a server", async () => {
    const adminToken = "the-admin-token-of-this-test";
    const { databaseUrl } = await testConfig();
    const child = await startChild({
      DATA_DIR: await temporaryFolder(),
      ADMIN_TOKEN: adminToken,
      LIVE_REQUESTS: "1000",
      ...(databaseUrl && { DATABASE_URL: databaseUrl, WEB_CONCURRENCY: "3" }),
    });
    const tail = follow(["--for", "5", "--json"], child.url, adminToken);
    const event = { external_id: "ada", name: "seen", time: NOON };
    const send = () => post(`${child.url}/users/track`, child.key, { events: [event] });
    await tail.feed(
      () => Promise.all([send(), send(), send()]),
      (printed) => printed.split("\n").length > 30,
    );
    // Meanwhile the other processes record theirs.
    const { code, stdout, stderr } = await tail.ended;
    assert.deepEqual([code, stderr], [0, ""]);
    const ids = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).id as string)
      .sort();
    const kept = await keptIds(child.url, adminToken);
    const [first = "", last = ""] = [ids[0], ids.at(-1)];
    assert.ok(ids.length > 10);
    assert.deepEqual(
      kept.filter((id) => id >= first && id <= last),
      ids,
      "none is missing, none comes twice",
    );
    assert.equal((await child.end("SIGTERM")).code, 0);
  });
});

/** The ids of all requests that a server keeps, oldest first. */
async function keptIds(url: string, adminToken: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const path = `${url}/admin/v1/workspaces/demo/requests?limit=100${cursor && `&cursor=${cursor}`}`;
    const response = await fetch(path, { headers: { authorization: `Bearer ${adminToken}` } });
    const body = (await response.json()) as any;
    ids.push(...body.requests.map(({ id }: { id: string }) => id));
    cursor = body.next_cursor;
  }
  return ids.sort();
}
