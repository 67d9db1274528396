import { readdirSync, readFileSync } from "node:fs";

/** Of a process, from /proc/ID/stat: its parent, and its ticks of processor time, with children that ended. */
function statOf(id: string): { parent: string; ticks: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, "latin1");
    // The name of a program may have blanks and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
    return { parent: fields[1] ?? "", ticks };
  } catch {
    return undefined; // It ended, or this is not Linux.
  }
}

const TICKS_PER_SECOND = 100;

/** Seconds of processor time of this process and of all that it started; without those where there is no /proc. */
export function familySeconds(): number {
  let ids: string[];
  try {
    ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  const processes = new Map(ids.map((id) => [id, statOf(id)]));
  const isOurs = (id: string): boolean =>
    id === String(process.pid) || (processes.has(id) && isOurs(processes.get(id)?.parent ?? ""));
  let ticks = 0;
  for (const [id, stat] of processes) if (isOurs(id)) ticks += stat?.ticks ?? 0;
  return ticks / TICKS_PER_SECOND;
}
