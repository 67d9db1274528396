/* How the tables of user data come onto a cluster. Runs on Citus (`npm run test:citus`). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { countShards } from "../../../src/core/database/citus/distribute.ts";
import { openDatabase } from "../../../src/server/open-database.ts";
import { startOwnServer, testConfig, workspaceAt } from "../../harness.ts";
import { runCommand } from "../../system/child-server.ts";
import { joinAgain, leaveCluster } from "./fresh-database.ts";

const skip = process.env.TEST_CITUS_WORKERS
  ? false
  : "there is no cluster: run npm run test:citus with DATABASE_URL";

const migrateCommand = (url: string, settings: Record<string, string> = {}) =>
  runCommand(["migrate"], { DATABASE_URL: url, ...settings });

describe("rapport migrate on Citus", { skip }, () => {
  test("cuts the tables of user data into as many shards as CITUS_SHARDS says, all of them side by side", async () => {
    const config = await testConfig();
    const { code, stderr } = await migrateCommand(config.databaseUrl ?? "", { CITUS_SHARDS: "16" });
    assert.deepEqual([code, stderr], [0, ""]);
    const database = await openDatabase(config);
    assert.equal(await countShards(database), 16);
    const groups = await database.query(
      "select distinct colocationid from pg_dist_partition where partmethod = 'h'",
    );
    assert.equal(groups.length, 1);
    const uneven = await database.query(
      `select get_shard_id_for_distribution_column('buckets', bucket) from buckets
       group by 1 having count(*) <> 16`,
    );
    assert.deepEqual([...uneven], []);
    await database.close();
  });

  test("rapport migrate moves a plain PostgreSQL database onto the Citus cluster with all its rows", async () => {
    const config = await testConfig();
    const url = config.databaseUrl ?? "";
    await leaveCluster(url);
    const plain = await startOwnServer({ databaseUrl: url });
    const workspace = await plain.workspace();
    const users = Array.from({ length: 200 }, (_, n) => ({
      external_id: `user-${n}`,
      email: `user-${n}@example.com`,
      score: n,
    }));
    for (let n = 0; n < users.length; n += 50) {
      await workspace.track({ attributes: users.slice(n, n + 50) });
    }
    const wanted = {
      external_ids: users.slice(0, 50).map((user) => user.external_id),
      fields_to_export: ["external_id", "email", "custom_attributes", "platform_id"],
    };
    const before = await workspace.profiles(wanted);
    await plain.stop();

    await joinAgain(url);
    const { code, stdout, stderr } = await migrateCommand(url);
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /^Distributed \d+ tables over 8 shards\.$/m);
    assert.equal((await migrateCommand(url)).stdout, "Nothing to do.\n");

    const cluster = await startOwnServer({ databaseUrl: url });
    const found = workspaceAt(cluster.url, workspace);
    assert.deepEqual(await found.profiles(wanted), before);
    const email = "user-150@example.com";
    await found.track({ attributes: [{ external_id: "user-150", email, score: 0 }] });
    const { custom_attributes } = await found.profile({
      email_address: email,
      fields_to_export: ["custom_attributes"],
    });
    assert.deepEqual(custom_attributes, { score: 0 });
  });
});
