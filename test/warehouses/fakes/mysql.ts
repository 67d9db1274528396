/*
 * Enough of the protocol of MySQL to read tables: the greeting, a login with mysql_native_password, TLS after the
 * greeting, text queries and KILL QUERY. From the public description of the protocol (MySQL Source Code Documentation,
 * "Client/Server Protocol"); it shares no code with the client that is tested.
 */
import { createHash, randomBytes } from "node:crypto";
import { createServer, type Socket } from "node:net";
import { after } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { TLSSocket } from "node:tls";
import { AUTHORITY, CERTIFICATE, CERTIFICATE_KEY } from "./certificates.ts";
import { type FakeEngine, openFakeEngine, type Table, withQuotes } from "./engine.ts";
import { type FakeServer, type Fault, takeFault } from "./http.ts";

export interface FakeMysql extends FakeServer {
  readonly engine: FakeEngine;
  readonly settings: Readonly<Record<string, string>>;
  /** For how many turns of 50 ms a statement runs before it finds anything. */
  looks: number;
  /** It has no pages. */
  pageRows: number;
  /** Sends what no server would in the place of the result of the next statement; the packets are numbered. */
  hostile: ((send: (payload: Buffer) => boolean) => Promise<void> | void) | undefined;
  /** Whether it can encrypt. */
  hasTls: boolean;
  /** The request that replaces the OK after the login. */
  afterLogin: Buffer | undefined;
  /** How many connections got as far as to send a proof of their password. */
  logins: number;
}

const USER = "rapport";
const PASSWORD = "pass/word#1";

const MACROS = [
  "create schema crm",
  "create macro date_format(t, f) as if(f = '%Y-%m-%dT%H:%i:%s.%fZ', strftime(t::timestamp, '%Y-%m-%dT%H:%M:%S.%fZ'), error(f))",
  "create macro octet_length(t) as strlen(t)",
];

/** An error of the server: its number, SQLSTATE and sentence. */
export interface Refusal {
  readonly errno: number;
  readonly sqlState: string;
  readonly message: string;
}

const ACCESS_DENIED: Refusal = {
  errno: 1045,
  sqlState: "28000",
  message: `Access denied for user '${USER}'@'10.0.0.7' (using password: YES)`,
};

const KILLED = { errno: 1317, sqlState: "70100", message: "Query execution was interrupted" };

// Capabilities: TLS can be requested, and a result is ended by an EOF packet.
const CAN_ENCRYPT = 0x800;
const CAPABILITIES = 0x00_08_a2_09;

export async function startMysql(): Promise<FakeMysql> {
  const engine = await openFakeEngine(MACROS, withQuotes);
  const requests: string[] = [];
  const faults: Fault[] = [];
  const connections = new Map<number, { kill(): void }>();
  const sockets = new Set<Socket>();

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    serve(socket).catch(() => socket.destroy());
  });

  async function serve(plain: Socket): Promise<void> {
    const id = connections.size + 1;
    let isKilled = false;
    const link = packetsOf(plain);
    connections.set(id, {
      kill: () => {
        isKilled = true;
      },
    });
    const scramble = Buffer.from(randomBytes(20).map((byte) => (byte % 94) + 33));
    link.send(greeting(id, scramble, fake.hasTls));
    let login = await link.next();
    if (login.readUInt32LE(0) & CAN_ENCRYPT) {
      link.encrypt();
      login = await link.next();
    }
    fake.logins++;
    if (fake.afterLogin) {
      link.send(fake.afterLogin);
      await link.next();
    }
    link.send(isRight(login, scramble) ? OK : errorOf(ACCESS_DENIED));
    for (;;) {
      const packet = await link.next();
      if (packet[0] !== 3) return link.end();
      link.restart();
      const text = packet.toString("utf8", 1);
      requests.push(text);
      isKilled = false;
      const fault = takeFault(faults, text);
      await fault?.before?.();
      if (fake.hostile) {
        const hostile = fake.hostile;
        fake.hostile = undefined;
        await hostile(link.send);
        continue;
      }
      if (/^kill query/.test(text)) connections.get(Number(text.split(" ")[2]))?.kill();
      for (let turn = 0; turn < fake.looks && /^select/.test(text) && !isKilled; turn++) {
        await pause(50);
      }
      const packets = isKilled
        ? [errorOf(KILLED)]
        : fault?.reply
          ? // The protocol has no status: 401 of the faults that all kinds take is a refused login.
            [errorOf(fault.reply.status === 401 ? ACCESS_DENIED : (fault.reply.body as Refusal))]
          : await answer(text);
      await link.sendAll(packets, fault);
    }
  }

  async function answer(text: string): Promise<Buffer[]> {
    if (!/^select/.test(text)) return [OK];
    try {
      return packetsFor(await engine.query(text));
    } catch (error) {
      return [errorOf(refusalFor((error as Error).message))];
    }
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  after(close);
  const { port } = server.address() as { port: number };
  const url = `mysql://${USER}:${encodeURIComponent(PASSWORD)}@localhost:${port}/crm`;
  const fake: FakeMysql = {
    url,
    requests,
    faults,
    close,
    engine,
    settings: { type: "mysql", url, ca: AUTHORITY },
    looks: 0,
    pageRows: 0,
    hostile: undefined,
    hasTls: true,
    afterLogin: undefined,
    logins: 0,
  };
  return fake;
}

/** The packets of a connection: three bytes of length, and a number that starts again with each command. */
function packetsOf(plain: Socket) {
  let socket = plain;
  let pending = Buffer.alloc(0);
  let number = 0;
  let wake = () => {};
  const listen = () => {
    socket.on("data", (data: Buffer) => {
      pending = Buffer.concat([pending, data]);
      wake();
    });
    socket.on("error", () => {}).on("close", () => wake());
  };
  listen();

  const framed = (payload: Buffer, size = payload.length): Buffer =>
    Buffer.concat([
      Buffer.from([size & 255, (size >> 8) & 255, size >> 16, number++ & 255]),
      payload,
    ]);
  const send = (payload: Buffer): boolean => socket.write(framed(payload));

  return {
    async next(): Promise<Buffer> {
      while (pending.length < 4 || pending.length < 4 + pending.readUIntLE(0, 3)) {
        if (socket.destroyed) throw new Error("The client is gone.");
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const end = 4 + pending.readUIntLE(0, 3);
      const payload = pending.subarray(4, end);
      number = pending.readUInt8(3) + 1;
      pending = pending.subarray(end);
      return payload;
    },
    /** The client's packet of a command has the number 0. */
    restart: () => {
      number = 1;
    },
    send,
    async sendAll(payloads: readonly Buffer[], fault: Fault | undefined) {
      const bytes = Buffer.concat(payloads.map((payload) => framed(payload)));
      if (fault?.isCut) {
        await new Promise((resolve) => socket.write(bytes.subarray(0, bytes.length / 2), resolve));
        socket.destroy();
      } else if (fault?.dripMs) {
        for (let from = 0; from < bytes.length; from += Math.ceil(bytes.length / 10)) {
          socket.write(bytes.subarray(from, from + Math.ceil(bytes.length / 10)));
          await pause(fault.dripMs);
        }
      } else socket.write(bytes);
    },
    encrypt() {
      plain.removeAllListeners("data");
      // Bytes after the request belong to the encrypted connection.
      plain.pause();
      if (pending.length > 0) plain.unshift(pending);
      pending = Buffer.alloc(0);
      socket = new TLSSocket(plain, { isServer: true, key: CERTIFICATE_KEY, cert: CERTIFICATE });
      listen();
    },
    end: () => void socket.end(),
  };
}

function greeting(id: number, scramble: Buffer, hasTls: boolean): Buffer {
  const fixed = Buffer.alloc(4 + 8 + 1 + 2 + 1 + 2 + 2 + 1 + 10);
  fixed.writeUInt32LE(id, 0);
  scramble.copy(fixed, 4, 0, 8);
  const flags = hasTls ? CAPABILITIES | CAN_ENCRYPT : CAPABILITIES;
  fixed.writeUInt16LE(flags & 0xffff, 13);
  fixed[15] = UTF8MB4;
  fixed.writeUInt16LE(2, 16);
  fixed.writeUInt16LE(flags >>> 16, 18);
  fixed[20] = 21;
  return Buffer.concat([
    Buffer.from("\x0a8.4.0-imitation\0"),
    fixed,
    scramble.subarray(8),
    Buffer.from("\0mysql_native_password\0"),
  ]);
}

/** A user, and a proof of the password, as the public description of mysql_native_password says. */
function isRight(login: Buffer, scramble: Buffer): boolean {
  const end = login.indexOf(0, 32);
  const user = login.toString("utf8", 32, end);
  const proof = login.subarray(end + 2, end + 2 + (login[end + 1] ?? 0));
  const sha1 = (...parts: (Buffer | string)[]) =>
    parts.reduce((hash, part) => hash.update(part), createHash("sha1")).digest();
  const once = sha1(PASSWORD);
  const mask = sha1(scramble, sha1(once));
  return user === USER && proof.equals(Buffer.from(once.map((byte, at) => byte ^ (mask[at] ?? 0))));
}

const OK = Buffer.from([0, 0, 0, 2, 0, 0, 0]);
const EOF = Buffer.from([0xfe, 0, 0, 2, 0]);

function errorOf({ errno, sqlState, message }: Refusal): Buffer {
  return Buffer.concat([
    Buffer.from([0xff, errno & 255, errno >> 8]),
    Buffer.from(`#${sqlState}${message}`),
  ]);
}

function refusalFor(message: string): Refusal {
  if (/Table.*does not exist/s.test(message)) {
    return { errno: 1146, sqlState: "42S02", message: "Table 'crm.missing' doesn't exist" };
  }
  const [, column = ""] = /column "?(\w+)"? not found/i.exec(message) ?? [];
  if (column) {
    const text = `Unknown column '${column}' in 'field list'`;
    return { errno: 1054, sqlState: "42S22", message: text };
  }
  return { errno: 1064, sqlState: "42000", message: message.split("\n")[0] ?? "" };
}

/** A length before its content. */
function counted(text: string): Buffer {
  const bytes = Buffer.from(text);
  const { length } = bytes;
  if (length < 251) return Buffer.concat([Buffer.from([length]), bytes]);
  const head = Buffer.alloc(4);
  head[0] = 0xfd;
  head.writeUIntLE(length, 1, 3);
  return Buffer.concat([head, bytes]);
}

const NULL = Buffer.from([0xfb]);

function packetsFor({ columns, rows }: Table): Buffer[] {
  return [
    Buffer.from([columns.length]),
    ...columns.map(columnOf),
    EOF,
    ...rows.map((row) =>
      Buffer.concat(row.map((value) => (value === null ? NULL : counted(value)))),
    ),
    EOF,
  ];
}

const UTF8MB4 = 45;
const BYTES = 63;

function columnOf({ name, type }: Table["columns"][number]): Buffer {
  const [, scale = "0"] = /^DECIMAL\(\d+,(\d+)\)$/.exec(type) ?? [];
  const [, number, length = 255] = TYPES.find(([pattern]) => pattern.test(type)) ?? [];
  const about = Buffer.alloc(13);
  about[0] = 12;
  about.writeUInt16LE(number === undefined ? UTF8MB4 : BYTES, 1);
  about.writeUInt32LE(length, 3);
  about[7] = number ?? 253;
  about[10] = Number(scale);
  return Buffer.concat([...["def", "crm", "t", "t", name, name].map(counted), about]);
}

/** The number of a type, and how wide its values are shown. */
const TYPES: readonly [RegExp, number, number?][] = [
  [/^TIMESTAMP WITH TIME ZONE$/, 7],
  [/^TIMESTAMP/, 12],
  [/^DATE$/, 10],
  [/^JSON$/, 245],
  [/^(?:DECIMAL|HUGEINT)/, 246],
  [/^BIGINT$/, 8],
  [/^INTEGER$/, 3],
  [/^(?:DOUBLE|FLOAT)$/, 5],
  [/^BOOLEAN$/, 1, 1],
  [/^BLOB$/, 252],
];
