import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, realpath, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Another process uses the data folder. */
export class FolderInUse extends Error {
  constructor(folder: string) {
    super(
      `The data folder ${folder} is in use by another Rapport server. ` +
        "Stop that one first, or set DATA_DIR to another folder.",
    );
    this.name = "FolderInUse";
  }
}

export interface FolderLock {
  release(): Promise<void>;
}

/** A contender may back off at the same time, so a process tries several times. */
const TRIES = 10;

/** The longest pause before the second try; random and growing, so that contenders desynchronize. */
const PAUSE_MS = 50;

/**
 * Locks a folder for this process, so that two servers never write to one embedded database.
 *
 * A process listens on a socket of its own in the folder, then connects to all others: it holds the lock
 * when none accepts. Every process listens before it looks, so of two contenders at least one sees the
 * other and backs off. The operating system closes a socket with its process, however that ends; the
 * file that remains is stale and is removed. Not a file with a process id: it would outlive a killed
 * process, and the id may be reused. Not one socket with a fixed name: a second contender that cleans up
 * could remove the new owner's.
 *
 * @throws FolderInUse when another process holds it.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  if (process.platform === "win32") return lockPipe(folder);
  const place = await placeOfSockets(folder);
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const path = join(place, socketName());
    const server = await listen(path);
    const isAlone = !(await othersListen(place, path)) && existsSync(path);
    if (isAlone) {
      await chmod(path, 0o600);
      return { release: () => close(server) };
    }
    await close(server);
    await sleep(Math.random() * PAUSE_MS * (attempt + 1));
  }
  throw new FolderInUse(folder);
}

const SOCKET = /^rapport-[0-9a-f]{8}\.lock$/;

const socketName = (): string => `rapport-${randomBytes(4).toString("hex")}.lock`;

/** The longest path that every system accepts as a socket address. */
const LONGEST_SOCKET_PATH = 100;

/**
 * The folder itself, or, where its path is too long for a socket, one derived from it: in the same place for every
 * process, whatever its TMPDIR.
 */
async function placeOfSockets(folder: string): Promise<string> {
  const real = await realpath(folder);
  if (Buffer.byteLength(join(real, socketName())) <= LONGEST_SOCKET_PATH) return real;
  const place = join(existsSync("/tmp") ? "/tmp" : tmpdir(), `rapport-${fingerprint(real)}`);
  await mkdir(place, { recursive: true, mode: 0o700 });
  return place;
}

const fingerprint = (path: string): string =>
  createHash("sha256").update(path).digest("hex").slice(0, 32);

/** Whether a socket other than `own` accepts connections. Stale sockets are removed. */
async function othersListen(place: string, own: string): Promise<boolean> {
  const names = (await readdir(place)).filter((name) => SOCKET.test(name));
  const others = names.map((name) => join(place, name)).filter((path) => path !== own);
  const listening = await Promise.all(
    others.map(async (path) => {
      if (await acceptsConnections(path)) return true;
      await rm(path, { force: true });
      return false;
    }),
  );
  return listening.includes(true);
}

function acceptsConnections(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      done(true);
    });
    // Only a refused or missing socket proves that the lock is stale: its process may be busy.
    socket.once("error", ({ code }: NodeJS.ErrnoException) =>
      done(code !== "ECONNREFUSED" && code !== "ENOENT"),
    );
  });
}

function listen(path: string): Promise<Server> {
  return new Promise((done, fail) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", fail);
    server.listen(path, () => done(server.unref()));
  });
}

const close = (server: Server): Promise<void> => new Promise((done) => server.close(() => done()));

/** On Windows a pipe ends with its process, and only one process can listen on its name. */
async function lockPipe(folder: string): Promise<FolderLock> {
  const name = `\\\\.\\pipe\\rapport-${fingerprint(await realpath(folder))}`;
  const server = await listen(name).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EADDRINUSE" ? new FolderInUse(folder) : error;
  });
  return { release: () => close(server) };
}
