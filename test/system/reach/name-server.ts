/*
 * A name server on this machine, which tests tell what to answer, and how to change its mind. Names below `names.test` are
 * looked up there, in this process; all others as before, because it has none of them.
 */
import { createSocket } from "node:dgram";
import type dns from "node:dns";
import { promises } from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import type { AddressInfo } from "node:net";
import { isIP } from "node:net";
import { after } from "node:test";

const ZONE = ".names.test";

export interface NameServer {
  /** Each look-up of the name gets the next list of addresses, and the last one again and again; none: no such name. */
  answer(name: string, ...addresses: readonly (readonly string[])[]): string;
  /** The name server never answers for the name. */
  ignore(name: string): string;
  /** The system alone knows the name: it is in the hosts file. */
  keep(name: string, ...addresses: readonly string[]): string;
  /** How often the name was looked up. */
  asked(name: string): number;
  /** How many names below the zone the system looked up, and how many at once at most. */
  readonly ofSystem: { times: number; most: number };
}

interface Question {
  readonly name: string;
  readonly type: number;
  /** The bytes of the question, which a response repeats. */
  readonly bytes: Buffer;
}

const A = 1;
const AAAA = 28;
const HEADER_BYTES = 12;

/** RFC 1035, 4.1.2: labels with their lengths, then the type and the class. */
function questionIn(message: Buffer): Question {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  const type = message.readUInt16BE(at + 1);
  return { name: labels.join("."), type, bytes: message.subarray(HEADER_BYTES, at + 5) };
}

/** The parts of an address as bytes: of IPv6 the URL parser writes all forms as groups of hex digits. */
function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  const normal = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = "", tail = ""] = normal.split("::");
  const [before, behind] = [head, tail].map((part) => part.split(":").filter(Boolean));
  const zeros = Array<string>(8 - (before?.length ?? 0) - (behind?.length ?? 0)).fill("0");
  const groups = [...(before ?? []), ...zeros, ...(behind ?? [])];
  return Buffer.from(groups.map((group) => group.padStart(4, "0")).join(""), "hex");
}

const NO_SUCH_NAME = 3;

function responseTo(message: Buffer, { type, bytes }: Question, addresses: readonly string[]) {
  const wanted = addresses.filter((address) => isIP(address) === (type === AAAA ? 6 : 4));
  const header = Buffer.alloc(HEADER_BYTES);
  message.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 | (addresses.length === 0 ? NO_SUCH_NAME : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(wanted.length, 6);
  const records = wanted.map((address) => {
    const data = bytesOf(address);
    const record = Buffer.alloc(HEADER_BYTES);
    // The name of the question; the record must not be cached.
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([header, bytes, ...records]);
}

export async function startNameServer(): Promise<NameServer> {
  const answers = new Map<string, readonly (readonly string[])[]>();
  const counts = new Map<string, number>();
  const ignored = new Set<string>();
  const kept = new Map<string, readonly string[]>();
  const socket = createSocket("udp4");
  socket.on("message", (message, { port, address }) => {
    const question = questionIn(message);
    const { name, type } = question;
    const lists = answers.get(name) ?? [];
    // A look-up asks for IPv4 first, and then for IPv6.
    if (type === A) counts.set(name, (counts.get(name) ?? 0) + 1);
    if (ignored.has(name)) return;
    const list = lists[Math.min(counts.get(name) ?? 1, lists.length) - 1] ?? [];
    socket.send(responseTo(message, question, list), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  after(() => socket.close());
  const ofSystem = lookUpAt((socket.address() as AddressInfo).port, kept);
  return {
    ofSystem,
    answer(name, ...addresses) {
      answers.set(`${name}${ZONE}`, addresses);
      return `${name}${ZONE}`;
    },
    ignore(name) {
      ignored.add(`${name}${ZONE}`);
      return `${name}${ZONE}`;
    },
    keep(name, ...addresses) {
      kept.set(`${name}${ZONE}`, addresses);
      return `${name}${ZONE}`;
    },
    asked: (name) => counts.get(name) ?? 0,
  };
}

/** The system's resolver cannot be pointed elsewhere by a process; the resolver of Node.js can. */
function lookUpAt(port: number, kept: ReadonlyMap<string, readonly string[]>) {
  const { lookup: lookupOfSystem, Resolver } = promises;
  class ResolverHere extends Resolver {
    constructor(options?: dns.ResolverOptions) {
      super(options);
      this.setServers([`127.0.0.1:${port}`]);
    }
  }
  const resolver = new ResolverHere({ timeout: 1_000, tries: 1 });
  const find = async (host: string) => {
    const addresses = kept.get(host) ?? [
      ...(await resolver.resolve4(host).catch(() => [])),
      ...(await resolver.resolve6(host).catch(() => [])),
    ];
    if (addresses.length > 0)
      return addresses.map((address) => ({ address, family: isIP(address) }));
    const error = new Error(`getaddrinfo ENOTFOUND ${host}`);
    throw Object.assign(error, { code: "ENOTFOUND", syscall: "getaddrinfo" });
  };
  const ofSystem = { times: 0, most: 0 };
  let running = 0;
  const lookup = async (host: string, options: dns.LookupAllOptions) => {
    if (!host.endsWith(ZONE)) return lookupOfSystem(host, options);
    ofSystem.times += 1;
    running += 1;
    ofSystem.most = Math.max(ofSystem.most, running);
    return find(host).finally(() => {
      running -= 1;
    });
  };
  Object.assign(promises, { lookup, Resolver: ResolverHere });
  syncBuiltinESMExports();
  after(() => {
    Object.assign(promises, { lookup: lookupOfSystem, Resolver });
    syncBuiltinESMExports();
  });
  return ofSystem;
}
