import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { nameOf, parentOf } from "../processes/process-table.ts";

/** A node of a cluster. */
export interface Node {
  /** Such as `127.0.0.1:5432`. */
  readonly name: string;
  /** `postgres://user@host:port/database`: any database there. */
  readonly url: string;
  /** Undefined on another machine. */
  readonly processId: number | undefined;
}

/** A database of a comparison: on all nodes, or a plain one on the coordinator. */
export interface ComparedDatabase {
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Runs statements one after the other, each in a separate transaction; returns the rows of the
   * last.
   */
  run(statements: readonly string[]): Promise<Record<string, unknown>[]>;
  remove(): Promise<void>;
}

export interface CitusCluster {
  /** The coordinator first. */
  readonly nodes: readonly Node[];
  /** Such as `Citus 13.2.0 on PostgreSQL 15.20`. */
  readonly version: string;
  /** Makes a database on every node, joined to one cluster, or a plain one on the coordinator. */
  create(kind: "citus" | "plain", shards: number | undefined): Promise<ComparedDatabase>;
}

/**
 * A cluster that runs already.
 *
 * @param url the URL of a database of the coordinator that has the workers (`citus_add_node`).
 * @param folder for the data folders of servers.
 * @throws an Error with an explanation if it is not a coordinator with workers.
 */
export async function openCitusCluster(url: string, folder: string): Promise<CitusCluster> {
  const known = await query(
    url,
    `select nodename as host, nodeport as port from pg_dist_node
     where groupid <> 0 and isactive and noderole = 'primary' order by nodename, nodeport`,
  ).catch(() => []);
  if (known.length === 0) {
    throw new Error("CITUS_URL names no coordinator with worker nodes (citus_add_node)");
  }
  const [about] = await query(
    url,
    `select extversion as citus, current_setting('server_version') as server
     from pg_extension where extname = 'citus'`,
  );
  const nodes = await Promise.all(
    [url, ...known.map(({ host, port }) => onHost(url, String(host), String(port)))].map(nodeOf),
  );
  let databases = 0;

  return {
    nodes,
    version: `Citus ${about?.citus} on PostgreSQL ${about?.server}`,
    async create(kind, shards) {
      const name = `rapport_bench_${process.pid}_${++databases}`;
      const dataDir = await mkdtemp(join(folder, "server-"));
      const [coordinator, ...workers] = nodes as [Node, ...Node[]];
      const own = onDatabase(coordinator.url, name);
      await query(coordinator.url, `create database ${name}`);
      if (kind === "citus") await joinNodes(own, name, workers);
      return {
        environment: {
          DATABASE_URL: own,
          DATA_DIR: dataDir,
          ...(shards && { CITUS_SHARDS: String(shards) }),
        },
        run: (statements) => query(own, ...statements),
        async remove() {
          for (const { url: node } of kind === "citus"
            ? [coordinator, ...workers]
            : [coordinator]) {
            await query(node, `drop database if exists ${name} with (force)`);
          }
          await rm(dataDir, { recursive: true, force: true });
        },
      };
    },
  };
}

/** Makes the database of this name on the workers too, and adds them to the coordinator's. */
async function joinNodes(own: string, name: string, workers: readonly Node[]): Promise<void> {
  for (const worker of workers) {
    await query(worker.url, `create database ${name}`);
    await query(onDatabase(worker.url, name), "create extension citus");
  }
  const { hostname, port } = new URL(own);
  await query(
    own,
    "create extension citus",
    `select citus_set_coordinator_host('${hostname}', ${port || 5432})`,
    ...workers.map((worker) => {
      const { hostname: host, port: at } = new URL(worker.url);
      return `select citus_add_node('${host}', ${at || 5432})`;
    }),
  );
}

async function nodeOf(url: string): Promise<Node> {
  const { hostname, host } = new URL(url);
  const isLocal = ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
  const sql = postgres(url, { max: 1, onnotice: () => {}, fetch_types: false });
  try {
    const [row] = await sql<{ backend: number }[]>`select pg_backend_pid() as backend`;
    const backend = row?.backend ?? 0;
    // In a container the number may belong to an unrelated process here.
    const isSeen = isLocal && nameOf(backend) === "postgres";
    return { name: host, url, processId: isSeen ? parentOf(backend) : undefined };
  } finally {
    await sql.end();
  }
}

function onDatabase(url: string, name: string): string {
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.href;
}

/** The same database with the same user on another node: `citus_add_node` needs it to be there. */
function onHost(url: string, host: string, port: string): string {
  const own = new URL(url);
  own.hostname = host;
  own.port = port;
  return own.href;
}

async function query(
  url: string,
  ...statements: readonly string[]
): Promise<Record<string, unknown>[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {}, fetch_types: false });
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) rows = [...(await sql.unsafe(statement))];
    return rows;
  } finally {
    await sql.end();
  }
}
