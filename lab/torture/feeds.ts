/* Rows that arrive in order: an import of a file, batch by batch, and a sync of a file that grows. */
import assert from "node:assert/strict";
import { appendFile, writeFile } from "node:fs/promises";
import { PATIENCE_MS, pause } from "./client.ts";
import { eventCounts, INTEGRATION, type Load, type Scene } from "./scene.ts";

const USERS = 5;
const BATCH_ROWS = 50;
const GROWTH_ROWS = 400;

/**
 * Counts the received changes, by user and event, with many identical rows: those are doubled most
 * easily.
 */
function createTally(prefix: string) {
  const expected = new Map<string, number>();
  const ids = Array.from({ length: USERS }, (_, user) => `${prefix}-${user}`);
  let rows = 0;
  return {
    ids,
    expected,
    rows: () => rows,
    next(): { external_id: string; name: string; time: string } {
      const [external_id, name] = [`${prefix}-${rows % USERS}`, `e${rows % 3}`];
      const key = `${external_id} ${name}`;
      expected.set(key, (expected.get(key) ?? 0) + 1);
      // Many rows share a time, and a later one never has an earlier time.
      const time = new Date(Date.UTC(2026, 0, 1) + Math.floor(rows++ / 300) * 1_000);
      return { external_id, name, time: time.toISOString() };
    },
  };
}

/** An import that sends a batch again until it is acknowledged. */
export function steadyImport(scene: Scene): Load {
  const tally = createTally("imported");
  const path = `/admin/v1/workspaces/${scene.name}/imports/torture`;
  return {
    async run() {
      while (scene.goesOn()) {
        const first_row = tally.rows() + 1;
        const rows = Array.from({ length: BATCH_ROWS }, tally.next);
        let answer = await scene.client.admin("POST", path, { kind: "events", first_row, rows });
        // A process that was killed may have left a statement that still runs.
        for (let tries = 0; answer.status === 409 && tries < 20; tries++) {
          await pause(100);
          answer = await scene.client.admin("POST", path, { kind: "events", first_row, rows });
        }
        assert.equal(answer.status, 200, JSON.stringify(answer.body));
        await pause(30);
      }
    },
    async check() {
      const counts = await eventCounts(scene, tally.ids);
      assert.deepEqual([...counts].sort(), [...tally.expected].sort(), `${scene.name}: import`);
    },
    items: tally.rows,
  };
}

/** A sync that is triggered whenever its file has grown. */
export function steadySync(scene: Scene, file: string): Load {
  const tally = createTally("synced");
  const runs = `/admin/v1/workspaces/${scene.name}/integrations/${INTEGRATION}`;
  const lastRun = async () => (await scene.client.admin("GET", `${runs}/runs`)).body.results[0];
  const trigger = () => scene.client.admin("POST", `${runs}/sync`, {});

  async function untilEnded(): Promise<any> {
    for (const giveUpAt = Date.now() + PATIENCE_MS; Date.now() < giveUpAt; await pause(50)) {
      const run = await lastRun();
      if (run && run.job_status !== "running") return run;
    }
    throw new Error(`${scene.name}: the sync does not end`);
  }

  return {
    async run() {
      while (scene.goesOn()) {
        if ((await lastRun())?.job_status !== "running") {
          const rows = Array.from({ length: GROWTH_ROWS }, () => {
            const { time, external_id, name } = tally.next();
            return `${time},${external_id},"{""name"":""${name}"",""time"":""${time}""}"\n`;
          });
          await appendFile(file, rows.join(""));
          await trigger();
        }
        await pause(100);
      }
      await untilEnded();
      await trigger();
      assert.equal((await untilEnded()).job_status, "success", `${scene.name}: sync`);
    },
    async check() {
      const counts = await eventCounts(scene, tally.ids);
      assert.deepEqual([...counts].sort(), [...tally.expected].sort(), `${scene.name}: sync`);
    },
    items: tally.rows,
  };
}

/** Creates the file of a sync, without rows. */
export const startSyncedFile = (path: string): Promise<void> =>
  writeFile(path, "UPDATED_AT,EXTERNAL_ID,PAYLOAD\n");
