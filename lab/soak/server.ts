import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Stream } from "node:stream";
import { packageRoot } from "../../src/core/base/package-root.ts";

/** The server as its users start it, in a separate process. */
export interface SoakServer {
  readonly url: string;
  readonly adminToken: string;
  readonly processId: number;
  readonly dataDir: string;
  /** Everything that it printed until it was ready. */
  readonly greeting: string;
  /** File descriptor 3 of the server, for code that `nodeOptions` loads into it. */
  readonly channel: Stream | null | undefined;
  /** Its present memory, in MB. */
  memory(): number;
  stop(): Promise<number | null>;
}

const MAIN = join(packageRoot(), "dist/bundle/main.js");

const ADMIN_TOKEN = "admin-token-of-the-soak-test";

export async function startServer(
  databaseUrl: string | undefined,
  more: Readonly<Record<string, string>> = {},
  nodeOptions: readonly string[] = [],
): Promise<SoakServer> {
  // On disk: kept in memory, the data itself would be what grows.
  const dataDir = await mkdtemp(join(tmpdir(), "rapport-soak-"));
  const child = spawn(process.execPath, [...nodeOptions, MAIN, "serve"], {
    env: {
      PATH: process.env.PATH,
      PORT: "0",
      DATA_DIR: dataDir,
      LOG_LEVEL: "error",
      ADMIN_TOKEN,
      ...(databaseUrl && { DATABASE_URL: databaseUrl }),
      ...more,
    },
    stdio: ["ignore", "pipe", "inherit", "pipe"],
  }) as ChildProcess & { stdout: Readable };
  const ended = once(child, "exit");
  let greeting = "";
  for await (const chunk of child.stdout) {
    greeting += chunk;
    if (greeting.includes("Try it:") || greeting.includes("ready at")) break;
  }
  const url = /ready at (\S+)/.exec(greeting)?.[1];
  if (!url) throw new Error(`The server did not start: ${greeting}`);
  return {
    url,
    adminToken: ADMIN_TOKEN,
    processId: child.pid as number,
    dataDir,
    greeting,
    channel: child.stdio[3],
    memory: () => residentMegabytes(child.pid as number),
    async stop() {
      child.kill("SIGTERM");
      const [code] = await ended;
      await rm(dataDir, { recursive: true });
      return code as number | null;
    },
  };
}

/** From /proc (Linux). */
function residentMegabytes(processId: number): number {
  const status = readFileSync(`/proc/${processId}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024);
}
