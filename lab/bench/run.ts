import type { Dataset, Engine } from "./engines/engine.ts";
import type { PlainSqlResult } from "./floors/plain-sql.ts";
import type { Load, LoadResult } from "./load/generate.ts";
import { measureRound, summarise, type Work } from "./phase.ts";
import type { Child } from "./processes/child.ts";
import { type CleanUp, createCleanUp } from "./processes/clean-up.ts";
import { memoryOf } from "./processes/process-table.ts";
import { ratiosOf, type Turn } from "./ratios.ts";
import type { Machine, Proof, Result } from "./result.ts";
import { type Stage, setStage } from "./stage.ts";
import type { Workload } from "./workloads/workload.ts";
import { bodiesOf } from "./workloads/workloads.ts";

/** The share of the saturation rate that represents an ordinary day. */
const RELAXED_SHARE = 0.3;

/** Before the first measurement, so that code is compiled and caches are filled. */
const WARM_UP_SECONDS = 2;

/** How bodies that do their work only once are divided among the measurements. */
const WARM_UP_BODIES = 0.1;
const SATURATED_BODIES = 0.6;
const RELAXED_BODIES = 0.3;

/** How long the floors are measured, as a share of the server's time. */
const FLOOR_SHARE = 0.5;

export interface RunOptions {
  readonly users: number;
  /** How long the server is measured at saturation, and as long again at 30 %. */
  readonly seconds: number;
  /** In how many turns of floors and server that is done. */
  readonly rounds: number;
  /** Undefined for the workload's default. */
  readonly connections: number | undefined;
  /** How many server processes; undefined for as many as the server takes by itself. */
  readonly workers: number | undefined;
  readonly machine: Machine;
  /** For uses within the benchmark's lifetime. */
  readonly folder: string;
  say(line: string): void;
}

/** Measures one workload on one engine, beside the two floors. */
export async function runWorkload(
  engine: Engine,
  prepared: Dataset,
  workload: Workload,
  options: RunOptions,
  outer: CleanUp,
): Promise<Result> {
  const cleanUp = createCleanUp();
  outer.add(() => cleanUp.run());
  try {
    const rowsBefore = await countRows(prepared, workload);
    const stage = await setStage(prepared, workload, options, cleanUp);
    const measured = await measure(stage, workload, options);
    await stage.server.stop();
    const { acknowledgedRequests, ...figures } = measured;
    const rowsNow = await countRows(stage.dataset, workload);
    return {
      workload: workload.name,
      about: workload.about,
      engine: engine.name,
      unit: workload.unit,
      users: options.users,
      unitsPerRequest: workload.unitsPerRequest,
      connections: options.connections ?? workload.connections,
      workers: options.workers ?? null,
      measuredAt: new Date().toISOString(),
      machine: options.machine,
      ...figures,
      proof: proofOf(workload, acknowledgedRequests, rowsNow - rowsBefore),
    };
  } finally {
    await cleanUp.run();
  }
}

async function measure(stage: Stage, workload: Workload, options: RunOptions) {
  const { server, dataset, load } = stage;
  const { rounds, say } = options;
  const connections = options.connections ?? workload.connections;
  let acknowledgedUnits = 0;
  /** @param share of the bodies, where each does its work only once. */
  const send = async (asked: Pick<Load, "seconds" | "requestsPerSecond">, share: number) => {
    const requests = workload.isSentOnce && Math.floor(bodiesOf(workload, options.users) * share);
    const work = await sendTo(load, workload, { url: server.url, connections, requests, ...asked });
    acknowledgedUnits += work.units;
    return work;
  };
  const watched = {
    server: server.processId,
    database: dataset.processId,
    load: load.processId,
  };

  say("warming up");
  await measureFloors(stage, workload, connections, WARM_UP_SECONDS);
  await send({ seconds: WARM_UP_SECONDS }, WARM_UP_BODIES);
  const atStart = memoryOf(server.processId);
  const turns: Turn[] = [];
  const seconds = options.seconds / rounds;
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}`);
    turns.push({
      ...(await measureFloors(stage, workload, connections, seconds)),
      server: await measureRound(watched, () => send({ seconds }, SATURATED_BODIES / rounds)),
    });
  }
  const saturated = summarise(turns.map((turn) => turn.server));

  say(`at ${RELAXED_SHARE * 100} %`);
  const unitsPerSecond = saturated.unitsPerSecond * RELAXED_SHARE;
  const requestsPerSecond = Math.max(1, unitsPerSecond / workload.unitsPerRequest);
  const relaxed = summarise([
    await measureRound(watched, () =>
      send({ seconds: options.seconds, requestsPerSecond }, RELAXED_BODIES),
    ),
  ]);
  const atEnd = memoryOf(server.processId);
  const bareHttp = summarise(turns.map((turn) => turn.bareHttp));
  const plainSql = summarise(turns.map((turn) => turn.plainSql));
  return {
    bareHttp,
    plainSql,
    saturated,
    relaxed,
    ratios: ratiosOf(turns),
    serverMemory: {
      atStartMegabytes: megabytes(atStart.residentBytes),
      atEndMegabytes: megabytes(atEnd.residentBytes),
      peakMegabytes: megabytes(atEnd.peakBytes),
    },
    acknowledgedRequests: acknowledgedUnits / workload.unitsPerRequest,
  };
}

/** One round of both floors. */
async function measureFloors(
  { load, floors: { bareHttp, plainSql, dataset } }: Stage,
  workload: Workload,
  connections: number,
  serverSeconds: number,
) {
  const seconds = serverSeconds * FLOOR_SHARE;
  const bare = { url: bareHttp.greeting as string, connections };
  return {
    bareHttp: await measureRound(
      { server: bareHttp.processId, database: undefined, load: load.processId },
      () => sendTo(load, workload, { ...bare, seconds }),
    ),
    plainSql: await measureRound(
      { server: plainSql.processId, database: dataset.processId, load: undefined },
      () => writePlainly(plainSql, seconds),
    ),
  };
}

async function sendTo(load: Child, { unitsPerRequest }: Workload, asked: Load): Promise<Work> {
  const { acknowledged, ...result } = await load.call<LoadResult>(asked);
  return { ...result, units: acknowledged * unitsPerRequest };
}

async function writePlainly(plainSql: Child, seconds: number): Promise<Work> {
  const result = await plainSql.call<PlainSqlResult>({ seconds });
  return { ...result, latencies: [], failures: {} };
}

async function countRows(dataset: Dataset, { proof }: Workload): Promise<number> {
  if (!proof) return 0;
  const [row] = await dataset.run([`select count(*) as rows from ${proof.table}`]);
  return Number(row?.rows);
}

/** Whether all acknowledged data is there. @throws when anything is missing. */
function proofOf({ proof }: Workload, requests: number, rowsFound: number): Proof | null {
  if (!proof) return null;
  const rowsAcknowledged = requests * proof.rowsPerRequest;
  if (rowsFound >= rowsAcknowledged) return { table: proof.table, rowsAcknowledged, rowsFound };
  throw new Error(
    `${rowsAcknowledged} rows of ${proof.table} were acknowledged: ${rowsFound} found`,
  );
}

const megabytes = (bytes: number): number => Math.round(bytes / 1_048_576);
