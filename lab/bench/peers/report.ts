import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Round, summarise } from "../phase.ts";
import { median } from "../ratios.ts";
import { columns } from "../report/columns.ts";
import { type Machine, type Measured, rounded } from "../result.ts";
import type { PeerProof } from "./run.ts";

/**
 * One size of request on every contender, Rapport first, in the form in which it is written to a
 * file.
 */
export interface Comparison {
  readonly updatesPerRequest: number;
  readonly users: number;
  readonly connections: number;
  /** Of each contender. */
  readonly processes: number;
  readonly machine: Machine;
  readonly contenders: readonly {
    readonly title: string;
    readonly measured: Measured;
    /** Its rate beside Rapport's, of each round. */
    readonly ratios: readonly number[];
    readonly proof: PeerProof;
  }[];
}

/** @param contenders Rapport first. */
export function comparisonOf(
  contenders: readonly { title: string; rounds: readonly Round[]; proof: PeerProof }[],
  about: Omit<Comparison, "contenders">,
): Comparison {
  const rapport = contenders[0]?.rounds ?? [];
  return {
    ...about,
    contenders: contenders.map(({ title, rounds, proof }) => ({
      title,
      measured: summarise(rounds),
      ratios: rounds.map((round, turn) => rounded(rateOf(round) / rateOf(rapport[turn] as Round))),
      proof,
    })),
  };
}

const rateOf = ({ units, seconds }: Round): number => units / seconds;

const HEAD = ["", "rate", "ratio", "p50", "p99", "server", "database", "both", "others"];
const CPU = "cpu ms/1,000";
const UNITS = ["", "updates/s", "to Rapport", "ms", "ms", CPU, CPU, CPU, "cores"];

/** A comparison as text for a terminal. */
export function comparisonText(comparison: Comparison): string {
  const { users, updatesPerRequest, connections, processes, machine, contenders } = comparison;
  const title =
    `Peers on ${machine.database}: ${whole(users)} users, ` +
    `${counted(updatesPerRequest, "update")} a request, ` +
    `${connections} connections, ${counted(processes, "server process", "es")} each`;
  const rows = contenders.map(({ title: name, measured, ratios }) => {
    const { server, database } = measured.cpuSecondsPer1000;
    return [
      name,
      whole(measured.unitsPerSecond),
      String(rounded(median(ratios))),
      String(measured.latencyMs?.p50 ?? ""),
      String(measured.latencyMs?.p99 ?? ""),
      milliseconds(server),
      database === null ? "" : milliseconds(database),
      database === null ? "" : milliseconds(server + database),
      String(measured.coresTakenByOthers),
    ];
  });
  return [title, "", ...columns([HEAD, UNITS, ...rows]), "", ...notesOf(comparison), ""].join("\n");
}

const notesOf = ({ contenders }: Comparison): string[] =>
  contenders.map(({ title, measured, ratios, proof }) => {
    const failures = Object.entries(measured.failures).map(([what, times]) => `${what} × ${times}`);
    return (
      `${title}: ${failures.length > 0 ? `FAILED REQUESTS: ${failures.join(", ")}` : "no failures"}; ` +
      `${whole(proof.eventsAcknowledged)} events acknowledged, ${whole(proof.eventsFound)} found; ` +
      `${whole(proof.usersChanged)} users with acknowledged attributes, ` +
      `${whole(proof.usersFoundChanged)} found changed; ratios of the rounds ${ratios.join(", ")}.`
    );
  });

const counted = (value: number, noun: string, ending = "s"): string =>
  `${value} ${noun}${value === 1 ? "" : ending}`;

const whole = (value: number): string => value.toLocaleString("en-US");

const milliseconds = (seconds: number): string => String(rounded(seconds * 1_000));

/** @returns the path. */
export async function writeComparisons(
  folder: string,
  comparisons: readonly Comparison[],
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, "peers.json");
  await writeFile(path, `${JSON.stringify(comparisons, null, 2)}\n`);
  return path;
}
