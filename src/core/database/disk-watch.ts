import type { Database } from "./database.ts";
import { databaseError } from "./lost-node.ts";
import { wrapDatabase } from "./wrap-database.ts";

/** PostgreSQL's report when it finds no space. */
const DISK_FULL = "53100";

/** How often, at most, a full disk is looked at again. */
const PROBE_EVERY_MS = 1_000;

/**
 * Takes a megabyte and gives it back. Smaller writes may find room in pages that exist, and requests would fail
 * again at once.
 */
const TAKE_SPACE = `create temporary table disk_probe on commit drop as
  select string_agg(md5(number::text), '') from generate_series(1, 32768) as number`;

/** Statements that write. */
const WRITES =
  /^\s*(?:insert into|update|delete from|with\b.*\b(?:insert into|update|delete from))\s/is;

/** Knows whether the database's disk is full. */
export interface DiskWatch {
  /**
   * Statements of this one are watched. While the disk is full, writing statements are refused at
   * once.
   */
  readonly database: Database;
  /**
   * Whether there is space, as far as is known: false from the first statement that found none until a write of a
   * megabyte succeeds. Callers share one such write at a time, and at most one a second is tried.
   */
  hasSpace(): Promise<boolean>;
}

/**
 * Watches the statements of a database for those that find its disk full. Once a disk is full,
 * PostgreSQL itself is in danger: it stops if it cannot extend its log. Meanwhile only one write a
 * second is sent to it, which looks for space.
 *
 * @param tell learns of every change, to log it.
 */
export function watchDisk(inner: Database, tell: (isFull: boolean) => void): DiskWatch {
  if (inner.trouble) return { database: inner, hasSpace: async () => !inner.trouble?.() };
  let isFull = false;
  let probe: Promise<void> | undefined;
  let probedAt = -Infinity;
  /** Whether the last look found space: only the second one in a row ends the trouble. */
  let foundSpace = false;
  let endedAt = -Infinity;
  /** Errors that come from here, not from the database. */
  const refusals = new WeakSet<Error>();
  let timer: NodeJS.Timeout | undefined;

  function change(full: boolean): void {
    if (full === isFull) return;
    isFull = full;
    foundSpace = false;
    if (!full) endedAt = performance.now();
    clearInterval(timer);
    if (full) timer = setInterval(look, PROBE_EVERY_MS).unref();
    tell(full);
  }

  const notice = <Result>(result: Promise<Result>): Promise<Result> => {
    const begunAt = performance.now();
    result.catch((error) => {
      if (!isOfDatabase(error) || refusals.has(error)) return;
      foundSpace = false;
      // One that began earlier says nothing new.
      if (begunAt >= endedAt) change(true);
    });
    return result;
  };

  /** Looks whether there is space again, unless that is already being done. */
  function look(): Promise<void> {
    probe ??= takeSpace();
    return probe;
  }

  async function takeSpace(): Promise<void> {
    probedAt = performance.now();
    await inner
      .transaction((tx) => tx.query(TAKE_SPACE))
      .then(
        () => {
          if (foundSpace) change(false);
          foundSpace = true;
        },
        () => {
          foundSpace = false;
        },
      );
    probe = undefined;
  }

  const database = wrapDatabase(inner, () => ({
    statement: async (sql, run) => {
      if (isFull && WRITES.test(sql)) {
        const refusal = databaseError(DISK_FULL, "The disk of the database is full.");
        refusals.add(refusal);
        throw refusal;
      }
      return notice(run());
    },
    transaction: (run) => notice(run((work) => work())),
  }));
  return {
    database: {
      ...database,
      close: async () => {
        clearInterval(timer);
        await database.close();
      },
    },
    async hasSpace() {
      if (!isFull) return true;
      if (probe || performance.now() - probedAt >= PROBE_EVERY_MS) await look();
      return !isFull;
    },
  };
}

/**
 * A full disk of this machine, where exports wait for their readers, is not a fault of the
 * database.
 */
const isOfDatabase = (error: unknown): boolean => {
  const { code, name } = (error ?? {}) as { code?: string; name?: string };
  return code === DISK_FULL && name !== "DiskError";
};
