import { type BenchmarkOptions, inFolder, say } from "../benchmark.ts";
import type { Workload } from "../workloads/workload.ts";
import { openCitusCluster } from "./cluster.ts";
import { compareOnCitus } from "./compare.ts";

export interface CitusOptions extends BenchmarkOptions {
  /** Undefined: the server's default. */
  readonly shards: number | undefined;
}

/**
 * Compares workloads on the cluster of CITUS_URL with a plain PostgreSQL on its coordinator.
 * Without the variable there is nothing to compare, and the output says so.
 */
export async function runOnCitus(
  workloads: readonly Workload[],
  options: CitusOptions,
): Promise<void> {
  const url = process.env.CITUS_URL;
  if (!url) {
    say(
      "Skipped the comparison on Citus: set CITUS_URL to a database of a coordinator in which the workers are added.",
    );
    return;
  }
  await inFolder(async (folder, cleanUp) => {
    const cluster = await openCitusCluster(url, folder);
    for (const workload of workloads) {
      await compareOnCitus(cluster, workload, { ...options, folder, say }, cleanUp);
    }
  });
}
