import { chmod, type FileHandle, open, stat } from "node:fs/promises";
import { printNote } from "../../../cli/terminal.ts";
import type { Fault } from "../../../core/base/problem.ts";
import { LONGEST_RECORD_BYTES } from "./record.ts";

/** A row that was not imported, or not wholly. */
export interface Reject extends Fault {
  /** The number of the row, from 1. */
  readonly row: number;
  readonly line: number;
  readonly outcome: string;
  readonly data: unknown;
}

export interface Rejects {
  /** Writes rejected rows; skips those that an earlier run wrote. */
  write(rejects: readonly Reject[]): Promise<void>;
  close(): Promise<void>;
}

/** How many are shown without --rejects. */
const MOST_SHOWN = 20;

/** Shows rejected rows on standard error, the first few of them. */
export function showRejects(name: string): Rejects {
  let shown = 0;
  let more = 0;
  return {
    async write(rejects) {
      for (const { line, message, code } of rejects) {
        if (++shown <= MOST_SHOWN) printNote(`${name}:${line}: ${message} (${code})`);
        else more += 1;
      }
    },
    async close() {
      if (more === 0) return;
      printNote(`… and ${more} more. Pass --rejects FILE to keep all of them.`);
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

/** Holds at least one line: a byte of a record takes up to six characters of JSON. */
const TAIL_BYTES = 8 * LONGEST_RECORD_BYTES;

/** The number of the last whole row in the file of an earlier run, however large; 0 if there is none. */
async function lastRowIn(path: string): Promise<number> {
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  if (size === 0) return 0;
  const file = await open(path);
  try {
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    await file.read(tail, 0, tail.length, size - tail.length);
    const lines = tail.toString("utf8").trimEnd().split("\n");
    const last = lines.findLast((line) => /^\{"row":\d+,.*\}$/s.test(line));
    return last === undefined ? 0 : JSON.parse(last).row;
  } finally {
    await file.close();
  }
}
