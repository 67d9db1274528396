import { createServer, type Server } from "node:http";
import type { MetricsSource } from "../base/observe/cluster-metrics.ts";

/** Serves `GET /metrics` on a separate port, which need not be reachable from outside. */
export async function listenForMetrics(
  source: MetricsSource,
  host: string,
  port: number,
): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (!isFor(host, request.headers.host)) return void response.writeHead(403).end();
    if (request.url !== "/metrics") return void response.writeHead(404).end();
    const text = await source.metrics().catch(() => undefined);
    if (text === undefined) return void response.writeHead(500).end();
    response.writeHead(200, { "content-type": source.contentType }).end(text);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  return server.unref();
}

/**
 * On a loopback address, requests must name that address: a web page may have resolved any other
 * host to it, to read the metrics with the browser of a person on this machine.
 */
function isFor(listening: string, named: string | undefined): boolean {
  if (!LOOPBACK.test(listening) || named === undefined) return true;
  return LOOPBACK.test(named.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1"));
}

const LOOPBACK = /^(localhost|127\.[\d.]+|::1)$/;
