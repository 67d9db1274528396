/*
 * Breaks the embedded engine as it can break: its thread throws, or its code exits. Engines that start while this is on listen
 * for it; they are otherwise the real ones.
 */
import { createRequire, syncBuiltinESMExports } from "node:module";
import type { Worker as EngineWorker, WorkerOptions } from "node:worker_threads";

/** Runs in the engine's thread, before the engine. */
const LISTENER = `
  import { parentPort } from "node:worker_threads";
  const { now } = Date;
  const exit = { name: "ExitStatus", message: "Program terminated with exit(100)", status: 100 };
  parentPort.on("message", ({ breaks }) => {
    if (breaks === "throw") setImmediate(() => { throw new Error("The thread crashes."); });
    // Its code asks for the time in the middle of the next statement.
    if (breaks === "exit") Date.now = () => { Date.now = now; throw exit; };
  });`;

export interface BreakableEngines {
  /** Breaks the engine that runs: at once, or within its next statement. */
  breakNow(how: "throw" | "exit"): void;
  restore(): void;
}

export function breakableEngines(): BreakableEngines {
  const threads = createRequire(import.meta.url)("node:worker_threads") as {
    Worker: typeof EngineWorker;
  };
  const { Worker } = threads;
  let latest: EngineWorker | undefined;
  threads.Worker = class extends Worker {
    constructor(file: string | URL, options?: WorkerOptions) {
      const isEngine = String(file).includes("pglite-thread");
      const url = `data:text/javascript,${encodeURIComponent(LISTENER)}`;
      super(file, isEngine ? { ...options, execArgv: ["--import", url] } : options);
      if (isEngine) latest = this;
    }
  };
  syncBuiltinESMExports();
  return {
    breakNow: (breaks) => latest?.postMessage({ breaks }),
    restore() {
      threads.Worker = Worker;
      syncBuiltinESMExports();
    },
  };
}
