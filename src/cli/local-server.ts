import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { RAPPORT } from "../core/base/command.ts";
import { connectIn } from "../core/base/local-socket.ts";
import { findLocalServers } from "../server/local-listener.ts";
import { AdminError, type AdminTarget } from "./target.ts";

/** Sends a request to the server that was found. */
export type Send = (
  path: string,
  init: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | undefined;
  },
) => Promise<Response>;

/**
 * The server that runs on the data folder, through its socket there: only the folder's owner may
 * enter it, while any program may use a port.
 *
 * @throws AdminError without a status if no server runs; Error if the folder is closed, or has
 * several servers.
 */
export async function findLocalServer({ dataDir, port }: AdminTarget): Promise<Send> {
  const servers = await findLocalServers(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new Error(
      `The data folder ${dataDir} is closed to this user (${error.code}). Run the command as the folder's owner, or ` +
        "pass --url and set ADMIN_TOKEN.",
    );
  });
  const ports = new Set(servers.map((each) => each.port));
  if (port === undefined && ports.size > 1) {
    throw new Error(
      `Several servers run on the data folder ${dataDir}: set PORT to one of ${[...ports].sort().join(", ")}.`,
    );
  }
  // A server that took any free port can only be found by its data folder.
  const wanted = servers.filter((each) => [undefined, "0", each.port].includes(port));
  const [first] = wanted;
  if (!first) {
    const where = port === undefined || port === "0" ? "" : ` with the port ${port}`;
    throw new AdminError(
      `No server runs on the data folder ${dataDir}${where}. Start one with ${RAPPORT} serve, set DATA_DIR as for the ` +
        "server, or pass --url (RAPPORT_URL) for a server elsewhere.",
    );
  }
  return async (path, init) => {
    const socket = await connectIn(dataDir, first.name);
    return sendThrough(socket, path, { ...init, host: `127.0.0.1:${first.port}` });
  };
}

async function sendThrough(
  socket: Socket,
  path: string,
  { method, headers, body, host }: Parameters<Send>[1] & { readonly host: string },
): Promise<Response> {
  const asked = request({
    createConnection: () => socket,
    path,
    method,
    headers: { ...headers, host, connection: "close" },
  });
  asked.end(body);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const given = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return new Response(Readable.toWeb(answer) as ReadableStream, {
    status: answer.statusCode ?? 500,
    headers: given,
  });
}
