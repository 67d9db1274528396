/* The processes that torture starts and kills: Rapport, and the PostgreSQL below it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { startCitus } from "../../test/core/database/citus-nodes.ts";
import { type Cluster, startCluster } from "../bench/engines/postgres-cluster.ts";

export const ADMIN_TOKEN = "admin-token-of-the-torture";

/** Time for one start; a crashed PostgreSQL first replays its log. */
const START_SECONDS = 120;

/** One server that is killed and started again in the same place. */
export interface TorturedServer {
  /** Undefined while it is down. */
  readonly url: string | undefined;
  start(): Promise<void>;
  /** Sends SIGKILL, up or not, and waits for the end. */
  kill(): Promise<void>;
}

export interface Place {
  readonly servers: readonly TorturedServer[];
  /** The PostgreSQL of the servers, or the coordinator and the workers; none on the embedded engine. */
  readonly nodes: readonly Cluster[];
  /** Completes transactions that the crash of a node interrupted. */
  complete(): Promise<void>;
  /** A folder for files of the test. */
  readonly folder: string;
  remove(): Promise<void>;
}

export type TorturedEngine = "embedded" | "postgres" | "citus";

/** The servers' data folders. */
interface Store {
  readonly url: string | undefined;
  readonly nodes: readonly Cluster[];
  complete(): Promise<void>;
}

async function openStore(engine: TorturedEngine, folder: string): Promise<Store> {
  const complete = async () => {};
  if (engine === "embedded") return { url: undefined, nodes: [], complete };
  if (engine === "citus") {
    const citus = await startCitus(folder);
    if (!citus) throw new Error("Citus is not installed where initdb is.");
    return citus;
  }
  const cluster = await startCluster(folder, { shared_buffers: "128MB" });
  if (!cluster) throw new Error("PostgreSQL is not installed: no initdb.");
  return { url: `${cluster.url}/postgres`, nodes: [cluster], complete };
}

/**
 * Starts one server on the embedded engine, or two on a separate PostgreSQL or Citus cluster.
 *
 * @param root the repository, or a copy of it with a fault.
 */
export async function openPlace(engine: TorturedEngine, root: string): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "rapport-torture-"));
  const { url, nodes, complete } = await openStore(engine, folder);
  const environment = {
    ADMIN_TOKEN,
    SECRET_KEY: "secret-key-of-the-torture",
    JOB_LEASE_SECONDS: "1",
    ...(url && { DATABASE_URL: url, WEB_CONCURRENCY: "1" }),
  };
  const servers = Array.from({ length: url ? 2 : 1 }, (_, number) =>
    torturedServer(root, { ...environment, DATA_DIR: join(folder, `data-${number}`) }),
  );
  // One after the other: the first one creates the schema.
  for (const server of servers) await server.start();
  const place: Place = {
    servers,
    nodes,
    complete,
    folder,
    async remove() {
      for (const server of servers) await server.kill();
      await Promise.all(nodes.map((node) => node.stop()));
      await rm(folder, { recursive: true, force: true });
      open.delete(place);
    },
  };
  open.add(place);
  return place;
}

function torturedServer(
  root: string,
  environment: Readonly<Record<string, string>>,
): TorturedServer {
  let child: (ChildProcess & { stdout: Readable }) | undefined;
  let url: string | undefined;
  return {
    get url() {
      return url;
    },
    async start() {
      child = spawn(process.execPath, [join(root, "dist/bundle/main.js"), "serve"], {
        env: {
          PATH: process.env.PATH,
          PORT: "0",
          DEMO: "false",
          LOG_LEVEL: "silent",
          ...environment,
        },
        stdio: ["ignore", "pipe", "inherit"],
      }) as ChildProcess & { stdout: Readable };
      const starting = child;
      const late = setTimeout(() => starting.kill("SIGKILL"), START_SECONDS * 1_000);
      let printed = "";
      for await (const chunk of starting.stdout) {
        printed += chunk;
        if (/ready at (\S+)\n/.test(printed)) break;
      }
      clearTimeout(late);
      url = /ready at (\S+)\n/.exec(printed)?.[1];
      if (!url && !starting.killed) throw new Error(`A server does not start: ${printed}`);
    },
    async kill() {
      url = undefined;
      const dying = child;
      if (!dying || dying.exitCode !== null || dying.signalCode !== null) return;
      const ended = once(dying, "exit");
      dying.kill("SIGKILL");
      await ended;
    },
  };
}

/** Processes that a signal has to end, too. */
const open = new Set<Place>();

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    const removed = Promise.allSettled([...open].map((place) => place.remove()));
    void removed.then(() => process.exit(1));
  });
}
