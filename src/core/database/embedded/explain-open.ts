import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { join } from "node:path";

/** Below this PostgreSQL cannot write the WAL segments of a start. */
const NEEDED_BYTES = 64 * 1_024 ** 2;

/** A folder without any of these is not a complete database. */
const NEEDED_FILES = ["PG_VERSION", "global/pg_control", "base", "pg_wal", "pg_xact"];

/** @returns how many bytes this process may still write to the disk of a folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/**
 * Explains why the embedded engine cannot open its folder: the engine itself only reports that it
 * failed.
 *
 * @returns an error that names the cause and a fix.
 */
export async function explainOpen(folder: string, error: unknown): Promise<Error> {
  const free = await freeBytes(folder).catch(() => undefined);
  if (free !== undefined && free < NEEDED_BYTES) {
    return new Error(
      `The disk of the data folder ${folder} is full: ${Math.floor(free / 1_024 ** 2)} MB are free, ` +
        `and a start needs ${NEEDED_BYTES / 1_024 ** 2} MB. Free some space, then start again.`,
    );
  }
  const missing = NEEDED_FILES.filter((name) => !existsSync(join(folder, name)));
  const remedy = "Restore a backup, or move the folder away to start with an empty database.";
  if (missing.length > 0) {
    return new Error(
      `The data folder ${folder} is damaged, or was copied incompletely: ${missing.join(", ")} missing. ${remedy}`,
    );
  }
  const { message } = error as Error;
  return new Error(
    `The data folder ${folder} cannot be opened and may be damaged (${message}). ${remedy}`,
  );
}
