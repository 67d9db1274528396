import { type Measured, type Result, rounded } from "../result.ts";
import { columns } from "./columns.ts";

const HEAD = ["", "rate", "p50", "p95", "p99", "server", "database", "load", "others"];
const UNITS = ["", "/s", "ms", "ms", "ms", "cpu ms/1,000", "cpu ms/1,000", "cpu ms/1,000", "cores"];

/** A result as text for a terminal. */
export function tableOf(result: Result): string {
  const { workload, engine, users, unit, unitsPerRequest, connections, machine } = result;
  const title =
    `${workload} on ${engine} (${machine.database}): ${count(users)} users, ` +
    `${unitsPerRequest} ${unit} a request, ${connections} connections`;
  const rows = [
    rowOf("bare HTTP server", result.bareHttp),
    rowOf("plain SQL", result.plainSql),
    rowOf("Rapport, saturated", result.saturated),
    rowOf("Rapport, at 30 %", result.relaxed),
  ];
  return [title, "", ...columns([HEAD, UNITS, ...rows]), "", ...notesOf(result), ""].join("\n");
}

function rowOf(name: string, measured: Measured): string[] {
  const { unitsPerSecond, latencyMs, cpuSecondsPer1000: cpu, coresTakenByOthers } = measured;
  const latencies = latencyMs ? [latencyMs.p50, latencyMs.p95, latencyMs.p99] : ["", "", ""];
  return [
    name,
    count(unitsPerSecond),
    ...latencies.map(String),
    milliseconds(cpu.server),
    cpu.database === null ? "" : milliseconds(cpu.database),
    cpu.load === 0 ? "" : milliseconds(cpu.load),
    String(coresTakenByOthers),
  ];
}

const milliseconds = (seconds: number): string => String(rounded(seconds * 1_000));

function notesOf({ ratios, serverMemory: memory, proof, saturated, relaxed }: Result): string[] {
  const failures = [saturated, relaxed].flatMap((each) => Object.entries(each.failures));
  return [
    `Rate to bare HTTP ${ratios.rateToBareHttp}, to plain SQL ${ratios.rateToPlainSql}; ` +
      `processor time to plain SQL ${ratios.cpuToPlainSql}.`,
    `Memory of the server: ${memory.atStartMegabytes} MB after warming up, ` +
      `${memory.atEndMegabytes} MB at the end, ${memory.peakMegabytes} MB at most.`,
    failures.length > 0
      ? `Failures: ${failures.map(([outcome, times]) => `${outcome} × ${times}`).join(", ")}.`
      : "No failures.",
    ...(proof
      ? [
          `Rows of ${proof.table}: ${count(proof.rowsAcknowledged)} acknowledged, ` +
            `${count(proof.rowsFound)} found.`,
        ]
      : []),
  ];
}

const count = (value: number): string => value.toLocaleString("en-US");
