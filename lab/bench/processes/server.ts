import { spawn } from "node:child_process";
import { mkdtemp, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import { translatedMessage } from "../engines/message.ts";
import { SECRET_KEY } from "../engines/seed.ts";
import { GROUPS } from "../workloads/groups.ts";

export interface ServerProcess {
  readonly url: string;
  readonly processId: number;
  /** Asks it to stop and waits until it has. @throws when it did not end well. */
  stop(): Promise<void>;
}

export const API_KEY = "api-key-of-the-benchmark";

export const BENCH_CENTER = "main";

export const ADMIN_TOKEN = "admin-token-of-the-benchmark";

/** The permissions whose limits the workloads would reach. */
const UNLIMITED = [
  "users.track",
  "users.export.ids",
  "users.merge",
  "subscription.status.set",
  "campaigns.translations.get",
];

/** The manifest of the server under test: one workspace. */
const MANIFEST = {
  company: { name: "Benchmark" },
  workspaces: [
    {
      name: "bench",
      api_keys: [{ name: "bench", key: API_KEY, permissions: ["all"] }],
      settings: {
        multi_language: true,
        rate_limits: Object.fromEntries(UNLIMITED.map((name) => [name, "off"])),
      },
      subscription_groups: GROUPS,
      preference_centers: [{ id: BENCH_CENTER, name: "main" }],
      ...translatedMessage(),
    },
  ],
};

const READY = /Rapport is ready at (\S+)/;

export interface ServerOptions {
  /** For its log and its manifest. */
  readonly folder: string;
  /** How many processes; undefined for as many as the server takes by itself. */
  readonly workers: number | undefined;
  /** Such as `--cpu-prof`. */
  readonly nodeOptions?: readonly string[];
  /** The folder of the built repository that it runs; undefined for this one. */
  readonly root?: string;
}

/**
 * Starts the real server as a user would, with the settings that it has when nothing is said, and
 * resolves when it takes requests.
 *
 * @param environment the engine: DATABASE_URL, DATA_DIR.
 */
export async function startServer(
  environment: Readonly<Record<string, string>>,
  { folder, workers, nodeOptions = [], root = packageRoot() }: ServerOptions,
): Promise<ServerProcess> {
  const home = await mkdtemp(join(folder, "log-"));
  const manifest = join(home, "manifest.json");
  const logFile = join(home, "server.log");
  await writeFile(manifest, JSON.stringify(MANIFEST));
  const log = await open(logFile, "a");
  const child = spawn(
    process.execPath,
    [...nodeOptions, join(root, "dist/bundle/main.js"), "serve"],
    {
      stdio: ["ignore", "pipe", log.fd],
      env: {
        ...process.env,
        ...environment,
        HOST: "127.0.0.1",
        PORT: "0",
        MANIFEST: manifest,
        ADMIN_TOKEN,
        // All views come from one address.
        PAGE_LIMIT: "1000000",
        // A copy of a database has another data folder, without its own key.
        SECRET_KEY,
        WEB_CONCURRENCY: workers === undefined ? "" : String(workers),
      },
    },
  );
  await log.close();
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(code === 0 ? "" : `${code ?? signal}`));
  });
  const failure = async (what: string) => {
    const lastLines = (await readFile(logFile, "utf8")).trim().split("\n").slice(-5).join("\n");
    return new Error(`The server ${what}.\n${lastLines}`);
  };
  const url = await new Promise<string | undefined>((resolve) => {
    let said = "";
    child.stdout?.on("data", (chunk) => {
      said += chunk;
      const ready = READY.exec(said)?.[1];
      if (ready) resolve(ready);
    });
    void ended.then(() => resolve(undefined));
  });
  if (!url) throw await failure(`ended with ${await ended} before it was ready`);
  // Once it answers it also listens to signals, which it does only after it has said that it is ready.
  await (await fetch(`${url}/health/ready`)).arrayBuffer();
  return {
    url,
    processId: child.pid as number,
    async stop() {
      child.kill("SIGTERM");
      const code = await ended;
      if (code) throw await failure(`ended with ${code}`);
    },
  };
}
