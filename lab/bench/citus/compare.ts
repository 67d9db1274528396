import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { seedStatements } from "../engines/seed.ts";
import type { LoadResult } from "../load/generate.ts";
import { type Histogram, percentile, sumOf } from "../load/histogram.ts";
import { type Child, startChild } from "../processes/child.ts";
import { type CleanUp, createCleanUp } from "../processes/clean-up.ts";
import { cpuSecondsOf } from "../processes/process-table.ts";
import { type ServerProcess, startServer } from "../processes/server.ts";
import { rounded } from "../result.ts";
import type { Workload } from "../workloads/workload.ts";
import { bodiesOf } from "../workloads/workloads.ts";
import type { CitusCluster, ComparedDatabase } from "./cluster.ts";
import { type Comparison, comparisonText, type Side } from "./report.ts";

export interface ComparisonOptions {
  readonly users: number;
  /** How long each side is measured at saturation, and as long again at 30 %. */
  readonly seconds: number;
  /** In how many turns. */
  readonly rounds: number;
  readonly connections: number | undefined;
  readonly workers: number | undefined;
  readonly statistics: boolean;
  /** Undefined: the server's default. */
  readonly shards: number | undefined;
  readonly results: string;
  readonly folder: string;
  say(line: string): void;
}

/** The share of the saturation rate at which latency is measured. */
const RELAXED_SHARE = 0.3;
const WARM_UP_SECONDS = 2;

/** How bodies that do their work only once are divided among the measurements. */
const SHARES = { warmUp: 0.1, saturated: 0.6, relaxed: 0.3 };

/** A server on one of the two databases, with its own load. */
interface Contender {
  readonly database: ComparedDatabase;
  readonly server: ServerProcess;
  readonly load: Child;
  /** The processes whose time counts: the server and the nodes that it uses. */
  readonly processIds: readonly (number | undefined)[];
  readonly rowsBefore: number;
  acknowledged: number;
}

interface Work extends LoadResult {
  /** Of the server and of each node. */
  readonly cpuSeconds: readonly number[];
}

/** Compares one workload on a cluster with a plain PostgreSQL on its coordinator, in turns. */
export async function compareOnCitus(
  cluster: CitusCluster,
  workload: Workload,
  options: ComparisonOptions,
  outer: CleanUp,
): Promise<void> {
  const cleanUp = createCleanUp();
  outer.add(() => cleanUp.run());
  try {
    const plain = await prepare(cluster, "plain", workload, options, cleanUp);
    const citus = await prepare(cluster, "citus", workload, options, cleanUp);
    const [shards] = await citus.database.run([
      "select count(*)::int as n from pg_dist_shard where logicalrelid = 'buckets'::regclass",
    ]);
    const both = [plain, citus];
    const connections = options.connections ?? workload.connections;
    const send = (to: Contender, share: number, seconds: number, requestsPerSecond?: number) => {
      const most = Math.floor(bodiesOf(workload, options.users) * share);
      const requests = workload.isSentOnce && most;
      return measure(to, { connections, seconds, requests, requestsPerSecond });
    };
    options.say(`${workload.name}: warming up`);
    for (const each of both) await send(each, SHARES.warmUp, WARM_UP_SECONDS);
    const rounds: Work[][] = [];
    for (let round = 1; round <= options.rounds; round++) {
      options.say(`${workload.name}: round ${round} of ${options.rounds}`);
      const share = SHARES.saturated / options.rounds;
      const turn: Work[] = [];
      for (const each of both) turn.push(await send(each, share, options.seconds / options.rounds));
      rounds.push(turn);
    }
    options.say(`${workload.name}: at ${RELAXED_SHARE * 100} %`);
    const sides: Side[] = [];
    for (const [index, each] of both.entries()) {
      const saturated = rounds.map((turn) => turn[index] as Work);
      const rate = sum(saturated, (work) => work.acknowledged) / sum(saturated, (w) => w.seconds);
      const relaxed = await send(each, SHARES.relaxed, options.seconds, rate * RELAXED_SHARE);
      sides.push(sideOf(saturated, relaxed, workload));
      await proveRows(each, workload);
    }
    const comparison: Comparison = {
      workload: workload.name,
      about: workload.about,
      unit: workload.unit,
      version: cluster.version,
      nodes: cluster.nodes.map(({ name }) => name),
      shards: Number(shards?.n),
      users: options.users,
      connections,
      plain: sides[0] as Side,
      citus: sides[1] as Side,
      ratios: rounds.map(([one, other]) => rounded(rateOf(other as Work) / rateOf(one as Work))),
    };
    process.stdout.write(`\n${comparisonText(comparison)}\n`);
    await mkdir(options.results, { recursive: true });
    const path = join(options.results, `${workload.name}-citus.json`);
    await writeFile(path, `${JSON.stringify(comparison, null, 2)}\n`);
    options.say(`Written to ${path}.`);
  } finally {
    await cleanUp.run();
  }
}

/** Makes and fills a database, and starts a server and a load for it. */
async function prepare(
  cluster: CitusCluster,
  kind: "citus" | "plain",
  workload: Workload,
  options: ComparisonOptions,
  cleanUp: CleanUp,
): Promise<Contender> {
  const { users, statistics, workers, folder } = options;
  options.say(`${workload.name}: ${users.toLocaleString("en-US")} users on ${kind}`);
  const database = await cluster.create(kind, options.shards);
  cleanUp.add(() => database.remove());
  await (await startServer(database.environment, { folder, workers: 1 })).stop();
  await database.run(seedStatements({ users, statistics, addresses: workload.addresses ?? false }));
  const rowsBefore = await countRows(database, workload);
  const load = await startChild("load", { workload: workload.name, users });
  cleanUp.add(() => load.stop());
  const server = await startServer(database.environment, { folder, workers });
  cleanUp.add(() => server.stop());
  const nodes = kind === "citus" ? cluster.nodes : cluster.nodes.slice(0, 1);
  const processIds = [server.processId, ...nodes.map(({ processId }) => processId)];
  return { database, server, load, processIds, rowsBefore, acknowledged: 0 };
}

async function measure(
  contender: Contender,
  asked: {
    readonly connections: number;
    readonly seconds: number;
    readonly requests: number | undefined;
    readonly requestsPerSecond: number | undefined;
  },
): Promise<Work> {
  const times = () =>
    contender.processIds.map((id) => (id === undefined ? Number.NaN : cpuSecondsOf(id)));
  const before = times();
  const result = await contender.load.call<LoadResult>({ url: contender.server.url, ...asked });
  const cpuSeconds = times().map((time, index) => time - (before[index] as number));
  contender.acknowledged += result.acknowledged;
  return { ...result, cpuSeconds };
}

const rateOf = ({ acknowledged, seconds }: Work): number => acknowledged / seconds;

const sum = (works: readonly Work[], value: (work: Work) => number): number =>
  works.reduce((total, work) => total + value(work), 0);

function sideOf(saturated: readonly Work[], relaxed: Work, workload: Workload): Side {
  const requests = sum(saturated, (work) => work.acknowledged);
  const units = requests * workload.unitsPerRequest;
  const cpu = saturated[0]?.cpuSeconds.map((_, index) =>
    rounded((sum(saturated, (work) => work.cpuSeconds[index] ?? Number.NaN) / units) * 1e6),
  );
  const failures: Record<string, number> = {};
  for (const [outcome, count] of [...saturated, relaxed].flatMap((w) => Object.entries(w.failures)))
    failures[outcome] = (failures[outcome] ?? 0) + count;
  return {
    unitsPerSecond: Math.round(units / sum(saturated, (work) => work.seconds)),
    latencyMs: latencyOf(sumOf(saturated.map(({ latencies }) => latencies))),
    relaxedLatencyMs: latencyOf(relaxed.latencies),
    cpuMsPer1000: { server: cpu?.[0] ?? 0, nodes: cpu?.slice(1) ?? [] },
    failures,
  };
}

const latencyOf = (latencies: Histogram) => ({
  p50: rounded(percentile(latencies, 0.5)),
  p99: rounded(percentile(latencies, 0.99)),
});

async function countRows(database: ComparedDatabase, { proof }: Workload): Promise<number> {
  if (!proof) return 0;
  const [row] = await database.run([`select count(*) as rows from ${proof.table}`]);
  return Number(row?.rows);
}

/** @throws when anything that was acknowledged is missing. */
async function proveRows(
  { database, rowsBefore, acknowledged }: Contender,
  workload: Workload,
): Promise<void> {
  if (!workload.proof) return;
  const found = (await countRows(database, workload)) - rowsBefore;
  const wanted = acknowledged * workload.proof.rowsPerRequest;
  if (found >= wanted) return;
  throw new Error(`${wanted} rows of ${workload.proof.table} were acknowledged: ${found} found`);
}
