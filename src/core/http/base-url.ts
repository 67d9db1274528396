import type { FastifyRequest } from "fastify";
import { Problem } from "../base/problem.ts";

/** A name or an address, with or without a port. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Refuses a request without exactly one host: links to pages are built from it, and a proxy may
 * read the other one of two `Host` headers.
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

/**
 * The address where the caller reached the server, unless the settings name one. A proxy may
 * forward only http and https.
 */
export function baseUrlOf(request: FastifyRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl;
  return `${request.protocol === "https" ? "https" : "http"}://${request.host}`;
}
