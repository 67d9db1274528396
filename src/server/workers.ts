import cluster, { type Worker } from "node:cluster";
import { createLog } from "../core/base/observe/log.ts";
import type { Config } from "./config.ts";
import type { Welcome } from "./welcome.ts";

/** How long a process that died at once waits for its successor, so that a fault does not spin. */
const RESTART_AFTER_MS = 1_000;

export interface Workers {
  /** The message of a process: the one that created the demo workspace or the token, if any. */
  readonly welcome: Welcome;
  /** Ends every process after it has completed its in-flight requests. */
  stop(): Promise<void>;
}

/**
 * Runs the server in several processes that share the port; a process that dies is replaced.
 *
 * @returns once every process listens.
 * @throws when one of them cannot start.
 */
export async function startWorkers({
  workers: count,
  metricsHost,
  metricsPort,
  ...logOptions
}: Pick<
  Config,
  "workers" | "metricsHost" | "metricsPort" | "logLevel" | "logFormat"
>): Promise<Workers> {
  let isStopping = false;
  const welcomes = await Promise.all(Array.from({ length: count }, () => ready(cluster.fork())));
  // Opened for the first line: the first process stays small.
  let log: ReturnType<typeof createLog> | undefined;
  cluster.on("exit", async ({ process: { pid } }, code, signal) => {
    if (isStopping) return;
    setTimeout(() => !isStopping && cluster.fork(), RESTART_AFTER_MS);
    log ??= createLog(logOptions);
    (await log).error({ pid, code, signal }, "a server process ended; another one replaces it");
  });
  const metricsListener =
    metricsPort === undefined ? undefined : await listenForAll(metricsHost, metricsPort);
  return {
    welcome: {
      ...((welcomes.find(({ demo }) => demo?.isNew) ?? welcomes[0]) as Welcome),
      ...adminTokenOf(welcomes),
      // Only the first one has created a link.
      ...linkOf(welcomes),
    },
    async stop() {
      isStopping = true;
      metricsListener?.close();
      const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
      await Promise.all(workers.map(ended));
    },
  };
}

/** The process that has created the token, if any: only it knows the token if no file keeps it. */
function adminTokenOf(welcomes: readonly Welcome[]): Partial<Welcome> {
  const creator = welcomes.find(({ adminToken }) => adminToken.isNew);
  return creator ? { adminToken: creator.adminToken } : {};
}

function linkOf(welcomes: readonly Welcome[]): Pick<Welcome, "signInLink"> {
  const signInLink = welcomes.find((each) => each.signInLink !== undefined)?.signInLink;
  return signInLink === undefined ? {} : { signInLink };
}

/** Loaded only here: the first process stays small where metrics are off. */
async function listenForAll(host: string, port: number) {
  const { clusterMetrics } = await import("../core/base/observe/cluster-metrics.ts");
  const { listenForMetrics } = await import("../core/http/metrics-listener.ts");
  return listenForMetrics(clusterMetrics(), host, port);
}

/** Reports to the parent process, if any, that this one serves. */
export const announce = (welcome: Welcome): void => void process.send?.(welcome);

function ready(worker: Worker): Promise<Welcome> {
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("exit", (code) => reject(new Error(`A server process ended with code ${code}.`)));
  });
}

function ended(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    worker.once("exit", () => resolve());
    worker.process.kill("SIGTERM");
  });
}
