/* A PostgreSQL that takes a login and then lets a statement wait, as one does whose table is locked. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { after, describe, mock, test } from "node:test";
import { startServer } from "../../harness.ts";
import { startIntegration } from "../../sync-runs.ts";
import { until } from "../../until.ts";

const server = await startServer();

const HOUR_MS = 3_600_000;

/** Lets timers of an hour, which end a statement, end after a moment. */
function shortenHours(): void {
  const { setTimeout } = globalThis;
  const short = (work: () => void, ms?: number, ...rest: []) =>
    setTimeout(work, ms === HOUR_MS ? 200 : ms, ...rest);
  mock.method(globalThis, "setTimeout", short as typeof setTimeout);
}

const text = (value: string) => Buffer.from(`${value}\0`);

const numbers = (...values: readonly (readonly [bytes: number, value: number])[]) =>
  Buffer.concat(
    values.map(([bytes, value]) => {
      const buffer = Buffer.alloc(bytes);
      buffer.writeIntBE(value, 0, bytes);
      return buffer;
    }),
  );

function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), numbers([4, body.length + 4]), body]);
}

const ready = (state: string) => message("Z", Buffer.from(state));

const LOGGED_IN = Buffer.concat([message("R", numbers([4, 0])), ready("I")]);

/** By their type numbers: timestamptz, numeric, text. */
const COLUMNS = [
  ["UPDATED_AT", 1184],
  ["EXTERNAL_ID", 1700],
  ["PAYLOAD", 25],
] as const;

const DESCRIBED = message(
  "T",
  numbers([2, COLUMNS.length]),
  ...COLUMNS.flatMap(([name, type], index) => [
    text(name),
    numbers([4, 16_384], [2, index + 1], [4, type], [2, -1], [4, -1], [2, 0]),
  ]),
);

/** Answers statements without rows, and those that the pattern finds not at all. */
async function startSlowPostgres(isSlow: RegExp) {
  const sockets = new Set<Socket>();
  const slow: string[] = [];
  const answer = (socket: Socket, bytes: Buffer) => {
    if (bytes.at(0) !== "Q".charCodeAt(0)) return;
    const statement = bytes.toString("utf8", 5, bytes.length - 1);
    if (isSlow.test(statement)) return void slow.push(statement);
    const described = /^select/.test(statement) ? [DESCRIBED] : [];
    const done = message("C", text(statement.slice(0, 6).toUpperCase()));
    socket.write(Buffer.concat([...described, done, ready("T")]));
  };
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    socket.once("data", () => {
      socket.on("data", (bytes) => answer(socket, bytes)).write(LOGGED_IN);
    });
  });
  after(() => listener.close());
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const { port } = listener.address() as AddressInfo;
  return { url: `postgres://u:p@127.0.0.1:${port}/d`, slow, open: () => sockets.size };
}

describe("a PostgreSQL that lets a statement wait for an hour", () => {
  for (const [what, isSlow] of [
    ["the columns of the table", /limit 0$/],
    ["the digits of a number", /pg_attribute/],
    ["the rows", /^declare/],
  ] as const) {
    test(`a run that waits for ${what} ends, says that the server is too slow, and disconnects`, async () => {
      const { url, slow, open } = await startSlowPostgres(isSlow);
      const integration = await startIntegration(server, {
        warehouse: { type: "postgres", url, table: "crm" },
      });
      shortenHours();
      try {
        const { job_status, message } = await integration.sync();
        assert.deepEqual(
          [job_status, message],
          ["error", "The source failed: the server is too slow."],
        );
      } finally {
        mock.restoreAll();
      }
      assert.equal(slow.length, 1);
      await until(() => open() === 0);
    });
  }
});
