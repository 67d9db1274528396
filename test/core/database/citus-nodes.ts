/* A Citus cluster for tests: a coordinator and two workers, each of them a PostgreSQL that tests crash and start. */
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { type Cluster, startCluster } from "../../../lab/bench/engines/postgres-cluster.ts";

export interface CitusNodes {
  /** Of a database on the coordinator. */
  readonly url: string;
  /** The coordinator first. */
  readonly nodes: readonly [Cluster, Cluster, Cluster];
  /**
   * Completes commits that a crash cut off between their two phases. @throws if something remains.
   */
  complete(): Promise<void>;
}

const SETTINGS = {
  shared_preload_libraries: "citus",
  shared_buffers: "64MB",
  max_wal_size: "128MB",
  max_prepared_transactions: "100",
  "citus.enable_statistics_collection": "off",
  "citus.recover_2pc_interval": "1s",
  // Nodes would look for certificates in the home folder of who runs the tests.
  "citus.node_conninfo": "sslmode=disable",
};

/** @returns undefined where PostgreSQL or its Citus is not installed. */
export async function startCitus(folder: string): Promise<CitusNodes | undefined> {
  const first = await startNode(folder);
  if (!first) return undefined;
  const workers = await Promise.all([startNode(folder), startNode(folder)]);
  const nodes = [first, ...workers] as [Cluster, Cluster, Cluster];
  for (const { url } of nodes) await runSql(url, "create extension citus");
  await runSql(
    first.url,
    `select citus_set_coordinator_host('127.0.0.1', ${portOf(first)})`,
    ...workers.map((worker) => `select citus_add_node('127.0.0.1', ${portOf(worker as Cluster)})`),
  );
  return { url: `${first.url}/postgres`, nodes, complete: () => complete(nodes) };
}

const portOf = ({ url }: Cluster): string => new URL(url).port;

async function startNode(folder: string): Promise<Cluster | undefined> {
  try {
    return await startCluster(folder, SETTINGS);
  } catch (error) {
    if (/could not access file "citus"/.test((error as Error).message)) return undefined;
    throw error;
  }
}

async function complete(nodes: readonly Cluster[]): Promise<void> {
  const coordinator = nodes[0] as Cluster;
  for (let tries = 1; ; tries++) {
    // It leaves running transactions alone.
    await runSql(coordinator.url, "select recover_prepared_transactions()");
    const prepared = await Promise.all(
      nodes.map(({ url }) => runSql(url, "select gid from pg_prepared_xacts")),
    );
    if (prepared.flat().length === 0) return;
    if (tries === 100) throw new Error(`Still prepared: ${JSON.stringify(prepared.flat())}`);
    await sleep(200);
  }
}

/**
 * Runs statements on a node, one after the other.
 *
 * @returns the rows of the last one.
 */
export async function runSql(
  url: string,
  ...statements: readonly string[]
): Promise<Record<string, unknown>[]> {
  const sql = postgres(`${url}/postgres`, { max: 1, onnotice: () => {}, fetch_types: false });
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) rows = [...(await sql.unsafe(statement))];
    return rows;
  } finally {
    await sql.end();
  }
}
