/*
 * `rapport cdi list|test|run|rows`: clients of the admin API; `run` shows a sync until it ends.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, test } from "node:test";
import type { WriteStream } from "node:tty";
import { runSyncThroughApi } from "../../../../src/features/warehouses/cli/run-sync.ts";
import { startServer } from "../../../harness.ts";
import { temporaryFolder } from "../../../stored-rows.ts";
import { startIntegration } from "../../../sync-runs.ts";
import { runCommand } from "../../../system/child-server.ts";

const server = await startServer();
const folder = await temporaryFolder();
const target = {
  url: server.url,
  port: undefined,
  adminToken: server.adminToken,
  dataDir: "memory:",
};

const GOOD = '2026-01-01,ada,"{""n"":1}"';
const BAD = "2026-01-02,bob,no json";

async function startFile(name: string, ...lines: string[]) {
  const path = join(folder, `${name}.csv`);
  await writeFile(path, ["UPDATED_AT,EXTERNAL_ID,PAYLOAD", ...lines].join("\n"));
  return startIntegration(server, { name, warehouse: { type: "files", url: path } });
}

const cdi = (...args: string[]) =>
  runCommand(["cdi", ...args, "--url", server.url], { ADMIN_TOKEN: server.adminToken });

const run = (...args: string[]) => cdi("run", ...args);

/** A terminal of 80 columns; its contents can be read. */
function terminal() {
  const stream = new PassThrough().setEncoding("utf8");
  let text = "";
  stream.on("data", (part: string) => {
    text += part;
  });
  const unneeded = () => true;
  const output = Object.assign(stream, {
    isTTY: true,
    columns: 80,
    cursorTo: unneeded,
    clearLine: unneeded,
    moveCursor: unneeded,
  });
  return { output: output as unknown as WriteStream, text: () => text };
}

describe("rapport cdi run", () => {
  test("rapport cdi run prints plain lines without a terminal and exits with 0 on success", async () => {
    const { name, workspace } = await startFile(randomUUID(), GOOD);
    const { code, stdout, stderr } = await run(name);
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /^\d+( of \d+)? rows? read, [\d,]+ rows\/s, 0 errors\n/);
    assert.match(stdout, /\nsuccess: 1 row read, 1 synced, 0 failed\n$/);
    assert.equal((await workspace.profiles({ external_ids: ["ada"] })).length, 1);
  });

  test("rapport cdi run exits with 2 when some rows failed and prints where they are listed", async () => {
    const { name, path } = await startFile(randomUUID(), GOOD, BAD);
    const { code, stdout } = await run(name);
    assert.equal(code, 2);
    const [, rows = ""] = /Why rows failed: GET (\S+)\n$/.exec(stdout) ?? [];
    assert.ok(rows.startsWith(`${path}/runs/`));
    assert.equal((await server.admin("GET", rows)).body.results[0].identity.external_id, "bob");
  });

  test("rapport cdi run exits with 1 if no row is synced or the integration is unknown or ambiguous", async () => {
    const bad = await startFile(randomUUID(), BAD);
    const failed = await run(bad.name);
    assert.deepEqual(
      [failed.code, failed.stdout.includes("error: 1 row read, 0 synced")],
      [1, true],
    );

    const missing = await run("no such integration");
    assert.deepEqual(
      [missing.code, missing.stderr],
      [1, "rapport: There is no integration 'no such integration'.\n"],
    );

    const twice = randomUUID();
    const [one, other] = [await startFile(twice, GOOD), await startFile(twice, GOOD)];
    const unclear = await run(twice);
    assert.equal(unclear.code, 1);
    assert.match(unclear.stderr, /Several workspaces have an integration .*: pass --workspace/);
    assert.ok(unclear.stderr.includes(one.workspace.name));
    assert.equal((await run(twice, "--workspace", other.workspace.name)).code, 0);
    assert.deepEqual(await one.workspace.profiles({ external_ids: ["ada"] }), []);
  });

  test("rapport cdi run prints once why a failed source is retried", async () => {
    const { name } = await startIntegration(server, {
      name: randomUUID(),
      retry: { attempts: 2, delay_seconds: 1 },
      warehouse: { type: "postgres", url: "postgres://u@127.0.0.1:1/x", table: "t" },
    });
    const { code, stdout } = await run(name);
    assert.equal(code, 1);
    assert.equal(stdout.match(/^Try 1 of 2: The source failed: .*ECONNREFUSED.*$/gm)?.length, 1);
    const { output, text } = terminal();
    await runSyncThroughApi({ name, workspace: undefined }, target, output);
    assert.match(text(), /\nTry 1 of 2: The source failed: .*\n/);
  });

  test("rapport cdi run shows a progress bar with rows per second and errors in a terminal", async () => {
    const { name } = await startFile(randomUUID(), GOOD, BAD);
    const { output, text } = terminal();
    const code = await runSyncThroughApi({ name, workspace: undefined }, target, output);
    assert.equal(code, 2);
    assert.match(text(), /█+ 2 of 2 rows \| [\d,]+ rows\/s \| 1 error\b/);
    assert.match(text(), /partial: 2 rows read, 1 synced, 1 failed/);
  });
});

describe("rapport cdi test", () => {
  test("rapport cdi test reads five rows, says what a sync would do with each, and syncs nothing", async () => {
    const { name, workspace } = await startFile(
      randomUUID(),
      GOOD,
      BAD,
      "2026-01-03,eve,{}",
      "2026-01-04,fay,{}",
      "2026-01-05,gus,{}",
      "2026-01-06,dan,{}",
      ",never,{}",
    );
    const { code, stdout, stderr } = await cdi("test", name);
    assert.deepEqual([code, stderr], [2, ""]);
    assert.match(
      stdout,
      /^Columns: UPDATED_AT as UPDATED_AT, EXTERNAL_ID as EXTERNAL_ID, PAYLOAD as PAYLOAD\n/,
    );
    assert.match(stdout, /\nThe next sync reads 6 rows, from the beginning\n/);
    assert.match(stdout, /external_id ada {2}7 bytes {2}would be synced\n/);
    assert.match(stdout, /external_id bob {2}7 bytes {2}would be rejected: PAYLOAD_NOT_JSON, /);
    assert.ok(!stdout.includes("dan"), stdout);
    assert.match(stdout, /never synced: 1\nNothing is wrong with the source\.\n$/);
    assert.deepEqual(await workspace.profiles({ external_ids: ["ada"] }), []);
    assert.match((await cdi("rows", name)).stderr, /has not run yet/);
  });

  test("rapport cdi test exits with 1 and says why a sync would fail", async () => {
    const name = randomUUID();
    const path = join(folder, `${name}.csv`);
    await writeFile(path, "EXTERNAL_ID,NOTE\nada,x");
    await startIntegration(server, { name, warehouse: { type: "files", url: path } });
    const { code, stdout } = await cdi("test", name);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /Ignored: EXTERNAL_ID, NOTE\nA sync would fail: The table has no column UPDATED_AT\.\n$/,
    );
    const answer = JSON.parse((await cdi("test", name, "--json")).stdout);
    assert.equal(answer.problem, "The table has no column UPDATED_AT.");
  });
});

describe("rapport cdi list", () => {
  test("rapport cdi list shows every integration with how its last sync ended", async () => {
    const { name, workspace } = await startFile(randomUUID(), GOOD, BAD);
    const ofWorkspace = ["--workspace", workspace.name];
    const before = await cdi("list", ...ofWorkspace);
    assert.equal(
      before.stdout,
      `${name}  workspace ${workspace.name}  attributes  active  never synced\n`,
    );
    await run(name);
    const { integrations } = JSON.parse((await cdi("list", "--json")).stdout);
    const listed = integrations.find((each: any) => each.integration_name === name);
    assert.equal(listed.last_job_status, "partial");
    const { code, stderr } = await cdi("list", "--workspace", "none");
    assert.equal(code, 1);
    assert.match(stderr, /There is no workspace 'none'/);
  });
});

test("rapport cdi list shows all integrations of a workspace, also more than one page of them", async () => {
  const names = Array.from({ length: 101 }, (_, n) => `Sync ${String(n).padStart(3, "0")}`);
  const workspace = await server.workspace({
    integrations: names.map((name) => ({
      id: randomUUID(),
      name,
      type: "attributes",
      warehouse: { type: "files", url: join(folder, "none.csv") },
    })),
  });
  const { stdout } = await cdi("list", "--workspace", workspace.name);
  const listed = stdout.trimEnd().split("\n");
  assert.deepEqual(
    listed.map((line) => line.split("  ")[0]),
    names,
  );
});

describe("rapport cdi rows", () => {
  test("rapport cdi rows prints the failed rows of the last run with the reasons, page after page", async () => {
    const bad = Array.from({ length: 120 }, (_, n) => `2026-01-02,bob-${n},no json`);
    const { name } = await startFile(randomUUID(), GOOD, ...bad);
    const early = await cdi("rows", name);
    assert.equal(early.code, 1);
    assert.match(early.stderr, /has not run yet: start it with npx rapport-server cdi run/);
    await run(name);
    const { stdout } = await cdi("rows", name, "--limit", "115");
    const lines = stdout.trimEnd().split("\n");
    assert.equal(lines.length, 115);
    assert.match(lines[0] ?? "", /^failed {2}external_id bob-\d+ {2}[A-Z_]+( \(\w+\))? {2}\S/);
    assert.equal(new Set(lines).size, 115);
    const { run_id, rows } = JSON.parse((await cdi("rows", name, "--json")).stdout);
    assert.equal(rows.length, 100);
    const same = await cdi("rows", name, "--run", run_id, "--limit", "1", "--json");
    assert.equal(JSON.parse(same.stdout).rows[0].outcome, "failed");
  });
});
