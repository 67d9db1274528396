import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Outbound } from "./outbound.ts";

/*
 * HTTP to hosts that others name. Node's `fetch` resolves the name by itself and follows redirects; this connects to the
 * address that was checked, follows none, and hands out the body only with a bound.
 */

export interface OutboundRequest {
  /** `http:` or `https:`. */
  readonly url: string | URL;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Aborts the request, and the body while it is read. */
  readonly signal?: AbortSignal;
  /** How long the server may be silent, in milliseconds; 30 seconds by default. */
  readonly silenceMs?: number;
  /** How long the server may take, in milliseconds: until its headers come, and for a body that comes drop by drop; 5 minutes by default. */
  readonly longestMs?: number;
}

export interface OutboundResponse {
  readonly status: number;
  readonly ok: boolean;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Uncompressed if the server compressed it with gzip. Read it, or call `discard`. */
  readonly body: Readable;
  /** The parts of the body. Only the time that one waits for them counts. @throws if the server is too slow. */
  inTime(): AsyncGenerator<Buffer>;
  /** The whole body. @throws BodyTooLarge */
  bytes(atMost: number): Promise<Buffer>;
  /** The whole body in UTF-8. @throws BodyTooLarge */
  text(atMost: number): Promise<string>;
  /** Gives up the body, and closes the connection. */
  discard(): void;
}

/** A body exceeds the caller's limit; the rest of it was not read. */
export class BodyTooLarge extends Error {
  constructor(atMost: number) {
    super(`The response is larger than ${atMost} bytes.`);
    this.name = "BodyTooLarge";
  }
}

const SILENCE_MS = 30_000;

const LONGEST_MS = 300_000;

/** What comes or goes at this pace may take as long as it takes, in bytes a millisecond. */
const LEAST_PACE = 100;

const tooSlow = (): Error => new Error("The server is too slow.");

/** How large the headers of a response may be, in bytes. */
const LARGEST_HEADERS = 32_768;

/** @throws OutboundRefused; or the error of the look-up, the connection or the protocol. */
export async function fetchOutbound(
  outbound: Outbound,
  {
    url,
    method = "GET",
    headers = {},
    body,
    signal,
    silenceMs = SILENCE_MS,
    longestMs = LONGEST_MS,
  }: OutboundRequest,
): Promise<OutboundResponse> {
  const { protocol, hostname, port, username, password } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") {
    throw new TypeError(`Rapport calls http: and https: only, not ${protocol}`);
  }
  if (username || password) throw new TypeError("The URL must not contain a user or a password.");
  const isSecure = protocol === "https:";
  const sentBytes = Buffer.byteLength(body ?? "");
  const addresses = await outbound.resolve(hostname, Number(port || (isSecure ? 443 : 80)), signal);
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = (isSecure ? requestHttps : requestHttp)(new URL(url), {
      method,
      headers: {
        ...headers,
        ...(body !== undefined && { "content-length": `${sentBytes}` }),
      },
      agent: false,
      maxHeaderSize: LARGEST_HEADERS,
      timeout: silenceMs,
      ...(signal && { signal }),
      // Never called if the URL contains an address: that address was checked.
      lookup: (_name, options, done) => {
        const [first = ""] = addresses;
        if (!options.all) return done(null, first, isIP(first));
        done(
          null,
          addresses.map((address) => ({ address, family: isIP(address) })),
        );
      },
    });
    const slow = setTimeout(() => sent.destroy(tooSlow()), longestMs + sentBytes / LEAST_PACE);
    for (const end of ["response", "close"]) sent.once(end, () => clearTimeout(slow));
    sent.on("response", resolve).on("error", reject);
    sent.on("timeout", () => sent.destroy(new Error("The server is silent.")));
    sent.end(body);
  });
  return responseOf(message, longestMs);
}

function responseOf(message: IncomingMessage, longestMs: number): OutboundResponse {
  const isPacked = message.headers["content-encoding"] === "gzip";
  const body: Readable = isPacked ? unpacked(message) : message;
  // Without a reader an error of the connection would end the process.
  body.on("error", () => {});
  const { statusCode: status = 0 } = message;
  const discard = () => void message.destroy();
  async function* inTime(): AsyncGenerator<Buffer> {
    const parts = body[Symbol.asyncIterator]();
    let waitedMs = 0;
    let size = 0;
    try {
      for (;;) {
        const askedAt = performance.now();
        const { done, value } = await parts.next();
        waitedMs += performance.now() - askedAt;
        if (done) return;
        size += value.length;
        if (waitedMs > longestMs + size / LEAST_PACE) throw tooSlow();
        yield value;
      }
    } finally {
      body.destroy();
    }
  }
  async function bytes(atMost: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of inTime()) {
      size += part.length;
      if (size > atMost) throw new BodyTooLarge(atMost);
      parts.push(part);
    }
    return Buffer.concat(parts);
  }
  return {
    status,
    ok: Math.floor(status / 100) === 2,
    headers: Object.fromEntries(
      Object.entries(message.headers).map(([name, value]) => [name, value?.toString()]),
    ),
    body,
    inTime,
    bytes,
    text: async (atMost) => (await bytes(atMost)).toString("utf8"),
    discard,
  };
}

function unpacked(message: IncomingMessage): Readable {
  const gunzip = createGunzip();
  // A connection that breaks must end the reader too.
  message.on("error", (error) => gunzip.destroy(error));
  gunzip.on("close", () => message.destroy());
  return message.pipe(gunzip);
}
