import { constants } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { createPrivateFolder } from "../../base/private-folder.ts";
import type { Database, EngineEvent } from "../database.ts";
import { connectionOf, startThread } from "./engine-thread.ts";
import { type FolderDisk, watchFolder } from "./folder-disk.ts";
import { lockFolder } from "./folder-lock.ts";
import { keepEngine } from "./kept-engine.ts";
import { type Connection, databaseOf, type SerializedDatabase } from "./one-connection.ts";

/** The folder of the embedded engine below the data folder. */
export const ENGINE_FOLDER = "engine";

/**
 * Opens the embedded engine on its own thread, so that HTTP requests are served while a statement
 * runs.
 *
 * @param dataDir a folder, created if missing and closed to other users; or `memory:` to store
 *   nothing on disk.
 * @throws FolderInUse when another process has the folder.
 */
export async function openEmbedded(dataDir: string): Promise<Database> {
  if (dataDir === "memory:") return withUpkeep(connectionOf(await startThread(dataDir)));
  await createPrivateFolder(dataDir);
  const lock = await lockFolder(dataDir);
  try {
    const folder = join(dataDir, ENGINE_FOLDER);
    const start = () => startThread(folder);
    const first = await start();
    let tell: (event: EngineEvent) => void = () => {};
    const disk = watchFolder(dataDir, (trouble) => tell(describeDisk(dataDir, trouble)));
    const connection = keepEngine(first, start, disk, (event) => tell(event));
    const database = withUpkeep(connection, disk);
    return {
      ...database,
      trouble: disk.trouble,
      onEvent: (listen) => {
        tell = listen;
      },
      maintain: async () => {
        if (!disk.trouble()) await database.maintain();
      },
      copyTo: (target) =>
        database.alone(async () => {
          await connection.script("checkpoint");
          await createPrivateFolder(target);
          const mode = constants.COPYFILE_FICLONE;
          await cp(folder, join(target, ENGINE_FOLDER), { recursive: true, mode });
        }),
      close: () => database.close().finally(lock.release),
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** The log entries when the disk accepts no more writes, and when it does again. */
const describeDisk = (path: string, trouble: ReturnType<FolderDisk["trouble"]>): EngineEvent =>
  trouble
    ? {
        level: "error",
        message: `${trouble.sentence} Writes are refused until that is mended; reads go on.`,
        details: trouble.details,
      }
    : { level: "info", message: "The disk takes writes again.", details: { path } };

function withUpkeep(connection: Connection, disk?: FolderDisk): SerializedDatabase {
  const database = databaseOf(connection);
  const endUpkeep = startUpkeep(database, connection, disk);
  return {
    ...database,
    close() {
      endUpkeep();
      return database.close();
    },
  };
}

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

/**
 * How many rows are added to a table before a vacuum marks them as visible to all: 0.2 s for so many, in which nothing else
 * is served. Every ten minutes (`maintain`) would be too seldom for a table that grows fast.
 */
const MOST_NEW_ROWS = 200_000;

const GROWN_TABLE = `
  select relname as name from pg_class
  where relkind = 'r' and relnamespace = 'public'::regnamespace
    and pg_stat_get_ins_since_vacuum(oid) > $1
  limit 1`;

/** Writes a checkpoint whenever the log has grown enough, and vacuums tables that have. @returns what ends this. */
function startUpkeep(
  database: SerializedDatabase,
  connection: Connection,
  disk?: FolderDisk,
): () => void {
  const mostBytes = () => (disk?.trouble() ? MOST_LOG_BYTES_WHEN_FULL : MOST_LOG_BYTES);
  const look = async () => {
    await database.alone(() => checkpointWhenDue(connection, mostBytes()));
    if (!disk?.trouble()) await database.alone(() => vacuumWhenDue(connection));
  };
  const timer = setInterval(() => void look().catch(() => {}), LOOK_EVERY_MS).unref();
  return () => clearInterval(timer);
}

/** @returns the table that was due, and vacuumed. */
export async function vacuumWhenDue(
  connection: Connection,
  mostRows = MOST_NEW_ROWS,
): Promise<string | undefined> {
  const statement = { sql: GROWN_TABLE, parameters: [mostRows], answer: "rows" } as const;
  const [[table]] = (await connection.run([statement], "part")) as [[{ name: string }?]];
  if (table) await connection.script(`vacuum ${table.name}`);
  return table?.name;
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
