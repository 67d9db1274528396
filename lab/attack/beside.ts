import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { parentPort, Worker, workerData } from "node:worker_threads";
import { VICTIM_KEY } from "./attacked-server.ts";

/*
 * The effects of an attack on others: health checks and requests of another workspace, sent from a
 * separate thread, so that the attacker's work does not count as a delay of the server.
 */

export interface SeenBeside {
  readonly worstHealthMs: number;
  /** Of a hundred responses of `/health/live` one took longer. */
  readonly healthP99Ms: number;
  readonly served: number;
  readonly refused: number;
  /** The most memory that the server held, in MB, and how much of it came during the attack. */
  readonly memory: number;
  readonly grownMb: number;
}

interface Settings {
  readonly url: string;
  readonly processId: number;
}

/** Begins to watch. @returns a function that ends it. */
export async function watchBeside(settings: Settings): Promise<() => Promise<SeenBeside>> {
  const worker = new Worker(new URL(import.meta.url), { workerData: settings });
  // The first message says that health was answered once.
  await nextMessage(worker);
  return async () => {
    const seen = nextMessage(worker);
    worker.postMessage("end");
    const result = (await seen) as SeenBeside;
    await worker.terminate();
    return result;
  };
}

const nextMessage = (worker: Worker): Promise<unknown> =>
  new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));

const EVERY_MS = 20;

const EVENT = JSON.stringify({
  events: [{ external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" }],
});

async function sendEvent(url: string): Promise<number> {
  try {
    const response = await fetch(`${url}/users/track`, {
      method: "POST",
      headers: { authorization: `Bearer ${VICTIM_KEY}`, "content-type": "application/json" },
      body: EVENT,
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

/** Resident memory, from /proc; 0 on systems that have none. */
function residentMegabytes(processId: number): number {
  try {
    const status = readFileSync(`/proc/${processId}/status`, "utf8");
    return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024);
  } catch {
    return 0;
  }
}

async function watch({ url, processId }: Settings): Promise<void> {
  const seen = { worstHealthMs: 0, served: 0, refused: 0, memory: 0 };
  const healthMs: number[] = [];
  let isOver = false;
  parentPort?.once("message", () => {
    isOver = true;
  });
  const askHealth = async () => {
    const startedAt = performance.now();
    await (await fetch(`${url}/health/live`)).arrayBuffer();
    healthMs.push(performance.now() - startedAt);
    seen.worstHealthMs = Math.max(seen.worstHealthMs, healthMs.at(-1) ?? 0);
    seen.memory = Math.max(seen.memory, residentMegabytes(processId));
  };
  const beLegitimate = async () => {
    if ((await sendEvent(url)) === 201) seen.served++;
    else seen.refused++;
  };
  const untilOver = async (turn: () => Promise<void>) => {
    while (!isOver) {
      await turn();
      await pause(EVERY_MS);
    }
  };
  // Connections are open and code is compiled before the watch begins.
  await askHealth();
  await beLegitimate();
  healthMs.length = 0;
  const memoryBefore = residentMegabytes(processId);
  Object.assign(seen, { worstHealthMs: 0, served: 0, refused: 0, memory: memoryBefore });
  parentPort?.postMessage("ready");
  await Promise.all([untilOver(askHealth), untilOver(beLegitimate)]);
  healthMs.sort((one, other) => one - other);
  const healthP99Ms = healthMs[Math.floor(healthMs.length * 0.99)] ?? 0;
  parentPort?.postMessage({ ...seen, healthP99Ms, grownMb: seen.memory - memoryBefore });
}

if (workerData?.processId) void watch(workerData as Settings);
