import { createHash } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";

/** Another process holds the data folder. */
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

/** The longest path that every system takes as the address of a socket. */
const LONGEST_SOCKET_PATH = 100;

/**
 * Holds a folder for this process, so that two servers never write into one embedded database.
 *
 * The lock is a listening socket in the folder: the operating system drops it with the process,
 * however that ends, and asking whether it is held is connecting to it. A file with a process id
 * would outlive a killed process, and its id may belong to somebody else by then.
 *
 * @throws FolderInUse when another process has it.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const path = socketPath(folder);
  let server = await listen(path);
  if (!server) {
    if (await answers(path)) throw new FolderInUse(folder);
    await moveAside(path);
    server = await listen(path);
  }
  if (!server) throw new FolderInUse(folder);
  const held = server;
  return { release: () => new Promise((done) => held.close(() => done())) };
}

function socketPath(folder: string): string {
  const name = "rapport.lock";
  if (process.platform === "win32") return `\\\\.\\pipe\\${fingerprint(folder)}`;
  const inFolder = join(folder, name);
  const candidates = [inFolder, relative(process.cwd(), resolve(inFolder))];
  const fitting = candidates.find((path) => Buffer.byteLength(path) <= LONGEST_SOCKET_PATH);
  return fitting ?? join(tmpdir(), `rapport-${fingerprint(folder)}.lock`);
}

const fingerprint = (folder: string): string =>
  createHash("sha256").update(resolve(folder)).digest("hex").slice(0, 32);

/** The listening server, or undefined where something stands at the path already. */
function listen(path: string): Promise<Server | undefined> {
  return new Promise((done, fail) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? done(undefined) : fail(error),
    );
    server.listen(path, () => done(server.unref()));
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(path);
    socket.once("connect", () => done(true)).once("error", () => done(false));
    socket.once("close", () => socket.destroy());
  });
}

/** What a killed process left. Renamed first, so that of two who clean up only one removes it. */
async function moveAside(path: string): Promise<void> {
  const aside = `${path}.${process.pid}`;
  await rename(path, aside).catch(() => {});
  await rm(aside, { force: true });
}
