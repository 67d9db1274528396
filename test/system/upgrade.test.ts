/*
 * An upgrade without downtime on PostgreSQL: expand, run both, contract
 * (docs/operations/upgrade.md). The new version is this build with one migration more. The previous
 * one is this build too or, with UPGRADE_FROM, a git reference of the repository:
 * UPGRADE_FROM=HEAD~20 npm test -- system/upgrade.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { ENGINE, testConfig } from "../harness.ts";
import { copyRepository } from "../mutations/broken-rule.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { type ChildServer, post, runCommand, startChild } from "./child-server.ts";

const TOKEN = "admin-token-of-the-upgrade-test";
const KEY = "api-key-of-the-upgrade-test";
const EXPANSION = "9999-expands.sql";

/** This build with a migration that the previous version does not know. */
function newVersion(alongside = "safe"): string {
  const copy = copyRepository();
  rmSync(join(copy, "migrations"));
  cpSync(join(packageRoot(), "migrations"), join(copy, "migrations"), { recursive: true });
  writeFileSync(
    join(copy, "migrations", EXPANSION),
    `-- alongside the previous version: ${alongside}\n` +
      "alter table profiles add column expanded text;\n" +
      "create index profiles_by_expanded on profiles (workspace_id, expanded);\n",
  );
  return copy;
}

/** A git reference, compiled; this build without one. */
async function previousVersion(reference: string | undefined): Promise<string> {
  if (!reference) return packageRoot();
  const root = await temporaryFolder();
  const source = execFileSync("git", ["archive", reference], {
    cwd: packageRoot(),
    maxBuffer: 2 ** 30,
  });
  mkdirSync(root, { recursive: true });
  execFileSync("tar", ["-x", "-C", root], { input: source });
  symlinkSync(join(packageRoot(), "node_modules"), join(root, "node_modules"));
  // Types may have changed with dependencies; what counts is that it starts.
  spawnSync("npx", ["tsc"], { cwd: root, stdio: "ignore" });
  return root;
}

/** Writes until it is told to end. @returns the acknowledged users, and the refusals. */
function writeTo(servers: () => readonly ChildServer[]) {
  const acknowledged: string[] = [];
  const refused: string[] = [];
  let isOver = false;
  const write = async (writer: number) => {
    for (let number = 0; !isOver; number++) {
      const external_id = `w${writer}-${number}`;
      const body = {
        attributes: [{ external_id, n: { inc: 1 } }],
        events: [{ external_id, name: "came", time: "2026-01-01T00:00:00Z" }],
      };
      const headers = { "idempotency-key": external_id };
      for (let tries = 0; ; tries++) {
        const up = servers();
        const server = up[(writer + number + tries) % up.length] as ChildServer;
        const answer = await post(`${server.url}/users/track`, KEY, body, headers).catch(
          () => undefined,
        );
        if (answer?.status === 201) break;
        // The refusals that a client honouring Retry-After repeats.
        if (answer && answer.status !== 503) refused.push(JSON.stringify(answer.body));
        await sleep(100);
      }
      acknowledged.push(external_id);
      await sleep(10);
    }
  };
  const writing = Promise.all([0, 1, 2].map(write));
  return {
    acknowledged,
    refused,
    async end() {
      isOver = true;
      await writing;
    },
  };
}

test("a new version migrates and serves beside the previous one under load, which a later start refuses", {
  skip: ENGINE !== "postgres" && "the embedded engine serves one process",
}, async () => {
  const { databaseUrl = "" } = await testConfig();
  const environment = {
    DATABASE_URL: databaseUrl,
    ADMIN_TOKEN: TOKEN,
    SECRET_KEY: "secret-key-of-the-upgrade-test",
    DEMO: "false",
  };
  const start = async (root: string) =>
    startChild({ ...environment, DATA_DIR: await temporaryFolder() }, { root });
  const [previous, next] = [await previousVersion(process.env.UPGRADE_FROM), newVersion()];
  after(() => rmSync(next, { recursive: true, force: true }));

  const old = await start(previous);
  const declared = await post(`${old.url}/admin/v1/apply`, TOKEN, {
    company: { name: "Upgrade" },
    workspaces: [
      {
        name: "upgrade",
        settings: { rate_limits: { "users.track": "off" } },
        api_keys: [{ name: "k", key: KEY, permissions: ["all"] }],
      },
    ],
  });
  assert.equal(declared.status, 200);
  let up: readonly ChildServer[] = [old];
  const load = writeTo(() => up);

  // Expand: the new version migrates while the old one serves.
  const fresh = await start(next);
  // Run both.
  up = [old, fresh];
  await sleep(1_000);
  // Contract: the old one drains and goes.
  up = [fresh];
  assert.equal((await old.end("SIGTERM")).code, 0);
  await sleep(300);
  await load.end();

  assert.deepEqual(load.refused, []);
  for (let from = 0; from < load.acknowledged.length; from += 50) {
    const external_ids = load.acknowledged.slice(from, from + 50);
    const { body } = await post(`${fresh.url}/users/export/ids`, KEY, { external_ids });
    const counts = body.users.map((user: any) => [
      user.custom_attributes.n,
      user.custom_events[0].count,
    ]);
    assert.deepEqual(
      counts,
      external_ids.map(() => [1, 1]),
    );
  }

  const late = await runCommand(["serve"], {
    ...environment,
    PORT: "0",
    DATA_DIR: await temporaryFolder(),
  });
  assert.equal(late.code, 1);
  assert.match(
    late.stderr,
    new RegExp(`it holds the migration ${EXPANSION}, which this version does not know`),
  );
  await fresh.end("SIGTERM");
});

test("an unsafe migration is refused while an earlier server runs, which migrate, serve and doctor name, and applied with --force or once it has stopped", {
  skip: ENGINE !== "postgres" && "the embedded engine serves one process",
}, async () => {
  const { databaseUrl = "" } = await testConfig();
  const environment = async () => ({
    DATABASE_URL: databaseUrl,
    ADMIN_TOKEN: TOKEN,
    SECRET_KEY: "secret-key-of-the-upgrade-test",
    DEMO: "false",
    PORT: "0",
    DATA_DIR: await temporaryFolder(),
  });
  const root = newVersion("unsafe, because it renames profiles.phone");
  after(() => rmSync(root, { recursive: true, force: true }));
  const run = async (...args: string[]) =>
    runCommand(args, await environment(), undefined, { root });
  const old = await startChild(await environment());
  const refusal = new RegExp(
    `${EXPANSION} cannot be applied while servers of an earlier version run: .*\\(process ${old.pid}\\), Rapport `,
  );
  for (const command of ["migrate", "serve"]) {
    const { code, stderr } = await run(command);
    assert.equal(code, 1, command);
    assert.match(stderr, refusal);
  }
  const examined = await run("doctor");
  assert.equal(examined.code, 1);
  assert.match(examined.stdout, refusal);
  assert.equal((await fetch(`${old.url}/health/ready`)).status, 200);

  await old.end("SIGTERM");
  assert.match((await run("doctor")).stdout, new RegExp(`Migrations to apply: ${EXPANSION}`));
  const again = await startChild(await environment());
  const forced = await run("migrate", "--force");
  assert.deepEqual([forced.code, forced.stdout], [0, `${EXPANSION}\n`]);
  await again.end("SIGTERM");
});
