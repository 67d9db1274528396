import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { mkdtemp, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, type Queryable, readTogether } from "./database.ts";
import { databaseError } from "./lost-node.ts";
import { planNextFor } from "./planner.ts";

/**
 * Reads the rows of a statement in portions, so that memory holds only one portion. What its reader asks for in between
 * is planned as a lookup: it goes by the keys of a portion.
 *
 * @param name of the cursor; statements with other columns need another name, because drivers cache
 *   the columns of a `fetch`.
 * @param tx a transaction, which must stay open until the last portion.
 */
export async function* readByCursor<Row>(
  tx: Queryable,
  name: string,
  sql: string,
  parameters: readonly unknown[],
  portion: number,
): AsyncGenerator<Row[]> {
  await tx.query(planNextFor("analysis"));
  await tx.query(`declare ${name} no scroll cursor for ${sql}`, parameters);
  await tx.query(planNextFor("lookup"));
  for (;;) {
    const rows = await tx.query<Row>(`fetch ${portion} from ${name}`);
    if (rows.length > 0) yield rows;
    if (rows.length < portion) break;
  }
  await tx.query(`close ${name}`);
}

/**
 * Streams the output of `read` from one snapshot of the database (see `readTogether`). The
 * transaction stays open until the stream ends or its reader disconnects. On a single-connection
 * engine a slow reader would block all other requests, so there the output goes to a temporary file at
 * full speed, and the reader follows it.
 */
export async function* streamTogether(
  database: Database,
  read: (tx: Queryable) => AsyncIterable<string>,
): AsyncGenerator<string | Uint8Array> {
  const passage = database.isSerialized ? await openSpool() : createExchange();
  const finished = readTogether(database, async (tx) => {
    for await (const text of read(tx)) if (!(await passage.give(text))) return;
  }).then(
    () => passage.end(undefined),
    (error: unknown) => passage.end({ error }),
  );
  try {
    for (;;) {
      const next = await passage.take();
      if (next === undefined) return;
      yield next;
    }
  } finally {
    passage.leave();
    await finished;
    passage.close();
  }
}

/** Takes the output from the transaction to its reader. */
interface Passage {
  /** @returns false if the reader has left. */
  give(text: string): boolean | Promise<boolean>;
  /** @returns undefined at the end. @throws the error of the giver. */
  take(): Promise<string | Uint8Array | undefined>;
  /** The giver has ended. */
  end(failure: Failure | undefined): void;
  /** The reader has left. */
  leave(): void;
  /** Both have. */
  close(): void;
}

interface Failure {
  readonly error: unknown;
}

/** One text at a time: the giver waits until the reader has taken it. */
function createExchange(): Passage {
  let offered: { readonly text: string } | undefined;
  let ended: { readonly failure: Failure | undefined } | undefined;
  let hasLeft = false;
  let wakeGiver: () => void = () => {};
  let wakeTaker: () => void = () => {};
  return {
    async give(text) {
      if (hasLeft) return false;
      offered = { text };
      wakeTaker();
      await new Promise<void>((resolve) => {
        wakeGiver = resolve;
      });
      return !hasLeft;
    },
    async take() {
      // Earlier rows have been read by now.
      wakeGiver();
      while (!offered && !ended) {
        await new Promise<void>((resolve) => {
          wakeTaker = resolve;
        });
      }
      const next = offered;
      offered = undefined;
      if (next) return next.text;
      if (ended?.failure) throw ended.failure.error;
      return undefined;
    },
    end(failure) {
      ended = { failure };
      wakeTaker();
    },
    leave() {
      hasLeft = true;
      wakeGiver();
    },
    close: () => {},
  };
}

const SPOOL_PORTION_BYTES = 65_536;

/** A file without a name: the giver never waits, and the reader takes what is there. */
async function openSpool(): Promise<Passage> {
  const folder = await mkdtemp(join(tmpdir(), "rapport-export-"));
  const path = join(folder, "rows");
  const file = openSync(path, "wx+", 0o600);
  // Nothing is left behind, not even by a killed process.
  unlinkSync(path);
  await rmdir(folder);
  const portion = Buffer.alloc(SPOOL_PORTION_BYTES);
  let written = 0;
  let taken = 0;
  let ended: { readonly failure: Failure | undefined } | undefined;
  let hasLeft = false;
  let wakeTaker: () => void = () => {};
  return {
    give(text) {
      if (hasLeft) return false;
      written += writeWhole(file, text);
      wakeTaker();
      return true;
    },
    async take() {
      while (taken === written && !ended) {
        await new Promise<void>((resolve) => {
          wakeTaker = resolve;
        });
      }
      if (ended?.failure) throw ended.failure.error;
      const bytes = readSync(file, portion, 0, portion.length, taken);
      taken += bytes;
      return bytes > 0 ? Uint8Array.prototype.slice.call(portion, 0, bytes) : undefined;
    },
    end(failure) {
      ended = { failure };
      wakeTaker();
    },
    leave() {
      hasLeft = true;
    },
    close: () => closeSync(file),
  };
}

/** The SQLSTATE of a full disk, as the engine itself would report it. */
const DISK_FULL = "53100";

/** @returns how many bytes the text has. @throws the engine's error for a full disk. */
function writeWhole(file: number, text: string): number {
  const bytes = Buffer.from(text);
  try {
    for (let rest: Uint8Array = bytes; rest.length > 0; )
      rest = rest.subarray(writeSync(file, rest));
    return bytes.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    const full = databaseError(DISK_FULL, "The disk of the server is full.");
    // Not the disk of the database: see `watchDisk`.
    full.name = "DiskError";
    throw full;
  }
}
