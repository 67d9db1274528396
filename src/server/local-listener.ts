import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import type { Logger } from "pino";
import { listenIn, liveSockets } from "../core/base/local-socket.ts";
import { createPrivateFolder } from "../core/base/private-folder.ts";

/*
 * Commands on the server's machine reach it through a socket in its data folder, which no other user can enter. A port
 * may be held by any program while the server is down, and would be sent the admin token.
 */

/** Named after the port, which identifies the server. */
const SOCKET = /^server-(\d+)-[0-9a-f]{8}\.sock$/;

export interface LocalListener {
  close(): Promise<void>;
}

/** Accepts the connections: the HTTP server, which recognizes them by `connection`. */
type HttpServer = Pick<Server, "emit">;

/**
 * Listens beside the port of an HTTP server. Each process has its own socket: none can take over
 * another's.
 *
 * @returns undefined if there is no data folder, or none that this user may write to: the log says
 * so.
 */
export async function listenLocally(
  http: HttpServer,
  { dataDir, port }: { readonly dataDir: string; readonly port: number },
  log: Logger,
): Promise<LocalListener | undefined> {
  if (dataDir === "memory:" || process.platform === "win32") return undefined;
  const name = `server-${port}-${randomBytes(4).toString("hex")}.sock`;
  // The HTTP server reads from a connection when it is its turn.
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    // Callers are on this machine, and what counts or records addresses needs one.
    Object.defineProperty(socket, "remoteAddress", { value: "127.0.0.1" });
    http.emit("connection", socket);
  });
  try {
    await createPrivateFolder(dataDir);
    await liveSockets(dataDir, SOCKET);
    await listenIn(dataDir, name, server);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    log.warn({ code }, "commands on this machine need --url: the data folder cannot be written");
    return undefined;
  }
  return {
    async close() {
      server.close();
      await rm(join(dataDir, name), { force: true });
    },
  };
}

/** The servers that commands find through a data folder, with the ports that they listen on. */
export async function findLocalServers(
  dataDir: string,
): Promise<{ readonly name: string; readonly port: string }[]> {
  const names = await liveSockets(dataDir, SOCKET);
  return names.map((name) => ({ name, port: SOCKET.exec(name)?.[1] ?? "" }));
}
