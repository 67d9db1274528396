/*
 * How long each test file took when it last ran here (dist/test-times.json), so that the next run starts the longest
 * first: no process is left with one of them at the end. Where none has run, as on a new clone, the long ones of another
 * machine's record take its place (usual-times.json): `node dist/test/suite/write-usual-times.js` writes them after a `.ci/run`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { nameOf } from "./suite-files.ts";

export interface FileTime {
  readonly path: string;
  readonly seconds: number;
  /** Of the process that ran the file, its threads and its child processes (Linux). */
  readonly cpu_seconds: number;
}

/** By the names of files. */
export type TimesOfFiles = Readonly<Record<string, Omit<FileTime, "path">>>;

const RECORD = join(packageRoot(), "dist", "test-times.json");

/** The seconds of the files that take long, by their names. */
export const USUAL_TIMES = join(packageRoot(), "test", "suite", "usual-times.json");

export function recorded(): TimesOfFiles {
  try {
    return JSON.parse(readFileSync(RECORD, "utf8"));
  } catch {
    return {}; // The first run here, or one that broke off while it wrote.
  }
}

const rounded = (seconds: number): number => Math.round(seconds * 10) / 10;

/** Adds the times of a run to the record. @returns all of it. */
export function recordTimes(times: readonly FileTime[]): TimesOfFiles {
  const added = times.map(({ path, seconds, cpu_seconds }) => [
    nameOf(path),
    { seconds: rounded(seconds), cpu_seconds: rounded(cpu_seconds) },
  ]);
  const all: TimesOfFiles = { ...recorded(), ...Object.fromEntries(added) };
  writeFileSync(RECORD, `${JSON.stringify(all, null, 1)}\n`);
  return all;
}

/** Sorts test files by the time that they took. */
export function longestFirst(paths: readonly string[]): string[] {
  const times = recorded();
  const usual: Readonly<Record<string, number>> = JSON.parse(readFileSync(USUAL_TIMES, "utf8"));
  const secondsOf = (path: string) => times[nameOf(path)]?.seconds ?? usual[nameOf(path)] ?? 0;
  return paths.toSorted((one, other) => secondsOf(other) - secondsOf(one));
}
