import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/* The attacks of a penetration test, each bounded in count and time. */

export interface Target {
  readonly host: string;
  readonly port: number;
  readonly key: string;
  /** Sends a JSON body with the key of the attacked workspace. @returns the status. */
  post(path: string, body: string): Promise<number>;
}

export interface Attack {
  readonly name: string;
  /** What it did before there was a defence. */
  readonly before: string;
  run(target: Target): Promise<void>;
}

/** Sockets stay open for so long: enough to see whether they take room from others. */
const HELD_MS = 3_000;

async function withSockets(
  { host, port }: Target,
  count: number,
  bytes: string,
  reads: boolean,
): Promise<void> {
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index++) {
    const socket = connect(port, host).on("error", () => {});
    if (reads) socket.resume();
    else socket.pause();
    socket.write(bytes);
    sockets.push(socket);
    if (index % 100 === 99) await pause(1);
  }
  await pause(HELD_MS);
  for (const socket of sockets) socket.destroy();
}

const head = (path: string, length: number, key?: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
  `${key ? `Authorization: Bearer ${key}\r\n` : ""}Content-Length: ${length}\r\n\r\n`;

const TIME = "2026-01-01T00:00:00Z";

const updatesOfObjects = JSON.stringify({
  attributes: Array.from({ length: 50 }, () => ({
    external_id: "objects",
    pets: {
      $update: Array.from({ length: 100 }, (_, index) => ({
        $identifier_key: "id",
        $identifier_value: 12_499 - index,
        $new_object: { age: index },
      })),
    },
  })),
});

const manyObjects = JSON.stringify({
  attributes: [
    { external_id: "objects", pets: Array.from({ length: 12_500 }, (_, id) => ({ id })) },
  ],
});

const largeProfile = JSON.stringify({
  events: Array.from({ length: 50 }, (_, index) => ({
    external_id: "large",
    name: `event ${index}`,
    time: TIME,
    properties: { text: "x".repeat(40_000) },
  })),
  attributes: [{ external_id: "large", text: Array.from({ length: 500 }, (_, at) => `${at}`) }],
});

const exportOf = (key: string): string => {
  const body = JSON.stringify({ external_ids: ["large", "objects"] });
  return `${head("/users/export/ids", body.length, key)}${body}`;
};

export const ATTACKS: readonly Attack[] = [
  {
    name: "34 large bodies announced to an unknown path",
    before: "no track request served for a minute",
    run: (target) => withSockets(target, 34, head("/nowhere", 4_194_304), true),
  },
  {
    name: "2,100 bodies of one byte announced",
    before: "no POST served",
    run: (target) => withSockets(target, 2_100, head("/users/track", 1), true),
  },
  {
    name: "300 large bodies announced with a key",
    before: "no POST served",
    run: (target) => withSockets(target, 300, head("/users/track", 4_194_304, target.key), true),
  },
  {
    name: "250 connections of 20 requests that read nothing",
    before: "1,992 of 2,000 slots held for 90 s",
    run: (target) =>
      withSockets(target, 250, "GET /docs HTTP/1.1\r\nHost: x\r\n\r\n".repeat(20), false),
  },
  {
    name: "60 clients that do not read an export",
    before: "7 GB of memory",
    run: async (target) => {
      await target.post("/users/track", largeProfile);
      await withSockets(target, 60, exportOf(target.key), false);
    },
  },
  {
    name: "$update of an array of 12,500 objects, 5,000 times",
    before: "health blocked for 133 s",
    run: async (target) => {
      await target.post("/users/track", manyObjects);
      await target.post("/users/track", updatesOfObjects);
    },
  },
];
