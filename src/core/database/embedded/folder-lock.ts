import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { realpath, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { listenIn, liveSockets } from "../../base/local-socket.ts";

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
 * A process listens on its own socket in the folder, then connects to all others: it holds the lock
 * if none accepts. Every process listens before it looks, so of two contenders at least one sees
 * the other and backs off. The operating system closes a socket with its process, however that
 * ends; the file that remains is stale and is removed. A file with a process id would not do: it
 * would outlive a killed process, and the id may be reused. Nor would one socket with a fixed name:
 * a second contender that cleans up could remove the new owner's.
 *
 * @throws FolderInUse when another process holds it.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  if (process.platform === "win32") return lockPipe(folder);
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const name = socketName();
    const server = refusingServer();
    await listenIn(folder, name, server);
    const release = async () => {
      await close(server);
      await rm(join(folder, name), { force: true });
    };
    const others = await liveSockets(folder, SOCKET, name);
    if (others.length === 0 && existsSync(join(folder, name))) return { release };
    await release();
    await sleep(Math.random() * PAUSE_MS * (attempt + 1));
  }
  throw new FolderInUse(folder);
}

const SOCKET = /^rapport-[0-9a-f]{8}\.lock$/;

const socketName = (): string => `rapport-${randomBytes(4).toString("hex")}.lock`;

const refusingServer = (): Server => createServer((socket) => socket.destroy()).unref();

const close = (server: Server): Promise<void> => new Promise((done) => server.close(() => done()));

/** On Windows a pipe ends with its process, and only one process can listen on its name. */
async function lockPipe(folder: string): Promise<FolderLock> {
  const print = createHash("sha256")
    .update(await realpath(folder))
    .digest("hex");
  const server = refusingServer();
  await new Promise<void>((done, fail) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      fail(error.code === "EADDRINUSE" ? new FolderInUse(folder) : error),
    );
    server.listen(`\\\\.\\pipe\\rapport-${print.slice(0, 32)}`, () => done());
  });
  return { release: () => close(server) };
}
