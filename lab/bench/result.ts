/** The result of one workload on one engine, in the form in which it is written to a file. */
export interface Result {
  readonly workload: string;
  readonly about: string;
  readonly engine: "postgres" | "embedded";
  readonly unit: string;
  readonly users: number;
  readonly unitsPerRequest: number;
  readonly connections: number;
  /** How many server processes; null for as many as the server takes by itself. */
  readonly workers: number | null;
  readonly measuredAt: string;
  readonly machine: Machine;
  readonly bareHttp: Measured;
  readonly plainSql: Measured;
  readonly saturated: Measured;
  /** At 30 % of the rate at saturation, in an open loop. */
  readonly relaxed: Measured;
  readonly ratios: Ratios;
  readonly serverMemory: {
    readonly atStartMegabytes: number;
    readonly atEndMegabytes: number;
    readonly peakMegabytes: number;
  };
  /** Rows found beside rows acknowledged; null if the workload has nothing to count. */
  readonly proof: Proof | null;
}

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly node: string;
  readonly database: string;
  /** Of the sources measured. */
  readonly commit: string;
}

/** One measurement: sums over its rounds. */
export interface Measured {
  readonly seconds: number;
  readonly units: number;
  readonly unitsPerSecond: number;
  /** In milliseconds; null if no client waits for a response. */
  readonly latencyMs: Latency | null;
  /** Processor seconds for 1,000 units. */
  readonly cpuSecondsPer1000: Cpu;
  /** How many cores were busy with things that have nothing to do with the benchmark. */
  readonly coresTakenByOthers: number;
  /** How often each outcome other than a whole success came. */
  readonly failures: Readonly<Record<string, number>>;
}

export interface Latency {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export interface Cpu {
  /** The server under test, or the floor in its place; with the embedded engine inside it. */
  readonly server: number;
  /** All processes of PostgreSQL; null if it is not used or on another machine. */
  readonly database: number | null;
  readonly load: number;
}

/** The server beside the floors: of each round, and then the median of the rounds. */
export interface Ratios {
  /** 1 would be: as fast as only HTTP and JSON. */
  readonly rateToBareHttp: number;
  /** 1 would be: as fast as plain SQL. */
  readonly rateToPlainSql: number;
  /** Processor time of server and database together; 1 would be: no dearer than plain SQL. */
  readonly cpuToPlainSql: number;
}

export interface Proof {
  readonly table: string;
  readonly rowsAcknowledged: number;
  readonly rowsFound: number;
}

/** The name of the files about a result. */
export const nameOfResult = ({ workload, engine, users, workers }: Result): string =>
  [
    workload,
    engine,
    ...(users === 100_000 ? [] : [`${users}-users`]),
    ...(workers === null ? [] : [`${workers}-workers`]),
  ].join("-");

/** To three digits that mean something. */
export const rounded = (value: number): number => Number(value.toPrecision(3));
