/* Two servers and two workspaces on one database, behind a network that can be cut. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { appendFile, mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import postgres from "postgres";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import { startCitus } from "../../../test/core/database/citus-nodes.ts";
import { ALERTS, NEWSLETTER } from "../../../test/harness.ts";
import { type Cluster, startCluster } from "../../bench/engines/postgres-cluster.ts";
import { ADMIN_TOKEN } from "../servers.ts";
import { type Network, startNetwork } from "./proxy.ts";

export interface Server {
  readonly url: string;
  readonly pid: number;
  /** Changes this process's clock by so many milliseconds. */
  shiftClock(ms: number): void;
  /** How many lines its log has had. */
  readonly log: readonly string[];
}

export interface Stage {
  readonly engine: "postgres" | "citus";
  readonly servers: readonly [Server, Server];
  /** The coordinator first. */
  readonly nodes: readonly Cluster[];
  readonly network: Network;
  /** Past the network. */
  readonly databaseUrl: string;
  /** Names of workspaces, with their keys. */
  readonly workspaces: readonly { readonly name: string; readonly key: string }[];
  /** Fills the disk of the database, or frees it; undefined if it cannot be mounted. */
  readonly disk: { fill(): Promise<void>; free(): Promise<void> } | undefined;
  end(): Promise<void>;
}

/** Enough for the log of a few minutes; the rest is taken by a file. */
const DISK_MB = 512;

const SETTINGS = {
  shared_buffers: "64MB",
  max_wal_size: "128MB",
  min_wal_size: "32MB",
  max_connections: "60",
};

export const USERS = 300;

export async function openStage(engine: Stage["engine"]): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "rapport-outage-"));
  const isMounted =
    engine === "postgres" &&
    spawnSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MB}m,mode=711`, "tmpfs", folder])
      .status === 0;
  const children: ChildProcess[] = [];
  const homes: string[] = [];
  const { nodes, url } = await startNodes(engine, folder);
  const network = await startNetwork(url);
  const settings = {
    DATABASE_URL: network.url,
    ADMIN_TOKEN,
    SECRET_KEY: "secret-key-of-the-outages",
  };
  const end = async () => {
    for (const child of children) {
      child.kill("SIGCONT");
      child.kill("SIGKILL");
    }
    network.close();
    await Promise.all(nodes.map((node) => node.crash().catch(() => {})));
    if (isMounted) execFileSync("umount", ["--lazy", folder]);
    for (const each of [folder, ...homes]) await rm(each, { recursive: true, force: true });
  };
  const servers: Server[] = [];
  try {
    for (const number of [0, 1]) {
      const home = await mkdtemp(join(tmpdir(), "rapport-outage-data-"));
      homes.push(home);
      const { server, child } = await startServer(
        { ...settings, DATA_DIR: home },
        join(home, "clock"),
      );
      servers.push(server);
      children.push(child);
      if (number === 0) await createWorkspaces(server.url);
    }
  } catch (error) {
    await end();
    throw error;
  }
  return {
    engine,
    servers: servers as unknown as Stage["servers"],
    nodes,
    network,
    databaseUrl: url,
    workspaces: WORKSPACES,
    disk: isMounted ? diskIn(folder) : undefined,
    end,
  };
}

async function startNodes(engine: Stage["engine"], folder: string) {
  if (engine === "citus") {
    const citus = await startCitus(folder);
    if (!citus) throw new Error("Citus is not installed where initdb is.");
    return citus;
  }
  const cluster = await startCluster(folder, SETTINGS);
  if (!cluster) throw new Error("PostgreSQL is not installed: no initdb.");
  return { url: `${cluster.url}/postgres`, nodes: [cluster] };
}

function diskIn(folder: string) {
  const filler = join(folder, "filler");
  return {
    /** To the last page: what PostgreSQL frees meanwhile is taken the next time. */
    async fill() {
      const { bsize } = await statfs(folder);
      for (const bytes of [1_048_576, bsize]) {
        const piece = Buffer.alloc(bytes);
        for (let isFull = false; !isFull; ) {
          isFull = await appendFile(filler, piece).then(
            () => false,
            () => true,
          );
        }
      }
    },
    free: () => rm(filler),
  };
}

async function startServer(settings: Readonly<Record<string, string>>, clockFile: string) {
  writeFileSync(clockFile, "0");
  const jumping = join(packageRoot(), "dist/test/system/jumping-date.js");
  const child = spawn(process.execPath, [join(packageRoot(), "dist/bundle/main.js"), "serve"], {
    env: {
      PATH: process.env.PATH,
      PORT: "0",
      DEMO: "false",
      NODE_OPTIONS: `--import=${jumping}`,
      CLOCK_FILE: clockFile,
      ...settings,
    },
    stdio: ["ignore", "pipe", "pipe"],
  }) as ChildProcess & { stdout: Readable; stderr: Readable };
  const log: string[] = [];
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    for (const line of text.split("\n")) if (line) log.push(line);
  });
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += chunk;
    if (/ready at (\S+)\n/.test(printed)) break;
  }
  child.stdout.resume();
  const [, url] = /ready at (\S+)\n/.exec(printed) ?? [];
  if (!url) throw new Error(`A server does not start: ${printed}${log.join("\n")}`);
  void once(child, "exit").then(([code]) => log.push(`ended with ${code}`));
  const server: Server = {
    url,
    pid: child.pid as number,
    log,
    shiftClock: (ms) => writeFileSync(clockFile, String(Number(readFileSync(clockFile)) + ms)),
  };
  return { server, child };
}

const WORKSPACES = ["north", "south"].map((name) => ({
  name,
  key: `key-of-the-outages-in-${name}`,
}));

async function createWorkspaces(url: string): Promise<void> {
  const manifest = {
    company: { name: "Outage" },
    workspaces: WORKSPACES.map(({ name, key }) => ({
      name,
      api_keys: [{ name: "outage", key, permissions: ["all"] }],
      settings: { rate_limits: { "users.track": "off" } },
      subscription_groups: [
        { id: NEWSLETTER, name: "Newsletter", channel: "email" },
        { id: ALERTS, name: "Alerts", channel: "sms" },
      ],
    })),
  };
  await send(url, ADMIN_TOKEN, "/admin/v1/apply", manifest);
  for (const { key } of WORKSPACES) {
    for (let from = 0; from < USERS; from += 50) {
      const attributes = Array.from({ length: 50 }, (_, index) => ({
        external_id: `u${from + index}`,
        email: `u${from + index}@example.com`,
        written: 0,
      }));
      await send(url, key, "/users/track", { attributes });
    }
  }
}

async function send(url: string, token: string, path: string, body: unknown): Promise<void> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (response.status >= 300) throw new Error(await response.text());
}

/** Runs statements past the network. */
export const openSql = ({ databaseUrl }: Stage, max = 1): postgres.Sql =>
  postgres(databaseUrl, { max, onnotice: () => {}, connection: { application_name: "psql" } });
