/* A job that ends the embedded engine again and again is given up, and no other with it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { type Job, type JobKind, TryAgain } from "../../../src/core/admin/jobs/job.ts";
import { enqueue } from "../../../src/core/admin/jobs/queue.ts";
import { startWorker } from "../../../src/core/admin/jobs/worker.ts";
import { systemClock } from "../../../src/core/base/clock.ts";
import { createMetrics } from "../../../src/core/base/observe/metrics.ts";
import { NO_TRACING } from "../../../src/core/base/observe/tracing.ts";
import { breakableEngines } from "../../core/database/broken-engines.ts";
import { ENGINE, startOwnServer } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";

const skip = ENGINE !== "embedded" && "PostgreSQL is another process";

test("a job whose statement ends the engine five times ends as failed, and a job that waits meanwhile does not", {
  skip,
}, async () => {
  const engines = breakableEngines();
  after(engines.restore);
  const server = await startOwnServer({ dataDir: join(await temporaryFolder(), "data") });
  const { database } = server;
  const workspace = await server.workspace();
  const [killer, bystander] = ["test.killer", "test.bystander"];
  let reason: string | undefined;
  let bystanderEnd: "done" | "given up" | undefined;
  let running = 0;
  const finish = (job: Job) => database.transaction((tx) => job.finish(tx));
  const kinds: JobKind<object>[] = [
    {
      name: killer,
      async run() {
        running++;
        // It breaks once its thread has no message left, after up to 1,000 statements; if that is another's, the job is tried again.
        engines.breakNow("throw");
        try {
          for (;;) await database.query("select 1");
        } finally {
          running--;
        }
      },
      async giveUp(_services, job, why) {
        await finish(job);
        reason = why;
      },
    },
    {
      name: bystander,
      takes: "wait",
      async run(_services, job) {
        // It is under way when the engine ends, and none of its statements is.
        await sleep(50);
        if (reason === undefined) throw new TryAgain(0, new Error("The other job goes on."));
        await finish(job);
        bystanderEnd = "done";
      },
      async giveUp(_services, job) {
        await finish(job);
        bystanderEnd = "given up";
      },
    },
  ];
  let aheadMs = 0;
  const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
  const log = pino({ level: "silent" });
  const services = { database, clock, log, metrics: createMetrics(), tracing: NO_TRACING };
  const worker = await startWorker(services, kinds, 60_000);
  try {
    await database.transaction(async (tx) => {
      for (const kind of [killer, bystander]) {
        await enqueue(tx, clock, { workspaceId: 1, kind, subject: workspace.name });
      }
    });
    while (bystanderEnd === undefined) {
      // No pause before the next try. While one goes on the clock stands still: its lease lasts.
      if (running === 0) aheadMs += 60_000;
      worker.wake();
      await sleep(50);
    }
  } finally {
    await worker.stop();
  }
  assert.equal(bystanderEnd, "done");
  assert.equal(
    reason,
    "It failed 5 times in the same way. The database failed while it ran the job's statement.",
  );
});
