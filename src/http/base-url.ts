import type { FastifyRequest } from "fastify";
import { Problem } from "../base/problem.ts";

/** A name or an address, with or without a port. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Refuses a request whose host is not one host: links to pages are built from it, and proxies may read another one
 * of two `Host` headers than Rapport does.
 *
 * @returns why it is refused, if it is.
 */
export function ambiguousHost({ raw, host }: FastifyRequest): Problem | undefined {
  if (countHosts(raw.rawHeaders) > 1) {
    return new Problem("INVALID_REQUEST", "The request has more than one Host header.");
  }
  // HTTP/1.0 has none.
  if (!host || HOST.test(host)) return undefined;
  return new Problem("INVALID_REQUEST", "The Host header is not a host name or an address.");
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count;
}

/** Where the caller reached the server, unless the settings say it. A proxy may forward http and https alone. */
export function baseUrlOf(request: FastifyRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl;
  return `${request.protocol === "https" ? "https" : "http"}://${request.host}`;
}
