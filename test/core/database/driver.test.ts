/*
 * Faults of the PostgreSQL client that build/patch-driver.ts mends. A version that passes these tests without it needs it
 * no more.
 */
import assert from "node:assert/strict";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { freshDatabase } from "./fresh-database.ts";

const url = await freshDatabase();
const skip = url === undefined && "the embedded engine has no connections";

/** The client with one connection, and the socket of it. */
function openClient(address = `${url}`) {
  const sockets: Socket[] = [];
  const sql = postgres(address, {
    max: 1,
    fetch_types: false,
    connect_timeout: 10,
    backoff: () => 0.05,
    socket: ({ host, port }: { host: string[]; port: number[] }) => {
      const socket = connect({ host: host[0] as string, port: port[0] as number });
      sockets.push(socket);
      return socket;
    },
  } as postgres.Options<Record<string, postgres.PostgresType>>);
  after(() => sql.end({ timeout: 0 }));
  return { sql, sockets };
}

/** The code of the error with which a statement fails. */
const codeOf = (statement: PromiseLike<unknown>): PromiseLike<string> =>
  statement.then(
    () => "none",
    (error) => error.code,
  );

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("the PostgreSQL client", { skip, timeout: 30_000 }, () => {
  test("a connection that is lost while a statement waits to be sent is replaced at once", async () => {
    const { sql, sockets } = openClient();
    await sql`select 1`;
    await turn();
    sockets.at(-1)?.destroy();
    const lost = await sql`select 1`.then(
      () => "",
      (error) => error.code,
    );
    assert.match(lost, /CONNECTION_CLOSED|ECONNRESET|EPIPE/);
    const startedAt = performance.now();
    assert.deepEqual([...(await sql`select 2 as two`)], [{ two: 2 }]);
    const ms = performance.now() - startedAt;
    assert.ok(ms < 5_000, `The next connection took ${Math.round(ms)} ms.`);
  });

  test("a parameter of bytes is sent in the binary form of its type, beside others in text", async () => {
    const { sql } = openClient();
    const bytes = (value: Uint8Array) => ({ bytes: value }) as never;
    const one = Buffer.from("0000000000000001", "hex");
    const asked =
      "select $1::bigint as number, $2::text as text, $3::bytea as bytes, $4::int as none";
    const parameters = [bytes(one), "één", bytes(Buffer.from([0, 255])), null] as never[];
    // Twice: the first time the statement is prepared.
    for (const _ of [1, 2]) {
      const [row] = await sql.unsafe(asked, parameters, { prepare: true });
      assert.deepEqual(row, {
        number: "1",
        text: "één",
        bytes: Buffer.from([0, 255]),
        none: null,
      });
    }
  });

  test("the error with which the server ended a connection does not fail the first statement of the next one", async () => {
    const { sql } = openClient();
    const { sql: other } = openClient();
    const [{ pid } = { pid: 0 }] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const running = sql`select pg_sleep(20)`.catch((error) => error.code);
    while (
      (await other`select 1 from pg_stat_activity where pid = ${pid} and wait_event = 'PgSleep'`)
        .length === 0
    );
    // Citus has such a function of other parameters, too.
    await other`select pg_terminate_backend(${pid}::int)`;
    assert.match(await running, /CONNECTION_CLOSED|ECONNRESET|57P01/);
    assert.deepEqual([...(await sql`select 2 as two`)], [{ two: 2 }]);
  });

  test("a statement of a transaction whose connection is gone fails, and the process goes on", async () => {
    const { sql, sockets } = openClient();
    let tell: (code: string) => void = () => {};
    const late = new Promise<string>((resolve) => {
      tell = resolve;
    });
    const failed = await sql
      .begin(async (tx) => {
        await tx`select 1`;
        sockets.at(-1)?.destroy();
        await sleep(50);
        await tx`select 1`.catch(({ code }) => tell(code));
      })
      .catch((error) => error.code);
    assert.match(failed, /CONNECTION_CLOSED/);
    assert.match(await late, /CONNECTION_CLOSED/);
    assert.deepEqual([...(await sql`select 2 as two`)], [{ two: 2 }]);
  });

  test("a statement that is sent after its connection has failed and before it is closed fails too, and the next one is served", async () => {
    for (const isBusy of [false, true]) {
      const { sql, sockets } = openClient();
      await sql`select 1`;
      await turn();
      const running = isBusy ? sql`select pg_sleep(20)`.catch(({ code }) => code) : undefined;
      if (isBusy) await turn();
      const socket = sockets.at(-1) as Socket;
      const late = new Promise((resolve) => {
        socket.prependOnceListener("error", () => resolve(codeOf(sql`select 3`)));
      });
      socket.destroy(Object.assign(new Error("The connection is reset."), { code: "ECONNRESET" }));
      assert.match(String(await late), /CONNECTION_CLOSED|ECONNRESET/);
      if (running) assert.equal(await running, "ECONNRESET");
      assert.deepEqual([...(await sql`select 2 as two`)], [{ two: 2 }]);
    }
  });

  test("a server that accepts connections and closes them is tried again with a pause", async () => {
    let accepted = 0;
    const closing = createServer((socket) => {
      accepted++;
      socket.on("error", () => {});
      socket.once("data", () => socket.end());
    });
    await new Promise<void>((resolve) => closing.listen(0, "127.0.0.1", resolve));
    after(() => closing.close());
    const { port } = closing.address() as AddressInfo;
    const { sql } = openClient(`postgres://postgres@127.0.0.1:${port}/postgres`);
    const waiting = sql`select 1`.catch(() => {});
    await sleep(500);
    await sql.end({ timeout: 0 });
    await waiting;
    assert.ok(accepted <= 12, `It was tried ${accepted} times in half a second.`);
  });
});
