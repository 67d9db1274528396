import { type Database, wrapDatabase } from "../database.ts";

/** What PostgreSQL reports where it finds no space, and what the operating system does. */
const DISK_FULL = /^(53100|ENOSPC)$/;

/** How often, at most, a full disk is looked at again. */
const PROBE_EVERY_MS = 1_000;

/**
 * Takes a megabyte and gives it back. Smaller writes may find room in pages that exist, and requests would fail
 * again at once.
 */
const TAKE_SPACE = `create temporary table disk_probe on commit drop as
  select string_agg(md5(number::text), '') from generate_series(1, 32768) as number`;

/** Knows whether the database's disk is full. */
export interface DiskWatch {
  /** Statements of this one are watched. */
  readonly database: Database;
  /**
   * Whether there is space, as far as is known: false from the first statement that found none until a write of a
   * megabyte succeeds. Callers share one such write at a time, and at most one a second is tried.
   */
  hasSpace(): Promise<boolean>;
}

/**
 * Watches the statements of a database for those that find its disk full.
 *
 * @param tell learns of every change, to log it.
 */
export function watchDisk(inner: Database, tell: (isFull: boolean) => void): DiskWatch {
  if (inner.trouble) return { database: inner, hasSpace: async () => !inner.trouble?.() };
  let isFull = false;
  let probe: Promise<void> | undefined;
  let probedAt = -Infinity;

  function change(full: boolean): void {
    if (full !== isFull) tell(full);
    isFull = full;
  }

  const notice = <Result>(result: Promise<Result>): Promise<Result> => {
    result.catch((error) => {
      if (DISK_FULL.test((error as { code?: string }).code ?? "")) change(true);
    });
    return result;
  };

  async function takeSpace(): Promise<void> {
    probedAt = performance.now();
    await inner
      .transaction((tx) => tx.query(TAKE_SPACE))
      .then(
        () => change(false),
        () => {},
      );
    probe = undefined;
  }

  return {
    database: wrapDatabase(inner, () => ({
      statement: (_, run) => notice(run()),
      transaction: (run) => notice(run((work) => work())),
    })),
    async hasSpace() {
      if (!isFull) return true;
      if (!probe && performance.now() - probedAt >= PROBE_EVERY_MS) probe = takeSpace();
      await probe;
      return !isFull;
    },
  };
}
