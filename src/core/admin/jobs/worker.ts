import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { DAY_MS, later } from "../../base/clock.ts";
import { describeError } from "../../base/observe/log.ts";
import type { Metrics } from "../../base/observe/metrics.ts";
import type { Tracing } from "../../base/observe/tracing.ts";
import { createPool } from "../../base/pool.ts";
import { type Database, isUnavailable, type Transaction } from "../../database/database.ts";
import type { StoringServices } from "../../database/storing-services.ts";
import { faultOf } from "./fault.ts";
import { type Job, type JobKind, LeaseLost, type PlaceKind, TryAgain } from "./job.ts";
import { enqueueDue, followStepBack } from "./schedule.ts";
import {
  type ClaimedRow,
  claimJobs,
  finishJob,
  forgetHolders,
  holdJob,
  type Release,
  releaseJob,
  renewLeases,
  selectDue,
} from "./store.ts";

export interface WorkerServices extends StoringServices {
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
 * How many jobs one process runs at a time, by what they take. The embedded engine has one connection
 * for all, and a transfer keeps rows or a file in memory. Shares shrink (`createPool`): any two
 * workspaces leave a place for a third, because a transfer may take hours.
 */
const PLACES: Readonly<Record<Database["engine"], Readonly<Record<PlaceKind, number>>>> = {
  embedded: { work: 4, transfer: 4, wait: 32 },
  postgres: { work: 4, transfer: 8, wait: 32 },
};

/** After so many failures of the same kind without progress a job ends, or pauses if it is periodic. */
export const MOST_FAULTS = 5;

const PAUSED_MS = DAY_MS;

/** The clock was set back if it shows this much less than it should. */
const STEP_BACK_MS = 1_000;

const LONGEST_PAUSE_MS = 5 * 60 * 1_000;

/** How many due jobs are read at a time for each kind of place: more than there are places. */
const MOST_DUE = 100;

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
  const places = PLACES[database.engine];
  const pools = {
    work: createPool(places.work, 1),
    transfer: createPool(places.transfer, 1),
    wait: createPool(places.wait, 1),
  };
  const running = new Map<string, { readonly abort: AbortController; done: Promise<unknown> }>();
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
    await claim();
  }

  async function claim(): Promise<void> {
    const now = clock.now();
    const wanted = kinds.filter(({ takes = "work" }) => !pools[takes].isFull());
    if (wanted.length === 0) return;
    const due = await selectDue(database, {
      kinds: new Map(wanted.map(({ name, takes = "work" }) => [name, takes])),
      now,
      atMost: MOST_DUE,
      running: [...running.keys()],
    });
    const taken = due.filter(({ takes, workspaceId }) => pools[takes].take(`${workspaceId}`, 1));
    if (taken.length === 0) return;
    const ids = taken.map(({ id }) => id);
    const lease = { holder, now, leasedUntil: after(leaseMs) };
    const claimed = await claimJobs(database, { ids, ...lease }).catch((error: unknown) => {
      for (const { takes, workspaceId } of taken) pools[takes].give(`${workspaceId}`, 1);
      throw error;
    });
    const rows = new Map(claimed.map((row) => [row.id, row]));
    for (const { id, takes, workspaceId } of taken) {
      const give = () => pools[takes].give(`${workspaceId}`, 1);
      const row = rows.get(id);
      if (row) start(row, give);
      else give();
    }
  }

  async function renew(): Promise<void> {
    if (running.size === 0) return;
    const kept = await renewLeases(database, holder, [...running.keys()], after(leaseMs));
    for (const [id, { abort }] of running) if (!kept.includes(id)) abort.abort();
  }

  function start(row: ClaimedRow, givePlace: () => void): void {
    const abort = new AbortController();
    const done = work(row, abort.signal).finally(() => {
      givePlace();
      running.delete(row.id);
      wake();
    });
    running.set(row.id, { abort, done });
  }

  /** Never throws. */
  async function work(row: ClaimedRow, signal: AbortSignal): Promise<unknown> {
    const next = await tryOnce(row, signal);
    for (;;) {
      try {
        return await releaseJob(database, holder, row.id, next);
      } catch (error) {
        // A fault of the job that has ended the engine must be counted once the engine is back.
        if (!isUnavailable(error) || isStopping) {
          // It cannot even be given back: the lease will run out.
          return log.error({ job: row.kind, ...describeError(error) }, "job not released");
        }
        await sleep(Math.min(ROUND_MS, leaseMs / 3), undefined, { ref: false });
      }
    }
  }

  /** @returns how the job is to be given back; a finished job no longer exists. */
  async function tryOnce(row: ClaimedRow, signal: AbortSignal): Promise<Release> {
    try {
      await tracing.alone(`job ${row.kind}`, { "rapport.job": row.kind }, () =>
        runOrEnd(row, signal),
      );
      return { runAt: clock.now(), hasFailed: false };
    } catch (error) {
      if (signal.aborted || error instanceof LeaseLost) {
        return { runAt: clock.now(), hasFailed: false };
      }
      metrics.job(row.kind, "failed");
      if (error instanceof TryAgain) return { runAt: after(error.delayMs), hasFailed: true };
      log.error({ job: row.kind, ...describeError(error) }, "job failed");
      const fault = await faultOf(database, error);
      const faults = fault === undefined ? 0 : fault === row.fault ? row.faults + 1 : 1;
      const runAt = after(pauseFor(row, faults));
      return { runAt, hasFailed: fault !== undefined, fault };
    }
  }

  /** A job that has failed too often ends; nothing that it does can fail it once more. */
  async function runOrEnd(row: ClaimedRow, signal: AbortSignal): Promise<void> {
    const kind = byName.get(row.kind);
    if (!kind) return;
    if (row.fault === null || row.faults < MOST_FAULTS || !kind.giveUp) {
      await kind.run(services, jobOf(row, signal));
      return metrics.job(row.kind, "done");
    }
    log.error({ job: row.kind, subject: row.subject, reason: row.fault }, "job given up");
    await kind.giveUp(services, jobOf(row, signal), givenUpFor(row.fault));
  }

  /** A job that has just failed often enough is ended at once. */
  function pauseFor({ kind, failures }: ClaimedRow, faults: number): number {
    const isPeriodic = byName.get(kind)?.giveUp === undefined;
    if (isPeriodic && faults >= MOST_FAULTS) return PAUSED_MS;
    return faults === MOST_FAULTS ? 0 : pauseAfter(failures);
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

const givenUpFor = (fault: string): string =>
  `It failed ${MOST_FAULTS} times in the same way. ${fault}`;

const pauseAfter = (failures: number): number => Math.min(1_000 * 2 ** failures, LONGEST_PAUSE_MS);
