import { setTimeout as pause } from "node:timers/promises";
import { Problem } from "../base/problem.ts";
import { createSemaphore } from "../base/semaphore.ts";
import { type LanePlan, ONE_LANE, type WriterCount } from "./lanes.ts";
import { databaseError, isLostNode } from "./lost-node.ts";
import type { Use } from "./planner.ts";

/**
 * The database as the rest of Rapport sees it: SQL in, rows out, on one of three engines (embedded
 * PGlite, PostgreSQL, Citus). There is one SQL for all of them;
 * docs/decisions/one-sql-on-three-engines.md says what it may use.
 *
 * Values: `timestamptz` comes back as `Date`, `jsonb` as the parsed value, `bigint` as a number,
 * `numeric` as a string; an array is selected with `to_jsonb`. JSON goes in as text and is cast in the
 * statement (`$1::text::jsonb`, `unnest($1::text[])` and then `::jsonb`), because the drivers disagree
 * on everything else.
 */
export interface Queryable {
  /** Runs one statement with `$1`-style parameters and returns its rows. */
  query<Row = Record<string, unknown>>(
    sql: string,
    parameters?: readonly unknown[],
  ): Promise<Row[]>;
  /**
   * Runs one statement that writes, and returns how many rows it wrote. With `on conflict do
   * nothing` it must also have `returning`, so that the returned rows are counted: Citus's own
   * count includes conflicting rows.
   *
   * @param mustWrite the expected number of rows.
   * @throws a serialization failure (`isAborted`) if it wrote a different number: data changed in
   *   the meantime.
   */
  execute(sql: string, parameters?: readonly unknown[], mustWrite?: number): Promise<number>;
}

/** The beginning of a statement whose text depends on what a caller sent. An engine does not keep it: the next one differs. */
export const NOT_PREPARED = "/* not prepared */ ";

/** The most that a statement may have, whatever is asked for: engines take much memory and time for a long text. */
const MOST_TEXT = 262_144;
const MOST_PARAMETERS = 10_000;

/** A caller asked for so much at once that the statement for it is never sent. */
export class StatementTooLarge extends Problem {
  constructor(sql: string, parameters: readonly unknown[]) {
    const size = `${sql.length} characters and ${parameters.length} parameters`;
    super("WORK_LIMIT_EXCEEDED", "This asks for too much at once: use fewer conditions.", {
      cause: new Error(`A statement of ${size} is too large.`),
    });
    this.name = "StatementTooLarge";
  }
}

/**
 * Every engine calls this for every statement that it sends. Many rows are lists in few parameters, so only a text that is put
 * together from what a caller sent can exceed the bounds.
 *
 * @throws StatementTooLarge
 */
export function checkStatement(sql: string, parameters: readonly unknown[]): void {
  if (sql.length > MOST_TEXT || parameters.length > MOST_PARAMETERS) {
    throw new StatementTooLarge(sql, parameters);
  }
}

/**
 * A transaction, handed first to every store function that writes. Statements that start without
 * waiting for each other run in the order of their start, and share one round trip if the engine
 * can pipeline.
 */
export interface Transaction extends Queryable {
  /** Runs a script of several statements without parameters. For migrations. */
  script(sql: string): Promise<void>;
}

/** @param isChecked whether the check of the place has been made. */
export type TransactionBody<Result> = (tx: Transaction, isChecked: boolean) => Promise<Result>;

/** Gives the place for a transaction that writes only rows in some buckets, and no small table. */
export interface WorkPlace {
  readonly buckets: Iterable<number>;
  /**
   * A check of small tables that the work makes itself. If they are out of its reach, this runs before it.
   *
   * @throws a serialization failure.
   */
  check(database: Queryable): Promise<void>;
}

export interface Database extends Queryable {
  /** The same database for statements of another use; a running transaction stays the same. */
  for(use: Use): Database;
  /** The same database for reads of rows in these buckets: a cluster asks the node that has all of them. */
  reader(buckets: Iterable<number>): Queryable;
  /** How transactions that write users share out the buckets. */
  lanes(writers: WriterCount): Promise<LanePlan>;
  readonly engine: "embedded" | "postgres";
  /** How many transactions can usefully run at the same time in this process. */
  readonly concurrency: number;
  /** Whether all transactions of this process run one after the other. */
  readonly isSerialized: boolean;
  /** How many transactions of the intake this process has begun, if they run beside others. */
  readonly intakeCount?: () => number;
  /** Whether writers of users wait for each other before they read (`laneLocksOf`). */
  readonly ordersWriters: boolean;
  /** How long a call may wait for locks of others in all, in ms; undefined if transactions never wait for each other. */
  readonly lockPatienceMs?: number;
  /** Whether another transaction keeps writers out of a whole table: calls wait for it only `TABLE_LOCK_MS` in all. */
  readonly areTablesLocked?: () => Promise<boolean>;
  /** Whether this is a running transaction (`within`): only its owner can run it again. */
  readonly isWithin?: true;
  /** Whether small tables commit a moment before the rows of users in the same transaction. */
  readonly commitsInParts?: true;
  /**
   * Runs `work` in one transaction (read committed): committed when it resolves, rolled back when
   * it throws. Use `withRetries` if two transactions may conflict.
   */
  transaction<Result>(work: TransactionBody<Result>, place?: WorkPlace): Promise<Result>;
  /**
   * A transaction whose work issues all its statements before awaiting any: if the engine can, they
   * are sent together with begin and commit, without waiting in between. Expected row counts are
   * declared up front (`mustWrite`). The work must not throw after it has issued a statement,
   * because that may be committed.
   */
  transactionAtOnce<Result>(work: TransactionBody<Result>, place?: WorkPlace): Promise<Result>;
  /**
   * Vacuums and analyzes one table after the other, if the engine does not do so by itself. Call it
   * periodically; other statements run in between.
   */
  maintain(): Promise<void>;
  /**
   * Copies the engine's files to a new folder between two transactions; other statements wait. Only
   * the embedded engine in a folder supports this.
   */
  readonly copyTo?: (folder: string) => Promise<void>;
  /** Resolves once the engine responds, also between the statements of a transaction for which all others wait. */
  readonly ping?: () => Promise<void>;
  /** Why the engine accepts no writes at present, if it knows. Reads work nevertheless. */
  readonly trouble?: () => DiskTrouble | undefined;
  /** Calls `listen` with all that the engine reports about itself, for the log. */
  readonly onEvent?: (listen: (event: EngineEvent) => void) => void;
  /** Waits for running work, then releases the engine. */
  close(): Promise<void>;
}

/** Why nothing can be written to a disk. */
export interface DiskTrouble {
  readonly kind: "space" | "inodes" | "unwritable";
  /** For operators and callers: it names no path. */
  readonly sentence: string;
  /** For the log. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** A line for the log. */
export interface EngineEvent {
  readonly level: "error" | "info";
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** When the database was lost or found again. */
  readonly isUp?: boolean;
}

/**
 * Runs reads on one snapshot: all see the database as it was at the first read. Within a running
 * transaction, which also writes, each sees everything committed so far.
 *
 * Planning such reads by key took PostgreSQL longer than running them, so it may keep their plans.
 */
export function readTogether<Result>(
  database: Database,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result> {
  if (database.isWithin || database.isSerialized) return database.transaction(work);
  return database.transaction(async (tx) => {
    // Sent along with the first read.
    const [, , result] = await settleAll([
      tx.query("set transaction isolation level repeatable read, read only"),
      tx.query("set local plan_cache_mode = auto"),
      work(tx),
    ]);
    return result;
  });
}

/** A running transaction in the place of a database: what begins within it is part of it. */
export function within(database: Database, tx: Transaction): Database {
  return {
    engine: database.engine,
    concurrency: 1,
    isSerialized: true,
    ordersWriters: false,
    isWithin: true,
    for: () => within(database, tx),
    reader: () => tx,
    lanes: async () => ONE_LANE,
    query: (sql, parameters) => tx.query(sql, parameters),
    execute: (sql, parameters, mustWrite) => tx.execute(sql, parameters, mustWrite),
    transaction: (work) => work(tx, false),
    transactionAtOnce: (work) => work(tx, false),
    maintain: async () => {},
    close: async () => {},
  };
}

/** The most that a retry waits between two tries: long enough for the other side to finish. */
const RETRY_PAUSE_MS = 20;

/**
 * Runs a transaction again when it was aborted (deadlock, serialization failure), at most `tries`
 * times. Within a running transaction there is only one attempt, because the outer transaction is
 * rolled back and retried as a whole. If a lock was not free soon, it also runs again.
 *
 * @param work gets the number of the attempt, from 1; within a running transaction it is infinity,
 *   the last one.
 */
export const withRetries = <Result>(
  database: Database,
  work: (tx: Transaction, attempt: number) => Promise<Result>,
  tries?: number,
): Promise<Result> => untilUnlocked(database, () => retryAborted(database, work, tries));

/** As `withRetries`, for a caller that runs it again by itself if a lock is not free. */
export async function retryAborted<Result>(
  database: Database,
  work: (tx: Transaction, attempt: number) => Promise<Result>,
  tries = 20,
): Promise<Result> {
  if (database.isWithin) return database.transaction((tx) => work(tx, Infinity));
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.transaction((tx) => work(tx, attempt));
    } catch (error) {
      if (attempt >= tries || !isAborted(error)) throw error;
      // After a serialization failure the winner is done; after a deadlock it still runs. With many
      // contenders, random backoff desynchronizes them.
      const waits = codeOf(error) === DEADLOCK || attempt > 2;
      if (waits) await pause(Math.random() * RETRY_PAUSE_MS * Math.min(attempt, 5));
    }
  }
}

/** Between two tries of a call that needs a lock: longer each time, because each try locks other rows for a moment. */
const LOCK_PAUSE_MS = { first: 25, longest: 400 };

/** How long a call waits in all while a whole table is locked, in ms: nothing can be written, as far as can be known. */
export const TABLE_LOCK_MS = 1_200;

/** How many calls of a process try again at the same time: others need the connections. */
const again = createSemaphore(() => 3);

/**
 * Runs a call again while a lock that it needs is not free, for at most `Database.lockPatienceMs`. It waits without a
 * transaction, so that no other waits for the locks that it does get.
 *
 * @param run gets whether it runs again.
 */
export async function untilUnlocked<Result>(
  { lockPatienceMs, areTablesLocked }: Pick<Database, "lockPatienceMs" | "areTablesLocked">,
  run: (isAgain: boolean) => Promise<Result>,
): Promise<Result> {
  if (lockPatienceMs === undefined) return run(false);
  const begunAt = performance.now();
  const giveUpAt = begunAt + lockPatienceMs;
  let locked: unknown;
  const isOver = async (inMs = 0) => {
    const at = performance.now() + inMs;
    return at >= giveUpAt || (at - begunAt >= TABLE_LOCK_MS && (await areTablesLocked?.()));
  };
  const runOnce = (isAgain: boolean) =>
    run(isAgain).catch((error: unknown) => {
      if (!isLocked(error)) throw error;
      locked = error;
      return undefined;
    });
  let result = await runOnce(false);
  let pauseMs = LOCK_PAUSE_MS.first;
  while (locked) {
    if (await isOver(pauseMs)) throw locked;
    await pause(pauseMs * (0.5 + Math.random() / 2));
    pauseMs = Math.min(2 * pauseMs, LOCK_PAUSE_MS.longest);
    await again.take();
    try {
      if (await isOver()) throw locked;
      locked = undefined;
      result = await runOnce(true);
    } finally {
      again.give();
    }
  }
  return result as Result;
}

/**
 * Waits for all writes that were started together, even if one fails: otherwise a later statement
 * of a slower one could reach the connection after its transaction has ended.
 *
 * @throws the first error: later ones may be its consequence.
 */
export async function settleAll<const Results extends readonly unknown[]>(
  writes: {
    readonly [Index in keyof Results]: Promise<Results[Index]>;
  },
): Promise<Results> {
  const errors: unknown[] = [];
  const done = (writes as readonly Promise<unknown>[]).map((write) =>
    write.catch((error: unknown) => void errors.push(error)),
  );
  const results = await Promise.all(done);
  if (errors.length > 0) throw errors[0];
  return results as unknown as Results;
}

export const SERIALIZATION_FAILURE = "40001";

const DEADLOCK = "40P01";

/**
 * @returns the written rows.
 * @throws a serialization failure if their number is not the expected one.
 */
export function checkWritten(written: number, mustWrite: number | undefined): number {
  if (mustWrite === undefined || written === mustWrite) return written;
  const message = `A statement wrote ${written} rows where ${mustWrite} were to be written.`;
  throw databaseError(SERIALIZATION_FAILURE, message);
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}

/** The SQLSTATE of an error of the database, or the code of another one; empty if it has none. */
export const stateOf = (error: unknown): string => codeOf(error);

/** Whether the engine failed while it ran the statement that this error is of: its cause, as far as can be told. */
export const wasRunning = (error: unknown): boolean =>
  (error as { wasRunning?: unknown } | null)?.wasRunning === true;

/** Whether this transaction was aborted in favour of another one. */
export const isAborted = (error: unknown): boolean =>
  [SERIALIZATION_FAILURE, DEADLOCK].includes(codeOf(error));

const LOCK_NOT_AVAILABLE = "55P03";

/** Whether another transaction holds a lock for longer than this one may wait for it. */
export const isLocked = (error: unknown): boolean => codeOf(error) === LOCK_NOT_AVAILABLE;

/** For a wait outside the engine that ends like one for a lock. */
export const lockedError = (message: string): Error => databaseError(LOCK_NOT_AVAILABLE, message);

/** Whether a unique index refused a row. */
export const isDuplicate = (error: unknown): boolean => codeOf(error) === "23505";

/** The response of a server that has become a standby, or was told to accept no writes. */
export const READ_ONLY = "25006";

/** The response of a database without free space. */
const DISK_FULL = "53100";

/** Whether a database takes no writes, while reads work. */
export const isRefusedWrite = (error: unknown): boolean =>
  [READ_ONLY, DISK_FULL].includes(codeOf(error));

/** A connection fails or ends; a server that refuses one for another reason is reachable. */
const NO_CONNECTION =
  /^(08...|57P0[123]|ECONN\w+|EHOST\w+|ENET\w+|ENOTFOUND|EAI_AGAIN|ENOENT|EPIPE|ETIMEDOUT|CONNECT\w+)$/;

/** Whether a server cannot be reached at present: it may be starting. */
export const isUnreachable = (error: unknown): boolean => NO_CONNECTION.test(codeOf(error));

/** Whether a server that is there refuses a new connection: the login, the database, or too many. Open ones may go on. */
export const isRefusedEntry = (error: unknown): boolean =>
  /^(28...|3D000|53300)$/.test(codeOf(error));

/** Among them a lock, a statement and an idle transaction that took longer than their deadlines. */
const UNAVAILABLE =
  /^(08...|25006|28...|3D000|57P0[123]|57014|55P03|25P03|53...|58030|ECONN\w+|ENOTFOUND|EPIPE|ETIMEDOUT|CONNECT\w+)$/;

/** Whether the engine could not be reached, was too slow, takes no writes or is out of resources: try again later. */
export const isUnavailable = (error: unknown): boolean =>
  UNAVAILABLE.test(codeOf(error)) || isUnreachable(error) || isLostNode(error);

/** The fault of a database, in a sentence for operators. */
export function describeUnavailable(error: unknown): string {
  const code = codeOf(error);
  // The embedded engine says more than its code.
  if (error instanceof Error && /^(DiskError|EngineUnavailable)$/.test(error.name)) {
    return error.message;
  }
  if (code === DISK_FULL) return "The disk of the database is full.";
  if (code === "53200") return "The database is out of memory.";
  if (code === "58030") return "The database cannot read or write its disk.";
  if (code === "53300") return "The database has no connection left.";
  if (code === READ_ONLY) return "The database is read-only.";
  if (code === "3D000") return "The database does not exist.";
  if (/^28/.test(code)) return "The database refuses the login.";
  if (code === "57P03") return "The database is starting or stopping.";
  return "The database does not respond.";
}
