/*
 * How soon a write is refused while a part of Rapport takes none: docs/operations/faults.md. What a refusal says, and how a server
 * recovers, is tested in test/system; a database that is gone or frozen in lost-database.test.ts.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { freshDatabase } from "../core/database/fresh-database.ts";
import { ENGINE } from "../harness.ts";
import { oneIn } from "../sizes.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { type ChildServer, post, startChild } from "../system/child-server.ts";
import { mountSmallDisk } from "../system/small-disk.ts";

/** Refused writes wait for nothing. */
const AT_ONCE_MS = 2_000;

const TIMEOUT_SECONDS = 3;

/** A request of many statements may take three times the timeout of one. */
const IN_TIME_MS = 3 * TIMEOUT_SECONDS * 1_000 + 1_000;

const write = async (server: ChildServer, external_id: string) => {
  const sentAt = performance.now();
  const events = [{ external_id, name: "came", time: "2026-01-01T00:00:00Z" }];
  const { status } = await post(`${server.url}/users/track`, server.key, { events });
  return { status, ms: Math.round(performance.now() - sentAt) };
};

/** Three writes at a time are refused within a time, and accepted after it. */
async function assertRefusesWithin(
  mostMs: number,
  server: ChildServer,
  { begin, end }: { begin(): unknown; end(): unknown },
): Promise<void> {
  assert.equal((await write(server, "ada")).status, 201);
  await begin();
  const refused = await Promise.all([1, 2, 3].map(() => write(server, "ada")));
  await end();
  for (const { status, ms } of refused) {
    assert.equal(status, 503);
    assert.ok(ms < mostMs, `${ms} ms`);
  }
}

const disk = ENGINE === "embedded" ? await mountSmallDisk(300) : undefined;

test("a write is refused at once while the disk of the data folder is full", {
  skip: !disk && "it needs the embedded engine, and root to mount a disk",
}, async () => {
  const server = await startChild({ DATA_DIR: join(disk?.folder ?? "", "data") });
  await assertRefusesWithin(AT_ONCE_MS, server, {
    begin: () => disk?.fill(0),
    end: () => disk?.free(),
  });
  await server.end("SIGTERM");
});

describe("a PostgreSQL that takes no writes", {
  skip: ENGINE !== "postgres" && "it needs TEST_DATABASE_URL",
}, () => {
  async function startOnPostgres({ timeoutSeconds = TIMEOUT_SECONDS } = {}) {
    const url = `${await freshDatabase()}`;
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    after(() => sql.end());
    const server = await startChild({
      DATABASE_URL: url,
      DATA_DIR: await temporaryFolder(),
      DATABASE_TIMEOUT: String(timeoutSeconds),
    });
    return { server, sql, name: new URL(url).pathname.slice(1) };
  }

  test("a write that needs a locked row is refused within three times the timeout of a statement", async () => {
    const { server, sql } = await startOnPostgres();
    await assertRefusesWithin(IN_TIME_MS, server, {
      begin: () => sql.unsafe("begin; update profiles set version = version"),
      end: () => sql.unsafe("rollback"),
    });
    await server.end("SIGTERM");
  });

  describe("a table that another transaction has locked", () => {
    const isTried = oneIn(3);
    for (const mode of ["share", "exclusive", "access exclusive"].filter(isTried)) {
      test(`while a table is locked in ${mode} mode every request that needs it is refused within two seconds, whatever the timeout`, async () => {
        const { server, sql } = await startOnPostgres({ timeoutSeconds: 120 });
        const kinds: [path: string, body: object][] = [
          ["/users/track", { attributes: [{ external_id: "ada", mood: "good" }] }],
          ["/email/status", { email: "ada@example.com", subscription_state: "opted_in" }],
          [
            "/users/alias/new",
            { user_aliases: [{ external_id: "ada", alias_name: "a", alias_label: "b" }] },
          ],
          ["/users/delete", { external_ids: ["ada"] }],
        ];
        const askAll = async () => {
          const asked: Promise<{ path: string; status: number; ms: number }>[] = [];
          for (let turn = 0; turn < 60; turn++) {
            const [path, body] = kinds[turn % kinds.length] as (typeof kinds)[number];
            const sentAt = performance.now();
            asked.push(
              post(`${server.url}${path}`, server.key, body).then(({ status }) => ({
                path,
                status,
                ms: Math.round(performance.now() - sentAt),
              })),
            );
            await sleep(50);
          }
          return Promise.all(asked);
        };
        // A machine with other work is slower.
        const usual = Math.max(...(await askAll()).map(({ ms }) => ms));
        assert.equal((await write(server, "ada")).status, 201);
        await sql.unsafe(`begin; lock table profiles, identifiers, email_states in ${mode} mode`);
        const seen = await askAll();
        await sql.unsafe("rollback");
        assert.deepEqual(
          seen.filter(({ status, ms }) => status !== 503 || ms > AT_ONCE_MS + usual),
          [],
        );
        assert.equal((await write(server, "ada")).status, 201);
        await server.end("SIGTERM");
      });
    }
  });

  test("while PostgreSQL is read-only a write is refused within three times the timeout of a statement", async () => {
    const { server, sql, name } = await startOnPostgres();
    const end = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
    await assertRefusesWithin(IN_TIME_MS, server, {
      async begin() {
        await sql.unsafe(`alter database ${name} set default_transaction_read_only = on`);
        await sql.unsafe(end);
      },
      async end() {
        await sql.unsafe(`alter database ${name} reset default_transaction_read_only`);
        await sql.unsafe(end);
      },
    });
    await server.end("SIGTERM");
  });
});
