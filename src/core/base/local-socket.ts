import { existsSync } from "node:fs";
import { chmod, mkdtemp, readdir, realpath, rm, symlink } from "node:fs/promises";
import { connect, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/*
 * Unix sockets in a private folder: only users who may enter the folder can listen or connect
 * there, which no port offers. Windows has none.
 */

/** The longest path that every system accepts as a socket address. */
const LONGEST_SOCKET_PATH = 100;

/** Listens on a socket in a folder, which only its owner may use. The file stays when the server closes: remove it. */
export function listenIn(folder: string, name: string, server: Server): Promise<void> {
  return withShortPath(folder, name, async (path) => {
    await new Promise<void>((done, fail) => {
      server.once("error", fail);
      // Without the first of several processes, which would replace itself.
      server.listen({ path, exclusive: true }, () => {
        server.off("error", fail);
        done();
      });
    });
    await chmod(path, 0o600);
  });
}

/** Connects to a socket in a folder. @throws the system's error if no process listens there. */
export const connectIn = (folder: string, name: string): Promise<Socket> =>
  withShortPath(
    folder,
    name,
    (path) =>
      new Promise((done, fail) => {
        const socket = connect(path);
        // It stays: the other side may break off before the caller listens.
        socket.on("error", fail);
        socket.once("connect", () => done(socket));
      }),
  );

/**
 * The sockets of a folder whose processes are alive. Those that others left are removed.
 *
 * @param own a socket of this process, which is not asked.
 */
export async function liveSockets(folder: string, pattern: RegExp, own = ""): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => pattern.test(name) && name !== own);
  const alive: string[] = [];
  for (const name of names) if (await isAlive(folder, name)) alive.push(name);
  return alive;
}

async function isAlive(folder: string, name: string): Promise<boolean> {
  try {
    (await connectIn(folder, name)).destroy();
    return true;
  } catch (error) {
    // Only a refused or missing socket proves that its process has ended: it may be busy.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ECONNREFUSED" && code !== "ENOENT") return true;
    await rm(join(folder, name), { force: true });
    return false;
  }
}

/**
 * If the path of a folder is too long for a socket, it is reached through a link in a new folder
 * that no other user can enter or predict. The socket itself is always in the folder.
 */
async function withShortPath<Result>(
  folder: string,
  name: string,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  const real = await realpath(folder);
  const path = join(real, name);
  if (Buffer.byteLength(path) <= LONGEST_SOCKET_PATH) return use(path);
  const aside = await mkdtemp(join(existsSync("/tmp") ? "/tmp" : tmpdir(), "rapport-"));
  try {
    const link = join(aside, "f");
    await symlink(real, link);
    return await use(join(link, name));
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}
