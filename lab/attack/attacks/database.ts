import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Cluster } from "../../bench/engines/postgres-cluster.ts";
import { processesOf } from "../../bench/processes/process-table.ts";
import { type Attack, mustHold, tally, times } from "../target.ts";

/* A PostgreSQL that is frozen: the whole cluster gets SIGSTOP, so it must be one that was started for this. */

const STOPPED_MS = 12_000;

export function stoppedDatabase(cluster: Cluster): Attack {
  return {
    name: "PostgreSQL stopped with SIGSTOP for 12 s",
    before: "requests hang indefinitely",
    stopsDatabase: true,
    run: async (target) => {
      const pidFile = join(dirname(cluster.logFile), "data", "postmaster.pid");
      const postmaster = Number((await readFile(pidFile, "utf8")).split("\n", 1)[0]);
      const all = processesOf(postmaster);
      for (const id of all) process.kill(id, "SIGSTOP");
      const startedAt = performance.now();
      try {
        const event = { external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" };
        const responses = await Promise.all(
          times(20, () => target.send("POST", "/users/track", { events: [event] })),
        );
        const took = performance.now() - startedAt;
        const statuses = tally(responses);
        mustHold(took < STOPPED_MS, `Requests took ${Math.round(took)} ms.`);
        mustHold(
          responses.every(({ status }) => status === 503),
          statuses,
        );
        await pause(Math.max(0, STOPPED_MS - took));
        return `${statuses} after ${(took / 1_000).toFixed(1)} s`;
      } finally {
        for (const id of all) process.kill(id, "SIGCONT");
      }
    },
  };
}
