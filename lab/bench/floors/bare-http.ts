import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { RoleMain } from "../processes/child.ts";
import { workloadNamed } from "../workloads/workloads.ts";

/**
 * The first floor: a bare HTTP server that parses the same bodies and returns as many bytes as the
 * real one, and nothing more. Greets with its URL.
 */
export const playBareHttp: RoleMain<{ workload: string }, never> = async ({ workload: name }) => {
  const workload = workloadNamed(name);
  const server = createServer(async (request, response) => {
    const sent = await read(request);
    const body = sent ? JSON.parse(sent) : undefined;
    const answer = JSON.stringify(workload.bareAnswer(body as never));
    response.writeHead(201, {
      "content-type": "application/json; charset=utf-8",
      "content-length": Buffer.byteLength(answer),
    });
    response.end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { greeting: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

function read(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
  });
}
