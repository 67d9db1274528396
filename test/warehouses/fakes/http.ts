/*
 * An HTTP server for imitated warehouses, with faults on demand: a status, a body that is cut off or comes slowly.
 */
import { createServer, type ServerResponse } from "node:http";
import { after } from "node:test";
import { gzipSync } from "node:zlib";

export interface Asked {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text unchanged, anything else as JSON. */
  readonly body?: unknown;
  readonly isPacked?: boolean;
}

/** Faults of the next requests whose method and path match. */
export interface Fault {
  readonly on: RegExp;
  readonly times?: number;
  /** In the place of the answer. */
  readonly reply?: Reply;
  /** Half of the response, and then the connection is lost. */
  readonly isCut?: boolean;
  /** The response in small pieces, this many milliseconds apart. */
  readonly dripMs?: number;
  /** Just before the answer is worked out. */
  readonly before?: () => Promise<unknown> | unknown;
}

export interface FakeServer {
  readonly url: string;
  /** Methods and paths, in their order. */
  readonly requests: string[];
  readonly faults: Fault[];
  close(): void;
}

export async function serveFake(answer: (asked: Asked) => Promise<Reply>): Promise<FakeServer> {
  const requests: string[] = [];
  const faults: Fault[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url: path = "" } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    requests.push(`${method} ${path}`);
    const fault = takeFault(faults, `${method} ${path}`);
    await fault?.before?.();
    const asked = { method, path, headers: request.headers as Asked["headers"], body };
    const reply = fault?.reply ?? (await answer(asked).catch(failed));
    await write(response, reply, fault);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  after(close);
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, requests, faults, close };
}

/** A mistake of the imitation itself. */
const failed = (error: Error): Reply => ({ status: 418, body: { message: error.message } });

export function takeFault(faults: Fault[], request: string): Fault | undefined {
  const index = faults.findIndex(({ on }) => on.test(request));
  const found = faults[index];
  if (found === undefined) return undefined;
  const left = (found.times ?? 1) - 1;
  if (left > 0) faults[index] = { ...found, times: left };
  else faults.splice(index, 1);
  return found;
}

async function write(response: ServerResponse, reply: Reply, fault: Fault | undefined) {
  const text = typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body ?? {});
  const body = reply.isPacked ? gzipSync(text) : Buffer.from(text);
  response.on("error", () => {});
  response.writeHead(reply.status ?? 200, {
    "content-type": "application/json",
    "content-length": body.length,
    ...(reply.isPacked && { "content-encoding": "gzip" }),
    ...reply.headers,
  });
  if (fault?.isCut) {
    response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
  } else if (fault?.dripMs) {
    const size = Math.ceil(body.length / 10);
    for (let from = 0; from < body.length; from += size) {
      response.write(body.subarray(from, from + size));
      await new Promise((resolve) => setTimeout(resolve, fault.dripMs));
    }
    response.end();
  } else response.end(body);
}
