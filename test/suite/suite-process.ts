/* One process of the suite (suite.ts): runs one test file after the other until the queue is empty. */
import { appendFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, describe } from "node:test";
import { setFlagsFromString } from "node:v8";
import fc from "fast-check";
import { closeSharedChromium, shareChromium } from "../browser/chromium.ts";
import { shareEngines, startServer, stopShared } from "../harness.ts";
import { endLauncher } from "../system/launched.ts";
import { familySeconds } from "./family-time.ts";
import type { FileTime } from "./suite-times.ts";

/**
 * Most code of a test runs a few times, and the compilers that make it fast take more processor time than they save: a seventh
 * of all. Thorough tests repeat more.
 */
function compileLittle(): void {
  if (process.env.TEST_THOROUGH) return;
  // Of the engine, which is WebAssembly.
  setFlagsFromString("--liftoff-only");
  const isOld = Number.parseInt(process.versions.v8, 10) < 12;
  setFlagsFromString(
    isOld ? "--interrupt-budget=1000000" : "--invocation-count-for-turbofan=30000",
  );
}

/** A property that fails is tried with simpler inputs, each of which may take a second: after this it says what it has. */
const SIMPLER_FOR_MS = 120_000;

/** How long a process may take to end after its last file. */
const END_MS = 60_000;

const queue = process.env.TEST_QUEUE ?? "";
const RUNNING = ".running";

/** Takes the first entry of the queue that no other process takes. */
function takeNext(): { path: string; finish: () => void } | undefined {
  for (const entry of readdirSync(queue).sort()) {
    if (entry.endsWith(RUNNING)) continue;
    const running = join(queue, entry + RUNNING);
    try {
      renameSync(join(queue, entry), running);
    } catch {
      continue; // Another process was faster.
    }
    const path = decodeURIComponent(entry.slice(entry.indexOf("-") + 1));
    const began = performance.now();
    const used = familySeconds();
    const finish = () => {
      const line: FileTime = {
        path,
        seconds: (performance.now() - began) / 1_000,
        cpu_seconds: familySeconds() - used,
      };
      appendFileSync(process.env.TEST_TIMES ?? "", `${JSON.stringify(line)}\n`);
      rmSync(running);
    };
    return { path, finish };
  }
  return undefined;
}

/** How long a file may take. A hook that fails skips the later ones, also the one that tells that the file has ended. */
const FILE_MS = process.env.TEST_THOROUGH ? 3_600_000 : 600_000;

/** Runs a file as a separate suite: its hooks run when its last test has ended. */
const runFile = (path: string): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, FILE_MS + 10_000).unref();
    describe(path, { timeout: FILE_MS }, async () => {
      try {
        await import(new URL(`../${path}`, import.meta.url).href);
      } finally {
        after(() => resolve());
      }
    });
  });

// A test that ends the process must not look like success.
let isDone = false;
process.on("exit", () => {
  if (!isDone) process.exitCode = 1;
});

// An interrupted run ends its processes, and their listeners for the end kill the servers that they started.
process.once("SIGTERM", () => process.exit(1));

compileLittle();
if (!process.env.TEST_THOROUGH) {
  fc.configureGlobal({ interruptAfterTimeLimit: SIMPLER_FOR_MS, markInterruptAsFailure: true });
}
shareChromium();
shareEngines();
let next = takeNext();
// Started here, the shared server outlives the files. Without a file no hook would stop it.
if (next) await startServer();
for (; next; next = takeNext()) {
  await runFile(next.path);
  next.finish();
}
isDone = true;
// Resources that a test left open must not keep the run waiting.
setTimeout(() => {
  const held = process.getActiveResourcesInfo().join(", ");
  process.stderr.write(`A process of the suite does not end by itself. It holds: ${held}\n`);
  process.exit();
}, END_MS).unref();
await closeSharedChromium();
await endLauncher();
// Its own hook waits for the end of the process, which waits for the server.
await stopShared();
