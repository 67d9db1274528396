import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbeddedEngine } from "./engines/embedded.ts";
import type { Engine } from "./engines/engine.ts";
import { openPostgresEngine } from "./engines/postgres.ts";
import { startCluster } from "./engines/postgres-cluster.ts";
import { thisMachine } from "./machine.ts";
import { type CleanUp, createCleanUp } from "./processes/clean-up.ts";
import { profileWorkload } from "./profile/profile.ts";
import { LOG_SETTINGS } from "./profile/statement-log.ts";
import { writeResult } from "./report/files.ts";
import { tableOf } from "./report/table.ts";
import { runWorkload } from "./run.ts";
import { prepareDataset } from "./stage.ts";
import type { Workload } from "./workloads/workload.ts";

/** As they come from the command line. */
export interface BenchmarkOptions {
  readonly engine: Engine["name"] | "both" | "citus";
  readonly users: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number | undefined;
  readonly workers: number | undefined;
  readonly statistics: boolean;
  readonly databaseUrl: string | undefined;
  readonly results: string;
  readonly profile: boolean | undefined;
}

/** Runs workloads one after the other on each engine; prints the figures and writes them to files. */
export async function runBenchmark(
  workloads: readonly Workload[],
  options: BenchmarkOptions,
): Promise<void> {
  await inFolder(async (folder, cleanUp) => {
    for (const engine of await openEngines(options, folder, cleanUp)) {
      await runOn(engine, workloads, options, folder, cleanUp);
    }
  });
}

/** Runs something with its own folder, and cleans up after it, however it ends. */
export async function inFolder(
  run: (folder: string, cleanUp: CleanUp) => Promise<void>,
): Promise<void> {
  if (process.platform !== "linux") {
    throw new Error("Processor time and memory are read from /proc: run it on Linux.");
  }
  const cleanUp = createCleanUp();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void cleanUp.run().then(() => process.exit(130)));
  }
  try {
    const folder = await mkdtemp(join(tmpdir(), "rapport-bench-"));
    cleanUp.add(() => rm(folder, { recursive: true, force: true }));
    await run(folder, cleanUp);
  } finally {
    await cleanUp.run();
  }
}

/**
 * Opens the requested engines; things to close are added to `cleanUp`.
 *
 * @param settings of a PostgreSQL that is started for the benchmark, in addition to the usual ones.
 */
export async function openEngines(
  {
    engine: wanted,
    databaseUrl,
    profile,
  }: Pick<BenchmarkOptions, "engine" | "databaseUrl" | "profile">,
  folder: string,
  cleanUp: CleanUp,
  settings: Readonly<Record<string, string>> = profile ? LOG_SETTINGS : {},
): Promise<Engine[]> {
  const engines: Engine[] = [];
  if (wanted !== "embedded") {
    const cluster = databaseUrl ? undefined : await startCluster(folder, settings);
    if (cluster) cleanUp.add(() => cluster.stop());
    const url = databaseUrl ?? cluster?.url;
    if (url) engines.push(await openPostgresEngine(url, folder, cluster?.logFile));
    else if (wanted === "postgres") throw new Error(NO_POSTGRES);
    else say(NO_POSTGRES);
  }
  if (wanted !== "postgres") engines.push(await openEmbeddedEngine(folder));
  for (const engine of engines) cleanUp.add(() => engine.close());
  return engines;
}

const NO_POSTGRES = "There is no PostgreSQL here: install one, or give --database-url.";

async function runOn(
  engine: Engine,
  workloads: readonly Workload[],
  options: BenchmarkOptions,
  folder: string,
  cleanUp: CleanUp,
): Promise<void> {
  const { users, statistics, results } = options;
  say(`${engine.version}: making ${users.toLocaleString("en-US")} users`);
  const addresses = workloads.some((workload) => workload.addresses);
  const prepared = await prepareDataset(engine, { users, statistics, addresses }, folder);
  cleanUp.add(() => prepared.remove());
  const machine = thisMachine(engine.version);
  for (const workload of workloads) {
    const run = { ...options, machine, folder };
    if (options.profile) {
      const report = await profileWorkload(engine, prepared, workload, run, cleanUp);
      process.stdout.write(`\n${report}\n`);
      continue;
    }
    const tell = (line: string) => say(`${workload.name} on ${engine.name}: ${line}`);
    const result = await runWorkload(engine, prepared, workload, { ...run, say: tell }, cleanUp);
    const path = await writeResult(results, result);
    process.stdout.write(`\n${tableOf(result)}\nWritten to ${path}.json and .svg.\n\n`);
  }
}

/** Progress goes to standard error, so that standard output has only the figures. */
export const say = (line: string): void => void process.stderr.write(`${line}\n`);
