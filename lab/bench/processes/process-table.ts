import { readdirSync, readFileSync } from "node:fs";

/*
 * Processor time and memory of this machine's processes, from /proc (Linux): see proc(5).
 */

/** Linux's unit of processor time, on any machine. */
const TICKS_PER_SECOND = 100;

interface ProcessStat {
  readonly id: number;
  readonly name: string;
  readonly parent: number;
  readonly ownTicks: number;
  /** Of children that have ended. */
  readonly childTicks: number;
}

function readStat(id: number): ProcessStat | undefined {
  let line: string;
  try {
    line = readFileSync(`/proc/${id}/stat`, "utf8");
  } catch {
    return undefined; // It has ended in the meantime.
  }
  const nameEnd = line.lastIndexOf(")");
  const fields = line.slice(nameEnd + 2).split(" ");
  const ticks = (first: number) => Number(fields[first]) + Number(fields[first + 1]);
  return {
    id,
    name: line.slice(line.indexOf("(") + 1, nameEnd),
    parent: Number(fields[1]),
    ownTicks: ticks(11),
    childTicks: ticks(13),
  };
}

export const nameOf = (id: number): string | undefined => readStat(id)?.name;

export const parentOf = (id: number): number | undefined => readStat(id)?.parent;

/** A process with all that it started, directly or not, as far as they still run. */
function treeOf(root: number): ProcessStat[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(Number(name)) ?? []);
  const tree = all.filter((each) => each.id === root);
  for (const each of tree) tree.push(...all.filter((other) => other.parent === each.id));
  return tree;
}

/** The ids of a process and all that it started. */
export const processesOf = (root: number): number[] => treeOf(root).map(({ id }) => id);

/**
 * Processor time of a process and all its descendants, in seconds, including children that ended.
 */
export function cpuSecondsOf(root: number): number {
  const ticks = treeOf(root).reduce((sum, each) => sum + each.ownTicks + each.childTicks, 0);
  return ticks / TICKS_PER_SECOND;
}

/** Memory of a process and all below it, in bytes: resident now, and each one's peak so far. */
export function memoryOf(root: number): { residentBytes: number; peakBytes: number } {
  const total = { residentBytes: 0, peakBytes: 0 };
  for (const { id } of treeOf(root)) {
    let status: string;
    try {
      status = readFileSync(`/proc/${id}/status`, "utf8");
    } catch {
      continue;
    }
    const bytes = (field: string) =>
      Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0) * 1_024;
    total.residentBytes += bytes("VmRSS");
    total.peakBytes += bytes("VmHWM");
  }
  return total;
}

/** Processor time that the whole machine has spent on anything, in seconds. */
export function machineCpuSeconds(): number {
  const [, user, nice, system, , , interrupts, softInterrupts] =
    /^cpu +(.*)/.exec(readFileSync("/proc/stat", "utf8"))?.[0]?.split(/ +/).map(Number) ?? [];
  const ticks = [user, nice, system, interrupts, softInterrupts].reduce<number>(
    (sum, each) => sum + (each ?? 0),
    0,
  );
  return ticks / TICKS_PER_SECOND;
}
