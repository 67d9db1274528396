import { connect, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { clearTimeout, setTimeout } from "node:timers";
import { lookUpAsSystem, lookUpForeign } from "./look-up.ts";
import { isNetwork, isPublic, networks, plainAddress } from "./networks.ts";

/*
 * The guard of every connection to a host that a person or a manifest names: warehouses, callbacks.
 *
 * A name is resolved once, every address that it has is checked, and the connection goes to exactly such an address;
 * a second look-up could give another one. The guard is asked twice: when a host is declared, so that the caller gets
 * an error at once, and when it is connected to, because names move.
 *
 *     const outbound = createOutbound({ allow: ["10.1.0.0/16", "crm.internal"], own: [] });
 *
 *     // When a URL is declared:
 *     await outbound.check("hooks.example", 443);               // throws OutboundRefused
 *
 *     // For HTTP: no redirects, and as much of the body as asked for (fetch-outbound.ts).
 *     const response = await fetchOutbound(outbound, { url, method: "POST", headers, body, signal });
 *     const text = await response.text(64 * 1_024);             // throws BodyTooLarge beyond
 *
 *     // For any other protocol: a connected socket.
 *     const socket = await outbound.connect("db.example", 5432, signal);
 */

/**
 * A host that Rapport does not call. The message names the host as the caller gave it, and no
 * address. The error is the same for a name without an address: the caller must not learn which
 * names a private network has.
 */
export class OutboundRefused extends Error {
  constructor(host: string) {
    super(
      `'${host}' is not a host that Rapport may call: it has no address, or one that is private, loopback, link-local ` +
        "or reserved. The setting OUTBOUND_ALLOW can allow it.",
    );
    this.name = "OutboundRefused";
  }
}

/** Whether an error is the one of a look-up that found nothing. */
export const isUnresolved = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).syscall === "getaddrinfo";

/** A host and a port of Rapport itself, which nothing may call; `OUTBOUND_ALLOW` does not matter. */
export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

export interface OutboundSettings {
  /** Addresses, CIDR blocks and host names that may be called though they are not public. */
  readonly allow: readonly string[];
  /** Rapport's own database. */
  readonly own: readonly HostAndPort[];
  /** Whether the installation gives the names: the system looks them up. */
  readonly trustsNames?: boolean;
}

export interface CheckOptions {
  /** Whether a host that cannot be resolved is refused as a private one is. */
  readonly mustResolve?: boolean;
}

export type Outbound = ReturnType<typeof createOutbound>;

/** How long one address may take to accept a connection. */
const CONNECT_TIMEOUT_MS = 10_000;

/** How long a declaration waits for the resolver. */
const CHECK_TIMEOUT_MS = 3_000;

/** How many addresses of a name are tried. */
const MOST_ADDRESSES = 4;

export function createOutbound({ allow, own, trustsNames = false }: OutboundSettings) {
  const isAllowed = networks(allow.filter(isNetwork));
  const names = new Set(allow.filter((entry) => !isNetwork(entry)).map(plainName));

  async function resolve(
    host: string,
    port: number,
    signal?: AbortSignal,
  ): Promise<readonly string[]> {
    const name = plainName(host);
    const isNamed = names.has(name);
    const isTrusted = trustsNames || isNamed || !isForeign(name);
    const lookUp = isTrusted ? lookUpAsSystem : lookUpForeign;
    const found = (await lookUp(name, signal)).map(plainAddress);
    const isOwn = own.length > 0 ? await ownAddresses(own, port, signal) : () => false;
    signal?.throwIfAborted();
    const wrong = (address: string) =>
      isOwn(address) || !(isNamed || isPublic(address) || isAllowed(address));
    // One wrong address among others is an attempt too: which one is taken must not matter.
    if (found.some(wrong)) throw new OutboundRefused(host);
    return found;
  }

  return {
    /**
     * The addresses of a host, all of them checked.
     *
     * @throws OutboundRefused, the error of the look-up, or the reason of the signal.
     */
    resolve,
    /**
     * Resolves a host and checks its addresses. A host that cannot be resolved now passes, because
     * connecting fails then; for a caller who may not know which names exist, it does not.
     *
     * @throws OutboundRefused
     */
    async check(host: string, port: number, { mustResolve = false }: CheckOptions = {}) {
      try {
        await resolve(host, port, AbortSignal.timeout(CHECK_TIMEOUT_MS));
      } catch (error) {
        if (mustResolve || error instanceof OutboundRefused) throw new OutboundRefused(host);
      }
    },
    /**
     * Connects to a checked address of a host; of several, to the first that answers.
     *
     * @throws OutboundRefused, or the error of the look-up or of the last address.
     */
    async connect(host: string, port: number, signal?: AbortSignal) {
      let last: unknown;
      for (const address of (await resolve(host, port, signal)).slice(0, MOST_ADDRESSES)) {
        signal?.throwIfAborted();
        try {
          return await connectTo(address, port, signal);
        } catch (error) {
          last = error;
        }
      }
      throw last;
    },
  };
}

/** A name as names are compared: without brackets, the root's dot, and case. */
const plainName = (host: string): string => host.replace(/^\[|\]$|\.$/g, "").toLowerCase();

/**
 * Whether a name server outside may have to answer for a name. The system answers for names without a dot and for all
 * spellings of addresses, 127.1 and 0x7f000001 among them.
 */
const isForeign = (name: string): boolean =>
  name.includes(".") && !name.includes(":") && !/\.(?:\d+|0x[\da-f]*)$/.test(name);

const isLoopback = networks(["127.0.0.0/8", "::1/128", "0.0.0.0/32", "::/128"]);

/** Tells whether an address is Rapport's own database on a port, by any address that this machine has. */
async function ownAddresses(
  own: readonly HostAndPort[],
  port: number,
  signal: AbortSignal | undefined,
): Promise<(address: string) => boolean> {
  const addresses = new Set<string>();
  for (const each of own) {
    if (each.port !== port) continue;
    const found = await lookUpAsSystem(plainName(each.host), signal).catch(() => []);
    for (const address of found) addresses.add(plainAddress(address));
  }
  const isHere = [...addresses].some(isLoopback);
  if (isHere) for (const address of interfaceAddresses()) addresses.add(address);
  return (address) => addresses.has(address) || (isHere && isLoopback(address));
}

const interfaceAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((each) =>
    (each ?? []).map(({ address }) => plainAddress(address)),
  );

function connectTo(address: string, port: number, signal?: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port });
    const timeout = setTimeout(
      () => socket.destroy(Object.assign(new Error("connect ETIMEDOUT"), { code: "ETIMEDOUT" })),
      CONNECT_TIMEOUT_MS,
    );
    const abort = () => void socket.destroy(signal?.reason);
    const settle = () => {
      clearTimeout(timeout);
      signal?.removeEventListener("abort", abort);
      socket.removeAllListeners();
    };
    signal?.addEventListener("abort", abort, { once: true });
    socket.once("connect", () => {
      settle();
      resolve(socket);
    });
    socket.once("error", (error) => {
      settle();
      // A destroyed socket may report more than one error.
      socket.on("error", () => {});
      reject(error);
    });
  });
}

/** How often the bytes of a connection are looked at. */
const COUNT_MS = 20;

/** Ends a connection that sends more than its client should have to hold. */
export type ReadLimit = ReturnType<typeof limitReads>;

/** A server sent more than it may: the message says how much that is. */
export class AnswerTooLarge extends Error {}

/**
 * Limits how much a server may send before it is asked again, for protocols whose client buffers an
 * answer whole. Counts TLS bytes as sent on the wire. The socket is destroyed up to 20 ms after the
 * last byte that it may receive.
 */
export function limitReads(socket: Socket, mostBytes: number) {
  let from = socket.bytesRead;
  const timer = setInterval(() => {
    if (socket.bytesRead - from <= mostBytes) return;
    const message = `The server sent more than ${Math.round(mostBytes / 1_048_576)} MB at once.`;
    socket.destroy(new AnswerTooLarge(message));
  }, COUNT_MS).unref();
  socket.once("close", () => clearInterval(timer));
  return {
    /** Resets the count: call it before a question whose answer the client buffers whole. */
    renew() {
      from = socket.bytesRead;
    },
  };
}

/** Allows everything: for declarations by an administrator of the whole installation. */
export const UNGUARDED: Outbound = createOutbound({
  allow: ["0.0.0.0/0", "::/0"],
  own: [],
  trustsNames: true,
});
