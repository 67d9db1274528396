/*
 * When a sync runs automatically: by its schedule, whether or not a server ran at the time, and
 * again after its source failed.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { delayBeforeNextTry } from "../../../src/features/warehouses/sync.ts";
import { openDatabase } from "../../../src/server/open-database.ts";
import { startOwnServer, workspaceAt } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { startIntegration } from "../../sync-runs.ts";

const MINUTE = 60_000;

describe("a sync schedule", () => {
  test("a schedule that came due while no server was running starts exactly one sync", async () => {
    const folder = await temporaryFolder();
    const url = join(folder, "users.csv");
    await writeFile(url, "UPDATED_AT,EXTERNAL_ID,PAYLOAD\n2026-01-01,ada,{}\n");
    const first = await startOwnServer({ dataDir: folder });
    const integration = await startIntegration(first, {
      schedule: "0 0 1 1 *",
      warehouse: { type: "files", url },
    });
    const { id, path } = integration;
    assert.deepEqual((await first.admin("GET", `${path}/runs`)).body.results, []);
    await first.stop();
    const database = await openDatabase(first.config);
    const missed = new Date(Date.now() - 3 * 365 * 24 * 60 * MINUTE);
    await database.query("update schedules set next_at = $1 where subject = $2", [missed, id]);
    await database.close();

    const second = await startOwnServer(first.config);
    let runs: any[] = [];
    while (runs[0]?.job_status !== "success") {
      await new Promise((resolve) => setTimeout(resolve, 20));
      runs = (await second.admin("GET", `${path}/runs`)).body.results;
    }
    assert.deepEqual([runs.length, runs[0].rows_synced], [1, 1]);
    const workspace = workspaceAt(second.url, integration.workspace);
    assert.equal((await workspace.profile({ external_ids: ["ada"] })).external_id, "ada");
    const { body } = await workspace.call<any>("GET", "/cdi/integrations");
    assert.match(body.results[0].next_scheduled_run, /^\d{4}-01-01T00:00:00\.000Z$/);
    assert.ok(Date.parse(body.results[0].next_scheduled_run) > Date.now());
  });
});

describe("the retry delay of a failed source", () => {
  test("the retry delay doubles up to 15 minutes, for the configured number of attempts", () => {
    const delays = (attempts: number, delay_seconds: number) =>
      Array.from({ length: attempts }, (_, failures) =>
        delayBeforeNextTry({ attempts, delay_seconds }, failures),
      );
    assert.deepEqual(delays(1, 10), [undefined]);
    assert.deepEqual(delays(5, 10), [10_000, 20_000, 40_000, 80_000, undefined]);
    assert.deepEqual(delays(3, 0), [0, 0, undefined]);
    assert.deepEqual(delays(4, 400), [400_000, 800_000, 15 * MINUTE, undefined]);
  });
});
