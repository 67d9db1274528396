import type { Dataset, Engine } from "./engines/engine.ts";
import { type Seed, seedStatements } from "./engines/seed.ts";
import { type Child, startChild } from "./processes/child.ts";
import type { CleanUp } from "./processes/clean-up.ts";
import { type ServerOptions, type ServerProcess, startServer } from "./processes/server.ts";
import type { Workload } from "./workloads/workload.ts";

/** Everything that takes part in a run, started and idle. */
export interface Stage {
  readonly dataset: Dataset;
  readonly server: ServerProcess;
  readonly load: Child;
  readonly floors: {
    readonly bareHttp: Child;
    readonly plainSql: Child;
    /** The tables that plain SQL writes to: a copy of the server's. */
    readonly dataset: Dataset;
  };
}

/** A database with users, migrated by the server itself; each run gets a copy. */
export async function prepareDataset(engine: Engine, seed: Seed, folder: string): Promise<Dataset> {
  const dataset = await engine.create();
  await (await startServer(dataset.environment, { folder, workers: 1 })).stop();
  await dataset.run(seedStatements(seed));
  return dataset;
}

/** Starts all participants; processes to stop are added to `cleanUp`. */
export async function setStage(
  prepared: Dataset,
  workload: Workload,
  { users, ...options }: ServerOptions & { readonly users: number },
  cleanUp: CleanUp,
): Promise<Stage> {
  const copyOf = async () => {
    const copied = await prepared.copy();
    cleanUp.add(() => copied.remove());
    return copied;
  };
  const start = async (...parameters: Parameters<typeof startChild>) => {
    const child = await startChild(...parameters);
    cleanUp.add(() => child.stop());
    return child;
  };
  const settings = { workload: workload.name, users };
  const load = await start("load", settings);
  const bareHttp = await start("bare-http", settings);
  const plainDataset = await copyOf();
  const target = plainDataset.floorTarget;
  const plainSql = await start("plain-sql", { ...settings, target });
  const dataset = await copyOf();
  const server = await startServer(dataset.environment, options);
  cleanUp.add(() => server.stop());
  return { dataset, server, load, floors: { bareHttp, plainSql, dataset: plainDataset } };
}
