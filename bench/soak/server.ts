import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageRoot } from "../../src/database/migrate.ts";

/** The server as its users start it, in a process of its own. */
export interface SoakServer {
  readonly url: string;
  readonly adminToken: string;
  /** What it holds in memory now, in MB. */
  memory(): number;
  stop(): Promise<number | null>;
}

const ADMIN_TOKEN = "admin-token-of-the-soak-test";

export async function startServer(
  databaseUrl: string | undefined,
  more: Readonly<Record<string, string>> = {},
): Promise<SoakServer> {
  // On disk: kept in memory, the data itself would be what grows.
  const dataDir = await mkdtemp(join(tmpdir(), "rapport-soak-"));
  const child = spawn(process.execPath, [join(packageRoot(), "dist/src/main.js"), "serve"], {
    env: {
      PATH: process.env.PATH,
      PORT: "0",
      DATA_DIR: dataDir,
      LOG_LEVEL: "error",
      ADMIN_TOKEN,
      ...(databaseUrl && { DATABASE_URL: databaseUrl }),
      ...more,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
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
