import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import type { Dataset, Engine } from "../engines/engine.ts";
import type { LoadResult } from "../load/generate.ts";
import { startChild } from "../processes/child.ts";
import { type CleanUp, createCleanUp } from "../processes/clean-up.ts";
import { startServer } from "../processes/server.ts";
import type { Workload } from "../workloads/workload.ts";
import { watchActivity } from "./activity.ts";
import { readSpending } from "./cpu-profile.ts";
import { activityReport, spendingReport, statementsReport } from "./profile-report.ts";
import { lengthOfLog, readStatements } from "./statement-log.ts";

const WARM_UP_SECONDS = 3;

export interface ProfileOptions {
  readonly users: number;
  readonly seconds: number;
  readonly connections: number | undefined;
  readonly workers: number | undefined;
  /** For uses within the benchmark's lifetime. */
  readonly folder: string;
}

/**
 * Runs a workload at saturation and shows where the time was spent: in the server by file and
 * function, in PostgreSQL by statement. Everything is slower for being watched; the shares are what
 * counts.
 *
 * @returns the report as text.
 */
export async function profileWorkload(
  engine: Engine,
  prepared: Dataset,
  workload: Workload,
  options: ProfileOptions,
  outer: CleanUp,
): Promise<string> {
  const cleanUp = createCleanUp();
  outer.add(() => cleanUp.run());
  try {
    return await profile(engine, prepared, workload, options, cleanUp);
  } finally {
    await cleanUp.run();
  }
}

async function profile(
  { name, logFile }: Engine,
  prepared: Dataset,
  workload: Workload,
  { users, seconds, folder, ...options }: ProfileOptions,
  cleanUp: CleanUp,
): Promise<string> {
  const dataset = await prepared.copy();
  cleanUp.add(() => dataset.remove());
  const load = await startChild("load", { workload: workload.name, users });
  cleanUp.add(() => load.stop());
  const profiles = await mkdtemp(join(folder, "profile-"));
  const nodeOptions = ["--cpu-prof", `--cpu-prof-dir=${profiles}`];
  const { workers } = options;
  const server = await startServer(dataset.environment, { folder, workers, nodeOptions });
  cleanUp.add(() => server.stop());
  const connections = options.connections ?? workload.connections;
  const send = (duration: number) =>
    load.call<LoadResult>({
      url: server.url,
      path: workload.path,
      method: workload.method,
      connections,
      seconds: duration,
    });

  await send(WARM_UP_SECONDS);
  const url = dataset.environment.DATABASE_URL;
  const activity = url ? watchActivity(url) : undefined;
  const logFrom = logFile ? await lengthOfLog(logFile) : 0;
  const from = monotonicMicros();
  const { acknowledged } = await send(seconds);
  const span = { from, to: monotonicMicros() };
  const logTo = logFile ? await lengthOfLog(logFile) : 0;
  const doing = await activity?.stop();
  await server.stop();

  const units = acknowledged * workload.unitsPerRequest;
  return [
    `${workload.name} on ${name}: ${units} ${workload.unit} in ${seconds} s, watched`,
    spendingReport(await readSpending(profiles, span), units, seconds),
    logFile ? statementsReport(await readStatements(logFile, logFrom, logTo), units) : "",
    doing ? activityReport(doing) : "",
  ].join("\n");
}

/** As V8 and the system count it. */
const monotonicMicros = (): number => Number(process.hrtime.bigint() / 1_000n);
