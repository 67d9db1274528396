/*
 * The remains of a run of the suite: none, even if a test process dies or the run is interrupted.
 *
 * Test files remove their resources when they end. A process that is killed does not come to that.
 * Everything is therefore in places that belong to the run: temporary files in one folder (TMPDIR
 * of all its processes), databases under names that begin with the number of the run.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dropDatabasesOf } from "../core/database/fresh-database.ts";
import type { FileTime } from "./suite-times.ts";

export interface SuiteRun {
  /** The folder with one entry per test file that is not finished. */
  readonly queue: string;
  /** Aborted when the run is interrupted; its processes end then. */
  readonly signal: AbortSignal;
  /** How long each file took that has ended. */
  timesOfFiles(): FileTime[];
  /** Removes the rest. */
  end(): Promise<void>;
}

/** Prepares the places of a run and names them to its processes, in the environment. */
export function beginRun(): SuiteRun {
  const folder = mkdtempSync(join(tmpdir(), "rapport-tests-"));
  // A PostgreSQL that a test starts as another user has its folder below this one.
  chmodSync(folder, 0o711);
  const [queue, temporary] = [join(folder, "queue"), join(folder, "tmp")];
  for (const each of [queue, temporary]) mkdirSync(each, { mode: 0o711 });
  const times = join(folder, "times");
  writeFileSync(times, "");
  process.env.TEST_QUEUE = queue;
  process.env.TEST_TIMES = times;
  process.env.TEST_RUN = String(process.pid);
  process.env.TMPDIR = temporary;

  const interruption = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      process.exitCode = 1;
      interruption.abort();
    });
  }
  process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return {
    queue,
    signal: interruption.signal,
    timesOfFiles: () =>
      readFileSync(times, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as FileTime),
    end: () => dropDatabasesOf(String(process.pid)),
  };
}
