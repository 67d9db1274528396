/* What the tests of jobs share: a database, workers that end with each test, and a clock to set. */
import { randomUUID } from "node:crypto";
import { afterEach } from "node:test";
import pino from "pino";
import type { Job, JobKind } from "../../../../src/core/admin/jobs/job.ts";
import { enqueue } from "../../../../src/core/admin/jobs/queue.ts";
import { startWorker, type Worker } from "../../../../src/core/admin/jobs/worker.ts";
import { type Clock, systemClock } from "../../../../src/core/base/clock.ts";
import { createMetrics } from "../../../../src/core/base/observe/metrics.ts";
import { NO_TRACING } from "../../../../src/core/base/observe/tracing.ts";
import { openMigrated } from "../../../databases.ts";

/** Opened by each file, because it ends with the file. */
export async function openRig() {
  const database = await openMigrated();

  /** The jobs of the running test; they would take up the next test's. */
  const workers: Worker[] = [];
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  });

  const log = pino({ level: "silent" });
  const LONG_LEASE_MS = 60_000;

  /** A clock with a settable time. */
  function clockAt(time: string): Clock & { set(time: string): void } {
    let now = new Date(time);
    return {
      ...systemClock,
      now: () => now,
      set(next) {
        now = new Date(next);
      },
    };
  }

  async function start(
    kind: JobKind<object> | readonly JobKind<object>[],
    clock: Clock = systemClock,
  ): Promise<Worker> {
    const worker = await startWorker(
      { database, clock, log, metrics: createMetrics(), tracing: NO_TRACING },
      [kind].flat(),
      LONG_LEASE_MS,
    );
    workers.push(worker);
    return worker;
  }

  const keyOf = (kind: string, subject = "s") => ({ workspaceId: 1, kind, subject });

  const add = (kind: string, subject?: string, clock: Clock = systemClock) =>
    database.transaction((tx) => enqueue(tx, clock, keyOf(kind, subject)));

  const finish = (job: Job) => database.transaction((tx) => job.finish(tx));

  /** Something that happens later. */
  function event<Value = void>() {
    let happen: (value: Value) => void = () => {};
    const happened = new Promise<Value>((resolve) => {
      happen = resolve;
    });
    return { happen, happened };
  }

  const newKind = (): string => `test.${randomUUID()}`;
  return { add, clockAt, database, event, finish, keyOf, LONG_LEASE_MS, log, newKind, start };
}
