import { type Histogram, percentile, sumOf } from "./load/histogram.ts";
import { cpuSecondsOf, machineCpuSeconds } from "./processes/process-table.ts";
import { type Measured, rounded } from "./result.ts";

/** The processes whose time is counted during a measurement. */
export interface Watched {
  /** The server under test, or the floor in its place. */
  readonly server: number;
  /** Undefined if the database is part of the server, or on another machine. */
  readonly database: number | undefined;
  /** Undefined if nothing sends requests. */
  readonly load: number | undefined;
}

/** The result of one round. */
export interface Work {
  readonly seconds: number;
  readonly units: number;
  readonly latencies: Histogram;
  readonly failures: Readonly<Record<string, number>>;
}

/** The same with processor seconds. */
export interface Round extends Work {
  readonly server: number;
  readonly database: number | null;
  readonly load: number;
  /** Of everything that runs on the machine and is no part of the benchmark. */
  readonly others: number;
}

/** Measures what processes use while `work` runs. */
export async function measureRound(watched: Watched, work: () => Promise<Work>): Promise<Round> {
  const before = timesOf(watched);
  const done = await work();
  const after = timesOf(watched);
  const [server, database, load, own, machine] = after.map(
    (time, index) => time - (before[index] as number),
  ) as [number, number, number, number, number];
  return {
    ...done,
    server,
    database: watched.database === undefined ? null : database,
    load,
    others: Math.max(0, machine - server - database - load - own),
  };
}

function timesOf({ server, database, load }: Watched): number[] {
  const { user, system } = process.cpuUsage();
  const watched = [server, database, load].map((id) => (id === undefined ? 0 : cpuSecondsOf(id)));
  return [...watched, (user + system) / 1e6, machineCpuSeconds()];
}

/** The rounds of one measurement as one. @throws if not one request was acknowledged: then nothing was measured. */
export function summarise(rounds: readonly Round[]): Measured {
  const total = (value: (round: Round) => number) =>
    rounds.reduce((sum, round) => sum + value(round), 0);
  const seconds = total((round) => round.seconds);
  const units = total((round) => round.units);
  const per1000 = (cpuSeconds: number) => rounded((cpuSeconds / units) * 1_000);
  const isDatabaseSeen = rounds.every((round) => round.database !== null);
  const failures: Record<string, number> = {};
  for (const [outcome, count] of rounds.flatMap((round) => Object.entries(round.failures))) {
    failures[outcome] = (failures[outcome] ?? 0) + count;
  }
  if (units === 0) throw new Error(`No request was acknowledged: ${JSON.stringify(failures)}`);
  return {
    seconds: rounded(seconds),
    units,
    unitsPerSecond: Math.round(units / seconds),
    latencyMs: latencyOf(sumOf(rounds.map((round) => round.latencies))),
    cpuSecondsPer1000: {
      server: per1000(total((round) => round.server)),
      database: isDatabaseSeen ? per1000(total((round) => round.database ?? 0)) : null,
      load: per1000(total((round) => round.load)),
    },
    coresTakenByOthers: rounded(total((round) => round.others) / seconds),
    failures,
  };
}

function latencyOf(latencies: Histogram): Measured["latencyMs"] {
  if (latencies.length === 0) return null;
  return {
    p50: rounded(percentile(latencies, 0.5)),
    p95: rounded(percentile(latencies, 0.95)),
    p99: rounded(percentile(latencies, 0.99)),
  };
}
