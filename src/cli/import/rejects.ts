import { chmod, type FileHandle, open, readFile } from "node:fs/promises";
import type { Fault } from "../../problem.ts";

/** A row that was not imported, or not wholly. */
export interface Reject extends Fault {
  /** The number of the row, from 1. */
  readonly row: number;
  readonly line: number;
  readonly outcome: string;
  readonly data: unknown;
}

export interface Rejects {
  /** Writes rejected rows; those that an earlier run wrote are passed over. */
  write(rejects: readonly Reject[]): Promise<void>;
  close(): Promise<void>;
}

/** As many are shown where no file is asked for. */
const MOST_SHOWN = 20;

/** Shows rejected rows on standard error, the first few of them. */
export function showRejects(name: string): Rejects {
  let shown = 0;
  let more = 0;
  return {
    async write(rejects) {
      for (const { line, message, code } of rejects) {
        if (++shown <= MOST_SHOWN) process.stderr.write(`${name}:${line}: ${message} (${code})\n`);
        else more += 1;
      }
    },
    async close() {
      if (more === 0) return;
      process.stderr.write(`… and ${more} more. Pass --rejects FILE to keep all of them.\n`);
    },
  };
}

/**
 * Writes rejected rows into a file that only its owner can read: they hold personal data.
 *
 * @param isResumed continues the file of an earlier run.
 */
export async function openRejects(path: string, isResumed: boolean): Promise<Rejects> {
  const last = isResumed ? await lastRowIn(path) : 0;
  const file: FileHandle = await open(path, isResumed ? "a" : "w", 0o600);
  await chmod(path, 0o600);
  return {
    async write(rejects) {
      const fresh = rejects.filter(({ row }) => row > last);
      if (fresh.length === 0) return;
      await file.write(fresh.map((reject) => `${JSON.stringify(reject)}\n`).join(""));
    },
    close: () => file.close(),
  };
}

/** The number of the last row in the file of an earlier run; 0 where there is none. */
async function lastRowIn(path: string): Promise<number> {
  const text = await readFile(path, "utf8").catch(() => "");
  const lines = text.trimEnd().split("\n");
  for (const line of lines.reverse()) {
    const [, row] = /^\{"row":(\d+),/.exec(line) ?? [];
    if (row && line.endsWith("}")) return Number(row);
  }
  return 0;
}
