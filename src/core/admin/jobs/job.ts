import type { Context } from "../../base/context/context.ts";
import type { Transaction } from "../../database/database.ts";

/*
 * Background work. A kind of job is declared once (`JobKind`) and registered in `app.ts`; a job is
 * a row that names its subject. No other state is in memory, so any server process can run the job,
 * and another one takes over when a process is killed.
 */

export interface JobKind<Services> {
  /** Its name in the table of jobs. */
  readonly name: string;
  /** The kind of place that the job takes while it runs; by default `work`. */
  readonly takes?: PlaceKind;
  /**
   * Runs or resumes the job: earlier commits stay. It calls `job.finish` in the transaction that
   * completes it; a job that returns without that call is started again.
   *
   * @throws TryAgain for a temporary failure; LeaseLost; other errors are retried too.
   */
  run(services: Services, job: Job): Promise<void>;
  /**
   * Ends the job as failed because it has failed too often in the same way, and writes the reason
   * where its owner looks. Like `run`, it calls `job.finish`, or `job.advance` if other work is left.
   * A periodic kind has none: its job is tried again a day later.
   *
   * @param reason a sentence without personal data.
   */
  giveUp?(services: Services, job: Job, reason: string): Promise<void>;
}

/**
 * Places for jobs, of three kinds, so that waiting for a foreign host takes no place from work on the
 * database: `work` runs statements; `transfer` moves rows or files from or to a host that others name;
 * `wait` sends something small to such a host and waits for its response.
 */
export type PlaceKind = "work" | "transfer" | "wait";

/** The identity of a job. There is at most one of each at a time. */
export interface JobKey {
  readonly workspaceId: number;
  readonly kind: string;
  /** Its subject, such as an id, in the form that its kind chooses. */
  readonly subject: string;
}

export interface Job extends JobKey {
  readonly id: string;
  /** Failed tries before this one, since the job last made progress. */
  readonly failures: number;
  /** Aborted when the process stops or another one has the job by now. */
  readonly signal: AbortSignal;
  /**
   * Ties a transaction to this job: it is rolled back if another process has taken over the job, so
   * two processes never commit for one job.
   *
   * @throws LeaseLost
   */
  hold(tx: Transaction): Promise<void>;
  /** As `hold`, in a transaction that makes progress: earlier failures then no longer count. */
  advance(tx: Transaction): Promise<void>;
  /** Removes the job, as part of the transaction that completes it. @throws LeaseLost */
  finish(tx: Transaction): Promise<void>;
}

export const contextOf = ({ kind, id }: Job): Context => ({
  actor: "job",
  actorName: null,
  call: kind,
  requestId: id,
  address: null,
});

/** The job failed for a reason that may pass: it starts again after the delay. */
export class TryAgain extends Error {
  readonly delayMs: number;

  constructor(delayMs: number, cause: unknown) {
    super("The job is tried again.", { cause });
    this.name = "TryAgain";
    this.delayMs = delayMs;
  }
}

/** Another process has the job, or it was withdrawn. The transaction must be rolled back. */
export class LeaseLost extends Error {
  constructor() {
    super("The job is no longer this process's.");
    this.name = "LeaseLost";
  }
}
