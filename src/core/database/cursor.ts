import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { mkdtemp, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, type Queryable, readTogether } from "./database.ts";
import { databaseError } from "./lost-node.ts";

/**
 * Reads the rows of a statement in portions, so that memory holds only one portion.
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
  await tx.query(`declare ${name} no scroll cursor for ${sql}`, parameters);
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
 * engine a slow reader would block all other requests, so there the stream first goes to a
 * temporary file at full speed.
 */
export function streamTogether(
  database: Database,
  read: (tx: Queryable) => AsyncIterable<string>,
): AsyncGenerator<string | Uint8Array> {
  return database.isSerialized ? spooled(database, read) : live(database, read);
}

/** One text at a time goes from the transaction to the reader. */
async function* live(
  database: Database,
  read: (tx: Queryable) => AsyncIterable<string>,
): AsyncGenerator<string> {
  const offers = createExchange();
  const finished = readTogether(database, async (tx) => {
    for await (const text of read(tx)) if (!(await offers.give(text))) return;
  }).then(
    () => offers.end(undefined),
    (error: unknown) => offers.end({ error }),
  );
  try {
    for (;;) {
      const next = await offers.take();
      if (next === undefined) return;
      yield next.value;
    }
  } finally {
    offers.leave();
    await finished;
  }
}

function createExchange() {
  let offered: { readonly value: string } | undefined;
  let ended: { readonly failure: { readonly error: unknown } | undefined } | undefined;
  let hasLeft = false;
  let wakeGiver: () => void = () => {};
  let wakeTaker: () => void = () => {};
  return {
    /** Waits until the value was taken. @returns false if the reader has left. */
    async give(value: string) {
      if (hasLeft) return false;
      offered = { value };
      wakeTaker();
      await new Promise<void>((resolve) => {
        wakeGiver = resolve;
      });
      return !hasLeft;
    },
    /** @returns undefined at the end. @throws the error of the giver. */
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
      if (next) return next;
      if (ended?.failure) throw ended.failure.error;
      return undefined;
    },
    end(failure: { readonly error: unknown } | undefined) {
      ended = { failure };
      wakeTaker();
    },
    leave() {
      hasLeft = true;
      wakeGiver();
    },
  };
}

const SPOOL_PORTION_BYTES = 65_536;

async function* spooled(
  database: Database,
  read: (tx: Queryable) => AsyncIterable<string>,
): AsyncGenerator<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), "rapport-export-"));
  const path = join(folder, "rows");
  const file = openSync(path, "wx+", 0o600);
  try {
    // Without a name nothing is left behind, not even by a killed process.
    unlinkSync(path);
    await rmdir(folder);
    await readTogether(database, async (tx) => {
      for await (const text of read(tx)) writeWhole(file, text);
    });
    const portion = Buffer.alloc(SPOOL_PORTION_BYTES);
    for (let position = 0; ; ) {
      const bytes = readSync(file, portion, 0, portion.length, position);
      if (bytes === 0) return;
      position += bytes;
      yield Uint8Array.prototype.slice.call(portion, 0, bytes);
    }
  } finally {
    closeSync(file);
  }
}

/** The SQLSTATE of a full disk, as the engine itself would report it. */
const DISK_FULL = "53100";

function writeWhole(file: number, text: string): void {
  try {
    for (let rest: Uint8Array = Buffer.from(text); rest.length > 0; ) {
      rest = rest.subarray(writeSync(file, rest));
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    const full = databaseError(DISK_FULL, "The disk of the server is full.");
    // Not the disk of the database: see `watchDisk`.
    full.name = "DiskError";
    throw full;
  }
}
