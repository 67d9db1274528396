import type { FolderDisk } from "./folder-disk.ts";
import type { Connection, SerializedDatabase } from "./one-connection.ts";

/*
 * In PostgreSQL a separate process writes a checkpoint from time to time, and then removes the
 * write-ahead log up to there. The embedded engine has no other processes: without these
 * checkpoints the log would keep every write, on the disk or in memory, and a start after a crash
 * would apply all of it again.
 */

/**
 * What the log may hold. After a checkpoint the first change of each page writes the whole page to the log, so
 * more frequent ones cost intake; a start after a crash applies this much in a few seconds.
 */
const MOST_LOG_BYTES = 256 * 1_024 ** 2;

/** The size of the log while the disk is full: a checkpoint frees the rest. */
const MOST_LOG_BYTES_WHEN_FULL = 4 * 1_024 ** 2;

const LOOK_EVERY_MS = 5_000;

const LOG_BYTES = `
  select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 as bytes
  from pg_control_checkpoint()`;

/** Writes a checkpoint whenever the log has grown enough. @returns what ends this. */
export function writeCheckpoints(
  database: SerializedDatabase,
  connection: Connection,
  disk?: FolderDisk,
): () => void {
  const mostBytes = () => (disk?.trouble() ? MOST_LOG_BYTES_WHEN_FULL : MOST_LOG_BYTES);
  const look = () =>
    void database.alone(() => checkpointWhenDue(connection, mostBytes())).catch(() => {});
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  return () => clearInterval(timer);
}

/** @returns whether a checkpoint was due, and written. */
export async function checkpointWhenDue(
  connection: Connection,
  mostBytes = MOST_LOG_BYTES,
): Promise<boolean> {
  const statement = { sql: LOG_BYTES, parameters: [], answer: "rows" } as const;
  const [rows] = (await connection.run([statement], "part")) as [[{ bytes: number }]];
  if (rows[0].bytes < mostBytes) return false;
  await connection.script("checkpoint");
  return true;
}
