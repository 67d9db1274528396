import { createHash, randomBytes } from "node:crypto";
import { access, mkdir, readdir, realpath, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

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

/** How often a process asks again, at most: another one may be giving way to it. */
const TRIES = 10;

/** What a process waits, at most, before it asks again. */
const PAUSE_MS = 50;

/**
 * Holds a folder for this process, so that two servers never write into one embedded database.
 *
 * A process that wants the folder listens on a socket of its own there, then looks for others: it has
 * the folder when nobody else answers. Since everybody is to be seen before looking, of two who come
 * at once at least one sees the other and gives way. The operating system drops a socket with its
 * process, however that ends; the file that remains is nobody's and is removed. A file with a
 * process id would outlive a killed process, and its id may belong to somebody else by then; one
 * socket under a fixed name could be taken away from its new owner by a second one who cleans up.
 *
 * @throws FolderInUse when another process has it.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  if (process.platform === "win32") return lockPipe(folder);
  const place = await placeOfSockets(folder);
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const path = join(place, socketName());
    const server = await listen(path);
    const isAlone = !(await othersAnswer(place, path)) && (await exists(path));
    if (isAlone) return { release: () => close(server) };
    await close(server);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS));
  }
  throw new FolderInUse(folder);
}

const SOCKET = /^rapport-[0-9a-f]{8}\.lock$/;

const socketName = (): string => `rapport-${randomBytes(4).toString("hex")}.lock`;

/** The longest path that every system takes as the address of a socket. */
const LONGEST_SOCKET_PATH = 100;

/** The folder itself; where its path is too long for a socket, one that everybody finds from it. */
async function placeOfSockets(folder: string): Promise<string> {
  const real = await realpath(folder);
  if (Buffer.byteLength(join(real, socketName())) <= LONGEST_SOCKET_PATH) return real;
  const place = join(tmpdir(), `rapport-${fingerprint(real)}`);
  await mkdir(place, { recursive: true });
  return place;
}

const fingerprint = (path: string): string =>
  createHash("sha256").update(path).digest("hex").slice(0, 32);

/** Whether anybody but `own` listens there. Sockets that nobody answers at are removed. */
async function othersAnswer(place: string, own: string): Promise<boolean> {
  const names = (await readdir(place)).filter((name) => SOCKET.test(name));
  const others = names.map((name) => join(place, name)).filter((path) => path !== own);
  const answers = await Promise.all(
    others.map(async (path) => {
      if (await isAnswered(path)) return true;
      await rm(path, { force: true });
      return false;
    }),
  );
  return answers.includes(true);
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      done(true);
    });
    // Only what is surely nobody's is taken for that: whoever is too busy to answer is there.
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

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** On Windows a pipe is gone with its process, and its name can be taken once only. */
async function lockPipe(folder: string): Promise<FolderLock> {
  const name = `\\\\.\\pipe\\rapport-${fingerprint(await realpath(folder))}`;
  const server = await listen(name).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EADDRINUSE" ? new FolderInUse(folder) : error;
  });
  return { release: () => close(server) };
}
