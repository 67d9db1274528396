import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Clock } from "../../base/clock.ts";
import { later } from "../../base/clock.ts";
import { describeError } from "../../base/observe/log.ts";
import type { Metrics } from "../../base/observe/metrics.ts";
import type { Tracing } from "../../base/observe/tracing.ts";
import { type Database, isUnavailable, type Transaction } from "../../database/database.ts";
import { type Job, type JobKind, LeaseLost, TryAgain } from "./job.ts";
import { enqueueDue, followStepBack } from "./schedule.ts";
import {
  type ClaimedRow,
  claimJobs,
  finishJob,
  forgetHolders,
  holdJob,
  releaseJob,
  renewLeases,
} from "./store.ts";

export interface WorkerServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
}

/** The part of a server process that does the jobs. */
export interface Worker {
  /** Looks for work now rather than at its next round. */
  wake(): void;
  /** Lets every job reach a point where it can stop, and gives it back. */
  stop(): Promise<void>;
}

/** How often it looks for work and renews its leases. */
const ROUND_MS = 1_000;

/**
 * How many jobs one process runs at a time. The embedded engine has one connection for all. One
 * workspace never gets all of these slots, because a sync may take hours.
 */
const AT_ONCE = { embedded: 2, postgres: 4 } as const;

/** The clock was set back if it shows this much less than it should. */
const STEP_BACK_MS = 1_000;

const LONGEST_PAUSE_MS = 5 * 60 * 1_000;

/**
 * Runs jobs of all kinds in this process until it is stopped. Any number of processes may do this
 * on one database. A job is held by a lease that each round renews. A killed process renews
 * nothing, and after `leaseMs` another one takes over its jobs. A process that merely stalled fails
 * when it commits: `job.hold` and similar calls only succeed for the holder. The length of a lease
 * therefore decides how soon a job resumes; correctness does not depend on it.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: its rounds share which jobs are held and whether it stops.
export async function startWorker<Services extends WorkerServices>(
  services: Services,
  kinds: readonly JobKind<Services>[],
  leaseMs: number,
): Promise<Worker> {
  const { database, clock, log, metrics, tracing } = services;
  const holder = randomUUID();
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  const running = new Map<string, { readonly abort: AbortController; done: Promise<void> }>();
  const after = (ms: number) => later(clock.now(), { ms });
  const aheadOfElapsed = () => clock.now().getTime() - clock.elapsedMs();
  let usualAhead = aheadOfElapsed();
  let isStopping = false;
  let isWanted = false;
  let endPause = () => {};

  // The lock on its folder says that no other process has the embedded engine.
  if (database.engine === "embedded") await forgetHolders(database);

  async function round(): Promise<void> {
    const ahead = aheadOfElapsed();
    if (ahead < usualAhead - STEP_BACK_MS) await followStepBack(database, clock, leaseMs);
    usualAhead = ahead;
    await renew();
    await enqueueDue(database, clock);
    const free = AT_ONCE[database.engine] - running.size;
    if (free <= 0) return;
    const claimed = await claimJobs(database, {
      kinds: [...byName.keys()],
      holder,
      now: clock.now(),
      leasedUntil: after(leaseMs),
      atMost: free,
      mostOfOne: AT_ONCE[database.engine] - 1,
      running: [...running.keys()],
    });
    for (const row of claimed) start(row);
  }

  async function renew(): Promise<void> {
    if (running.size === 0) return;
    const kept = await renewLeases(database, holder, [...running.keys()], after(leaseMs));
    for (const [id, { abort }] of running) if (!kept.includes(id)) abort.abort();
  }

  function start(row: ClaimedRow): void {
    const abort = new AbortController();
    const done = work(row, abort.signal).finally(() => {
      running.delete(row.id);
      wake();
    });
    running.set(row.id, { abort, done });
  }

  /** Never throws. */
  async function work(row: ClaimedRow, signal: AbortSignal): Promise<void> {
    try {
      const next = await tryOnce(row, signal);
      await releaseJob(database, holder, row.id, next);
    } catch (error) {
      // It cannot even be given back: the lease will run out.
      log.error({ job: row.kind, ...describeError(error) }, "job not released");
    }
  }

  /** @returns how the job is to be given back; a finished job no longer exists. */
  async function tryOnce(row: ClaimedRow, signal: AbortSignal) {
    try {
      await tracing.alone(`job ${row.kind}`, { "rapport.job": row.kind }, async () =>
        byName.get(row.kind)?.run(services, jobOf(row, signal)),
      );
      metrics.job(row.kind, "done");
      return { runAt: clock.now(), hasFailed: false };
    } catch (error) {
      if (signal.aborted || error instanceof LeaseLost) {
        return { runAt: clock.now(), hasFailed: false };
      }
      metrics.job(row.kind, "failed");
      if (error instanceof TryAgain) return { runAt: after(error.delayMs), hasFailed: true };
      log.error({ job: row.kind, ...describeError(error) }, "job failed");
      return { runAt: after(pauseAfter(row.failures)), hasFailed: !isUnavailable(error) };
    }
  }

  function jobOf(row: ClaimedRow, signal: AbortSignal): Job {
    const hold = (tx: Transaction, forgetsFailures: boolean) =>
      holdJob(tx, holder, row.id, { leasedUntil: after(leaseMs), forgetsFailures });
    const orLost = async (isHeld: Promise<boolean>) => {
      if (!(await isHeld)) throw new LeaseLost();
    };
    return {
      ...row,
      signal,
      hold: (tx) => orLost(hold(tx, false)),
      advance: (tx) => orLost(hold(tx, true)),
      finish: (tx) => orLost(finishJob(tx, holder, row.id)),
    };
  }

  async function goRounds(): Promise<void> {
    while (!isStopping) {
      isWanted = false;
      await round().catch((error) => log.warn(describeError(error), "jobs not looked for"));
      if (!isWanted) await pause();
    }
  }

  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(ROUND_MS, leaseMs / 3));
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  function wake(): void {
    isWanted = true;
    endPause();
  }

  const rounds = goRounds();
  return {
    wake,
    async stop() {
      isStopping = true;
      wake();
      await rounds;
      for (const { abort } of running.values()) abort.abort();
      await Promise.all([...running.values()].map((each) => each.done));
    },
  };
}

const pauseAfter = (failures: number): number => Math.min(1_000 * 2 ** failures, LONGEST_PAUSE_MS);
