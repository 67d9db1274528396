import { columns } from "../report/columns.ts";
import { rounded } from "../result.ts";

/** The result of one side. */
export interface Side {
  readonly unitsPerSecond: number;
  /** At saturation. */
  readonly latencyMs: { readonly p50: number; readonly p99: number };
  /** At 30 % of its own saturation rate, in an open loop. */
  readonly relaxedLatencyMs: { readonly p50: number; readonly p99: number };
  /** Processor milliseconds for 1,000 units at saturation; NaN for a node on another machine. */
  readonly cpuMsPer1000: { readonly server: number; readonly nodes: readonly number[] };
  readonly failures: Readonly<Record<string, number>>;
}

/**
 * A workload on a cluster and on a plain PostgreSQL, in the form in which it is written to a file.
 */
export interface Comparison {
  readonly workload: string;
  readonly about: string;
  readonly unit: string;
  readonly version: string;
  readonly nodes: readonly string[];
  readonly shards: number;
  readonly users: number;
  readonly connections: number;
  readonly plain: Side;
  readonly citus: Side;
  /** The rate on the cluster beside that on PostgreSQL, of each round. */
  readonly ratios: readonly number[];
}

const HEAD = ["", "rate", "p50", "p99", "p50 at 30 %", "p99 at 30 %", "server", "coordinator"];

/** A comparison as text for a terminal. */
export function comparisonText(comparison: Comparison): string {
  const { workload, users, connections, shards, version, nodes, plain, citus, ratios } = comparison;
  const workers = nodes.slice(1).map((_, index) => `worker ${index + 1}`);
  const cpuUnits = Array.from({ length: nodes.length + 1 }, () => "cpu ms/1,000");
  const ratio = rounded(citus.unitsPerSecond / plain.unitsPerSecond);
  const p99 = rounded(citus.relaxedLatencyMs.p99 / plain.relaxedLatencyMs.p99);
  const failures = [plain, citus].flatMap((side) => Object.entries(side.failures));
  return [
    `${workload} on ${version}: ${users.toLocaleString("en-US")} users, ${connections} connections, ` +
      `${shards} shards on ${nodes.length - 1} workers`,
    "",
    ...columns([
      [...HEAD, ...workers],
      ["", `${comparison.unit}/s`, "ms", "ms", "ms", "ms", ...cpuUnits],
      rowOf("plain PostgreSQL", plain, nodes.length),
      rowOf("Citus", citus, nodes.length),
    ]),
    "",
    `Ratio of Citus to plain PostgreSQL: ${ratio} (rounds: ${ratios.join(", ")}); ` +
      `p99 at 30 %: ${p99} times.`,
    failures.length > 0
      ? `Failures: ${failures.map(([outcome, times]) => `${outcome} × ${times}`).join(", ")}.`
      : "No failures.",
    "",
  ].join("\n");
}

const rowOf = (name: string, side: Side, nodes: number): string[] => [
  name,
  side.unitsPerSecond.toLocaleString("en-US"),
  ...[side.latencyMs.p50, side.latencyMs.p99].map(String),
  ...[side.relaxedLatencyMs.p50, side.relaxedLatencyMs.p99].map(String),
  String(side.cpuMsPer1000.server),
  ...Array.from({ length: nodes }, (_, index) => {
    const time = side.cpuMsPer1000.nodes[index];
    return time === undefined || Number.isNaN(time) ? "" : String(time);
  }),
];
