import { lstat, readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { freeBytes } from "../core/database/embedded/explain-open.ts";
import { explainError } from "./explain-error.ts";

/** The result of a check. */
export interface Finding {
  readonly check: string;
  readonly status: "ok" | "warning" | "failed";
  readonly message: string;
  /** The advice. */
  readonly remedy?: string;
}

/** The result of a start check, if the check applies. */
export async function findingOf(
  check: string,
  make: () => Promise<string | undefined>,
  remedy: string,
): Promise<Finding[]> {
  try {
    const message = await make();
    return message === undefined ? [] : [{ check, status: "ok", message }];
  } catch (error) {
    return [{ check, status: "failed", message: explainError(error), remedy }];
  }
}

const OLDEST_NODE = [20, 19] as const;

/** Whether this version of Node is supported. */
export function checkNode(): Finding {
  const check = "node";
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  const isOld = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
  if (!isOld) return { check, status: "ok", message: `Node ${process.versions.node}.` };
  const message = `Node ${process.versions.node} is older than ${OLDEST_NODE.join(".")}.`;
  return { check, status: "failed", message, remedy: "Install a newer Node." };
}

/** Whether the port is free, or a Rapport server listens on it. */
export async function checkPort(
  check: string,
  host: string,
  port: number,
): Promise<{ readonly finding: Finding; readonly isRapport: boolean }> {
  const place = `${host}:${port}`;
  if (port !== 0 && (await isRapport(host, port))) {
    const finding = {
      check,
      status: "ok",
      message: `A Rapport server responds at ${place}.`,
    } as const;
    return { finding, isRapport: true };
  }
  const error = await listenOnce(host, port);
  const finding: Finding = error
    ? {
        check,
        status: "failed",
        message: explainError(error),
        remedy: `Free ${place}, or change the setting.`,
      }
    : { check, status: "ok", message: `${place} is free; no server runs there.` };
  return { finding, isRapport: false };
}

/** Asks the server for its health. Undefined if nothing responds there in time. */
async function askHealth(host: string, port: number, path: string): Promise<Response | undefined> {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const authority = name.includes(":") && !name.startsWith("[") ? `[${name}]` : name;
  const signal = AbortSignal.timeout(2_500);
  return fetch(`http://${authority}:${port}${path}`, { signal }).catch(() => undefined);
}

async function isRapport(host: string, port: number): Promise<boolean> {
  const response = await askHealth(host, port, "/health/live");
  return !!response?.ok && response.headers.has("x-request-id");
}

/** Whether the server that listens there takes requests. */
export async function checkReady(host: string, port: number): Promise<Finding> {
  const check = "server";
  const response = await askHealth(host, port, "/health/ready");
  if (response?.ok) return { check, status: "ok", message: "The running server is ready." };
  const body: unknown = await response?.json().catch(() => undefined);
  const said = (body as { message?: unknown } | undefined)?.message;
  const why = typeof said === "string" ? said : "It does not respond in time.";
  const message = `The running server is not ready: ${why}`;
  const remedy =
    "Requests get 503 until that is mended. docs/operations/faults.md says what the server does meanwhile.";
  return { check, status: "failed", message, remedy };
}

function listenOnce(host: string, port: number): Promise<Error | undefined> {
  return new Promise((done) => {
    const server = createServer();
    server.once("error", done);
    server.listen({ host, port, exclusive: true }, () => server.close(() => done(undefined)));
  });
}

/** The permissions of anyone but the owner. */
const OTHERS = 0o077;

/** Whether only the owner may read the data folder: tokens, keys and users. */
export async function checkFileModes(dataDir: string): Promise<Finding> {
  const check = "file modes";
  const entries = await readdir(dataDir, { recursive: true }).catch(() => undefined);
  if (!entries) return { check, status: "ok", message: `${dataDir} does not exist yet.` };
  const open: string[] = [];
  for (const path of [dataDir, ...entries.map((entry) => join(dataDir, entry))]) {
    // A file of the engine may be gone by now.
    const stats = await lstat(path).catch(() => undefined);
    if (stats && !stats.isSymbolicLink() && (stats.mode & OTHERS) !== 0) open.push(path);
  }
  if (open.length === 0) {
    return { check, status: "ok", message: `Only the owner can read ${dataDir}.` };
  }
  const more = open.length > 1 ? ` and ${open.length - 1} more` : "";
  const message = `Other users of this machine can read ${open[0]}${more}.`;
  return { check, status: "failed", message, remedy: `Run chmod -R go= ${dataDir}` };
}

const GIGABYTE = 1_000_000_000;

/** Below this the next checkpoint or backup may fail. */
const LEAST_FREE = 100_000_000;

/** Whether the disk of the data folder has room. */
export async function checkDisk(dataDir: string): Promise<Finding> {
  const check = "disk";
  const free = await freeNear(resolve(dataDir));
  const message = `${(free / GIGABYTE).toFixed(1)} GB are free where ${dataDir} is.`;
  if (free >= GIGABYTE) return { check, status: "ok", message };
  const status = free < LEAST_FREE ? "failed" : "warning";
  return { check, status, message, remedy: "Free some space, or move DATA_DIR to another disk." };
}

/** The mode of the nearest existing folder. */
const freeNear = (folder: string): Promise<number> =>
  freeBytes(folder).catch(() => freeNear(dirname(folder)));
