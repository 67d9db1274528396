/*
 * Merging, identifying and deleting against time: with tracking, with each other and with themselves,
 * from many writers and, on PostgreSQL, from two servers on one database.
 *
 * RAPPORT_TEST_SEED and RAPPORT_TEST_OPERATIONS run it otherwise; a failure tells its seed.
 */
import { after, test } from "node:test";
import { serve } from "../src/serve.ts";
import { ENGINE, startServer, type TestWorkspace, workspaceAt } from "./harness.ts";
import { runChaos } from "./identity-chaos.ts";

const SEED = Number(process.env.RAPPORT_TEST_SEED ?? 1);
const OPERATIONS = Number(process.env.RAPPORT_TEST_OPERATIONS ?? 2_000);

const server = await startServer();

/** The workspace as every server on the database gives it. */
async function throughAllServers(workspace: TestWorkspace): Promise<TestWorkspace[]> {
  if (ENGINE === "embedded") return [workspace];
  const second = await serve(server.config);
  after(() => second.stop());
  return [workspace, workspaceAt(second.welcome.url, workspace)];
}

test("no event is lost or doubled and nobody comes back to life, whoever is faster", async () => {
  const workspace = await server.workspace();
  await runChaos(server, await throughAllServers(workspace), {
    seed: SEED,
    users: 50,
    writers: 8,
    operations: OPERATIONS,
  });
});

test("neither where a few people are fought over", async () => {
  const workspace = await server.workspace();
  await runChaos(server, await throughAllServers(workspace), {
    seed: SEED + 1,
    users: 6,
    writers: 8,
    operations: OPERATIONS / 4,
  });
});

test("neither where merged external ids lead to the kept users", async () => {
  const settings = { redirect_merged_ids: true, rate_limits: { "users.track": "off" } };
  const workspace = await server.workspace({ settings });
  await runChaos(server, await throughAllServers(workspace), {
    seed: SEED + 2,
    users: 20,
    writers: 8,
    operations: OPERATIONS / 4,
    redirects: true,
  });
});
