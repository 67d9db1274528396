/*
 * Merging, identifying and deleting against time: with tracking, subscriptions, imports, with each
 * other and with themselves, from many writers and, on PostgreSQL, through three servers on one
 * database, two of them separate processes.
 *
 * RAPPORT_TEST_SEED and RAPPORT_TEST_OPERATIONS change the run; a failure prints its seed.
 */
import { test } from "node:test";
import { openDatabase } from "../../../../../src/server/open-database.ts";
import { runChaos } from "../../../../core/people/identity/identity-chaos.ts";
import { checkRows } from "../../../../core/people/identity/identity-rows.ts";
import {
  startOwnServer,
  TEST_SECRET_KEY,
  type TestWorkspace,
  workspaceAt,
} from "../../../../harness.ts";
import { sized } from "../../../../sizes.ts";
import { temporaryFolder } from "../../../../stored-rows.ts";
import { startChild } from "../../../../system/child-server.ts";

const SEED = Number(process.env.RAPPORT_TEST_SEED ?? 1);
const OPERATIONS = Number(process.env.RAPPORT_TEST_OPERATIONS ?? sized(250, 2_000));

const server = await startOwnServer({ dataDir: await temporaryFolder() });

const { databaseUrl } = server.config;

const others =
  databaseUrl === undefined
    ? []
    : await Promise.all(
        [1, 2].map(async () => {
          const dataDir = await temporaryFolder();
          const secrets = { ADMIN_TOKEN: server.adminToken, SECRET_KEY: TEST_SECRET_KEY };
          const environment = { ...secrets, DATA_DIR: dataDir };
          return startChild({ ...environment, DATABASE_URL: databaseUrl });
        }),
      );

/** The workspace as every server on the database gives it. */
const throughAllServers = (workspace: TestWorkspace): TestWorkspace[] => [
  workspace,
  ...others.map(({ url }) => workspaceAt(url, workspace)),
];

test("concurrent merges, deletes and writes lose nothing, duplicate nothing and revive no deleted user", async () => {
  const workspace = await server.workspace();
  await runChaos(server, throughAllServers(workspace), {
    seed: SEED,
    users: 100,
    writers: 8,
    operations: OPERATIONS,
  });
});

test("concurrent writes to only a few users lose nothing, duplicate nothing and revive no deleted user", async () => {
  const workspace = await server.workspace();
  await runChaos(server, throughAllServers(workspace), {
    seed: SEED + 1,
    users: 6,
    writers: 8,
    operations: OPERATIONS / 4,
  });
});

test("concurrent writes lose and duplicate nothing while merged external ids redirect to the kept users", async () => {
  const settings = { redirect_merged_ids: true, rate_limits: { "users.track": "off" } };
  const workspace = await server.workspace({ settings });
  await runChaos(server, throughAllServers(workspace), {
    seed: SEED + 2,
    users: 20,
    writers: 8,
    operations: OPERATIONS / 4,
    redirects: true,
  });
});

test("concurrent requests do not fail while the workspace is reset", async () => {
  // In several workspaces, because what one reset leaves behind the next one takes away.
  const rounds = Array.from({ length: sized(4, 10) }, (_, index) => index);
  for (const round of rounds) {
    const workspace = await server.workspace();
    await runChaos(server, throughAllServers(workspace), {
      seed: SEED + 3 + round,
      users: 100,
      writers: 8,
      operations: OPERATIONS / 20,
      resets: true,
    });
  }
});

test("after concurrent merges, deletes and resets, every row belongs to an existing user and all rows agree", async () => {
  await Promise.all(others.map((other) => other.end("SIGTERM")));
  await server.stop();
  const database = await openDatabase(server.config);
  await checkRows(database).finally(() => database.close());
});
