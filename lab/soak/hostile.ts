import { randomBytes, randomInt } from "node:crypto";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { brotliCompressSync, gzipSync } from "node:zlib";

/* Hostile requests: each case as bytes on a separate connection. */

export interface HostileTarget {
  readonly host: string;
  readonly port: number;
  readonly key: string;
}

export interface HostileCase {
  readonly kind: string;
  /** Sends it, and returns the statuses that came back, if any. */
  send(target: HostileTarget): Promise<number[]>;
}

/** Longer than any case takes that the server answers; one it does not answer is given up. */
const PATIENCE_MS = 5_000;

function talk(
  { host, port }: HostileTarget,
  chunks: readonly (string | Buffer | number)[],
  leaves = false,
): Promise<number[]> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    let heard = "";
    const done = () => {
      socket.destroy();
      resolve([...heard.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status)));
    };
    const patience = setTimeout(done, PATIENCE_MS);
    socket.on("data", (chunk) => {
      heard += chunk.subarray(0, 200).toString("latin1");
    });
    socket.on("error", () => {});
    socket.once("close", () => {
      clearTimeout(patience);
      done();
    });
    const write = async () => {
      for (const chunk of chunks) {
        if (typeof chunk === "number") await pause(chunk);
        else if (!socket.destroyed) socket.write(chunk);
      }
      if (leaves) socket.destroy();
    };
    socket.once("connect", () => void write());
  });
}

const head = ({ key }: HostileTarget, length: number, more = ""): string =>
  `POST /users/track HTTP/1.1\r\nHost: soak\r\nAuthorization: Bearer ${key}\r\n` +
  `Content-Type: application/json\r\nConnection: close\r\nContent-Length: ${length}\r\n${more}\r\n`;

const withBody = (kind: string, make: () => string | Buffer, more = ""): HostileCase => ({
  kind,
  send: (target) => {
    const body = Buffer.from(make());
    return talk(target, [head(target, body.length, more), body]);
  },
});

const withText = (kind: string, make: () => string, leaves = false): HostileCase => ({
  kind,
  send: (target) => talk(target, [make()], leaves),
});

const BOMB = gzipSync(Buffer.alloc(100_000_000, " "));
const SMALL_BOMB = brotliCompressSync(Buffer.alloc(20_000_000, " "));
const event = (more: object) => ({ external_id: "a", name: "b", time: "2026-01-01", ...more });

const CASES: readonly HostileCase[] = [
  withBody("JSON that breaks off", () => '{"events":[{"external_id":'),
  withBody("bytes that are no text", () => randomBytes(2_000)),
  withBody("100,000 levels", () => `{"events":[${"[".repeat(1e5)}${"]".repeat(1e5)}]}`),
  withBody("objects 100,000 levels deep", () => `${'{"a":'.repeat(1e5)}1${"}".repeat(1e5)}`),
  withBody("NUL and a lone surrogate", () =>
    JSON.stringify({ events: [event({ name: "\0" }), event({ properties: { a: "\ud800" } })] }),
  ),
  withBody("__proto__", () => '{"attributes":[{"external_id":"a","__proto__":{"b":1}}]}'),
  withBody("wrong types", () => '{"attributes":{"length":1e9},"events":"all","purchases":[[[]]]}'),
  withBody("100,000 objects", () => `{"events":[${"{},".repeat(99_999)}{}]}`),
  withBody("a body of 5 MB", () => Buffer.alloc(5_000_000, " ")),
  withBody("100 MB in a small gzip", () => BOMB, "Content-Encoding: gzip\r\n"),
  withBody("20 MB in a small brotli", () => SMALL_BOMB, "Content-Encoding: br\r\n"),
  withBody("gzip that is none", () => "{}", "Content-Encoding: gzip\r\n"),
  withText("no HTTP", () => `${randomBytes(200).toString("latin1")}\r\n\r\n`),
  withText("a long path", () => `GET /${"a".repeat(60_000)} HTTP/1.1\r\nHost: x\r\n\r\n`),
  withText("headers of 100 KB", () => `GET / HTTP/1.1\r\nX: ${"a".repeat(100_000)}\r\n\r\n`),
  withText("leaves within the headers", () => "POST /users/track HTTP/1.1\r\nHost:", true),
  withText(
    "100 requests at once",
    () => `${"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n".repeat(99)}GET / HTTP/1.0\r\n\r\n`,
  ),
  {
    kind: "a wrong key",
    send: (target) =>
      talk(target, [head({ ...target, key: randomBytes(9).toString("hex") }, 2), "{}"]),
  },
  {
    kind: "leaves within the body",
    send: (target) => talk(target, [head(target, 1_000), '{"events":', 20], true),
  },
  {
    kind: "a body that trickles",
    send: (target) => talk(target, [head(target, 7), "{", 500, '"a', 500, '":1}']),
  },
];

export const nextHostileCase = (): HostileCase => CASES[randomInt(CASES.length)] as HostileCase;
