import { statfsSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DiskTrouble } from "../database.ts";

/*
 * Watches the disk of a data folder, so that writes are refused before the embedded engine runs out
 * of space: without space for its write-ahead log it panics.
 */

const MEGABYTE = 1_024 ** 2;

/** Below this nothing is written: the largest transactions, a checkpoint and a restart of the engine need some space. */
const LEAST_FREE_BYTES = 64 * MEGABYTE;

/** More than the margin must be free before writes begin again, so that they do not stop again at once. */
const REGAINED_BYTES = 8 * MEGABYTE;

/** The log and tables take new files as they grow. */
const LEAST_FREE_INODES = 500;

/** How old a look at the free space may be when work begins. */
const LOOK_EVERY_MS = 50;

/** How often the folder is written to while it is in trouble; otherwise every fifth time. */
const PROBE_EVERY_MS = 1_000;

export type FolderDisk = ReturnType<typeof watchFolder>;

/** @param tell learns of every change. */
export function watchFolder(folder: string, tell: (trouble: DiskTrouble | undefined) => void) {
  let known: DiskTrouble | undefined;
  let unwritable: DiskTrouble | undefined;
  let lookedAt = -Infinity;
  let isProbing = false;
  let ticks = 0;

  function look(): void {
    lookedAt = performance.now();
    const found = spaceTrouble(folder, known?.kind === "space") ?? failedWrite();
    const isChanged = found?.kind !== known?.kind;
    known = found;
    if (isChanged) tell(found);
  }

  /**
   * Why the last write to the folder failed. ENOSPC means no space and no inodes alike, so a known
   * trouble stays as it was until a write succeeds.
   */
  function failedWrite(): DiskTrouble | undefined {
    return unwritable?.kind === "space" ? (known ?? unwritable) : unwritable;
  }

  function probe(): void {
    if (isProbing) return;
    isProbing = true;
    void writeProbe(folder, known ? MEGABYTE : 1).then((trouble) => {
      isProbing = false;
      unwritable = trouble;
      look();
    });
  }

  const timer = setInterval(() => {
    look();
    if (known || ticks++ % 5 === 0) probe();
  }, PROBE_EVERY_MS).unref();

  return {
    /** Why nothing can be written; undefined if it can. Looks again unless it has just done so. */
    trouble() {
      if (performance.now() - lookedAt >= LOOK_EVERY_MS) look();
      return known;
    },
    /** Writes to the folder soon, because the engine could not. */
    suspect: probe,
    close: () => clearInterval(timer),
  };
}

function spaceTrouble(folder: string, isFull: boolean): DiskTrouble | undefined {
  try {
    const { bavail, bsize, ffree, files } = statfsSync(folder);
    const bytes = bavail * bsize;
    const details = { path: folder, free_bytes: bytes, free_inodes: ffree };
    if (bytes < LEAST_FREE_BYTES + (isFull ? REGAINED_BYTES : 0)) {
      return { kind: "space", sentence: "The disk of the data folder is full.", details };
    }
    // Some file systems do not count them.
    if (files > 0 && ffree < LEAST_FREE_INODES) {
      return {
        kind: "inodes",
        sentence: "The disk of the data folder has no inodes left.",
        details,
      };
    }
    return undefined;
  } catch (error) {
    return cannotWrite(folder, error);
  }
}

const PROBE_FILE = "disk-probe";

async function writeProbe(folder: string, bytes: number): Promise<DiskTrouble | undefined> {
  const path = join(folder, PROBE_FILE);
  try {
    const file = await open(path, "w", 0o600);
    try {
      await file.write(Buffer.alloc(bytes));
    } finally {
      await file.close();
    }
    return undefined;
  } catch (error) {
    return cannotWrite(folder, error);
  } finally {
    await rm(path, { force: true }).catch(() => {});
  }
}

function cannotWrite(path: string, error: unknown): DiskTrouble {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (/^(ENOSPC|EDQUOT)$/.test(code)) {
    return {
      kind: "space",
      sentence: "The disk of the data folder is full.",
      details: { path, code },
    };
  }
  const sentence = "The data folder cannot be written to.";
  return { kind: "unwritable", sentence, details: { path, code } };
}
