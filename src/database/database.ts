/**
 * The database as the rest of the program sees it: SQL in, rows out, on one of three engines
 * (embedded PGlite, PostgreSQL, Citus). There is one SQL for all of them; what it may use is said
 * in docs/decisions/one-sql-on-three-engines.md.
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
}

/**
 * A transaction, handed first to every store function that writes. Statements that are started
 * without waiting for each other run in the order in which they were started, and share one round
 * trip where the engine can pipeline.
 */
export interface Transaction extends Queryable {
  /** Runs a script of several statements without parameters. For migrations. */
  script(sql: string): Promise<void>;
}

export interface Database extends Queryable {
  readonly engine: "embedded" | "postgres";
  /** How many transactions can usefully run at the same time in this process. */
  readonly concurrency: number;
  /**
   * Runs `work` in one transaction (read committed): committed when it resolves, rolled back when
   * it throws. Use `withRetries` where two transactions may meet in the wrong order.
   */
  transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>;
  /**
   * Vacuums and analyzes, one table after the other, where the engine does not do so by itself.
   * Meant to be called now and then; other statements run in between.
   */
  maintain(): Promise<void>;
  /** Waits for what is running, then lets go of the engine. */
  close(): Promise<void>;
}

/** Runs reads that belong together: all of them see the database as it was at the first one. */
export function readTogether<Result>(
  database: Database,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (tx) => {
    await tx.query("set transaction isolation level repeatable read, read only");
    return work(tx);
  });
}

/** A running transaction in the place of a database: what begins within it is part of it. */
export function within(database: Database, tx: Transaction): Database {
  return {
    engine: database.engine,
    concurrency: 1,
    query: (sql, parameters) => tx.query(sql, parameters),
    transaction: (work) => work(tx),
    maintain: async () => {},
    close: async () => {},
  };
}

/** What the retry waits, at most, between two tries: long enough for the other side to finish. */
const RETRY_PAUSE_MS = 20;

/**
 * Runs a transaction again when the engine gave it up for the sake of another one (deadlock,
 * serialization failure), at most `tries` times.
 */
export async function withRetries<Result>(
  database: Database,
  work: (tx: Transaction) => Promise<Result>,
  tries = 5,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.transaction(work);
    } catch (error) {
      if (attempt >= tries || !isSacrificed(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * RETRY_PAUSE_MS * attempt));
    }
  }
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}

/** Whether the engine ended this transaction so that another one could go on. */
export const isSacrificed = (error: unknown): boolean => ["40001", "40P01"].includes(codeOf(error));

/** Whether a unique index refused a row. */
export const isDuplicate = (error: unknown): boolean => codeOf(error) === "23505";

const UNREACHABLE =
  /^(08...|28...|3D000|57P0[123]|53...|ECONN\w+|ENOTFOUND|EPIPE|ETIMEDOUT|CONNECT\w+)$/;

/** Whether the engine could not be reached or is out of means: try again later. */
export const isUnavailable = (error: unknown): boolean => UNREACHABLE.test(codeOf(error));
