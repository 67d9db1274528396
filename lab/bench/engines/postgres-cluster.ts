import { execFile, execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chmod, chown, mkdtemp, readFile } from "node:fs/promises";
import { totalmem } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../processes/free-port.ts";

/** A PostgreSQL that was started for the benchmark. */
export interface Cluster {
  /** Without a database at the end. */
  readonly url: string;
  /** Its log file. */
  readonly logFile: string;
  stop(): Promise<void>;
  /** Ends every process of it at once and writes nothing more, as a crash does. */
  crash(): Promise<void>;
  /** Starts it again after `stop` or `crash`; returns when it takes connections. */
  start(): Promise<void>;
  /** Runs a program of PostgreSQL as the owner of the cluster. */
  run(program: string, parameters: readonly string[]): Promise<unknown>;
  /** Its data folder. */
  readonly data: string;
}

/**
 * Usual settings for a dedicated four-core machine: a quarter of the memory, as PostgreSQL's manual
 * advises, and room for the log between checkpoints. Everything else keeps its default, which means
 * durable: fsync and synchronous_commit are on.
 */
const SETTINGS = {
  shared_buffers: `${Math.floor(totalmem() / 4 / 1_048_576)}MB`,
  max_wal_size: "16GB",
  max_connections: "100",
};

/**
 * Makes and starts a PostgreSQL below a folder, listening on this machine only.
 *
 * @param more settings in addition to the usual ones.
 * @returns undefined where PostgreSQL is not installed.
 */
export async function startCluster(
  folder: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Cluster | undefined> {
  const programs = findPrograms();
  if (!programs) return undefined;
  const home = await mkdtemp(join(folder, "postgres-"));
  const owner = ownerForRoot();
  if (owner) {
    await chown(home, owner.uid, owner.gid);
    await chmod(folder, 0o711); // to be passed through, not read
  }
  const run = (program: string, parameters: readonly string[]) =>
    promisify(execFile)(join(programs, program), parameters, { cwd: home, ...owner });

  const data = join(home, "data");
  const logFile = join(home, "log");
  const port = await freePort();
  await run("initdb", ["-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C"]);
  const settings = { ...SETTINGS, listen_addresses: "127.0.0.1", port: String(port), ...more };
  const options = Object.entries({ ...settings, unix_socket_directories: home })
    .map(([name, value]) => `-c ${name}='${value}'`)
    .join(" ");
  const start = async () => {
    const parameters = ["-D", data, "-w", "-s", "-l", logFile, "-o", options, "start"];
    await run("pg_ctl", parameters).catch(async (error) => {
      const log = await readFile(logFile, "utf8").catch(() => "");
      throw new Error(`PostgreSQL does not start: ${log || error.message}`);
    });
  };
  const stop = async (mode: string) =>
    void (await run("pg_ctl", ["-D", data, "-w", "-s", "-m", mode, "stop"]));
  await start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}`,
    logFile,
    stop: () => stop("fast"),
    crash: () => stop("immediate"),
    start,
    run,
    data,
  };
}

/** The folder of `initdb`: on the path, or where Debian keeps it, the newest version first. */
function findPrograms(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian)
    ? readdirSync(debian)
        .map(Number)
        .sort((a, b) => b - a)
    : [];
  const folders = [
    ...(process.env.PATH ?? "").split(delimiter),
    ...versions.map((version) => join(debian, String(version), "bin")),
  ];
  return folders.find((folder) =>
    ["initdb", "pg_basebackup", "pg_ctl", "postgres"].every((program) =>
      existsSync(join(folder, program)),
    ),
  );
}

/** PostgreSQL refuses to run as root: then it runs as the user `postgres`. */
function ownerForRoot(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (option: string) =>
    Number(execFileSync("id", [option, "postgres"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}
