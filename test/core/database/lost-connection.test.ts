/*
 * A PostgreSQL that ends a connection in the middle of a transaction: the transaction fails, and neither
 * the process nor the next request does.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import postgres from "postgres";
import { isUnavailable } from "../../../src/core/database/database.ts";
import { openPostgres } from "../../../src/core/database/postgres/postgres.ts";
import { freshDatabase } from "./fresh-database.ts";
import { startProxy } from "./slow-proxy.ts";

const url = await freshDatabase();

test("a transaction whose connection is lost fails with all later statements, and the next one works", {
  skip: url === undefined && "the embedded engine has no connections",
}, async () => {
  const database = await openPostgres(`${url}`);
  const other = postgres(`${url}`, { max: 1 });
  after(() => Promise.all([database.close(), other.end()]));
  let tell: (error: unknown) => void = () => {};
  const later = new Promise<unknown>((resolve) => {
    tell = resolve;
  });
  const lost = await database
    .transaction(async (tx) => {
      const [{ id } = { id: 0 }] = await tx.query<{ id: number }>("select pg_backend_pid() as id");
      // Citus has such a function of other parameters, too.
      await other`select pg_terminate_backend(${id}::int)`;
      while ((await other`select 1 from pg_stat_activity where pid = ${id}`).length > 0);
      await tx.query("select 1").catch(tell);
    })
    .then(() => undefined)
    .catch((error: unknown) => error);
  assert.ok(isUnavailable(lost));
  assert.ok(isUnavailable(await later));
  // Anything that would end the process does so now.
  await new Promise((resolve) => setImmediate(resolve));
  const next = await database.transaction((tx) => tx.query("select 2 as two"));
  assert.deepEqual([...next], [{ two: 2 }]);
});

test("a transaction whose connection is reset while a statement runs fails, and the next one works", {
  skip: url === undefined && "the embedded engine has no connections",
  timeout: 20_000,
}, async () => {
  const proxy = await startProxy(`${url}`);
  const database = await openPostgres(proxy.url);
  after(() => database.close());
  const lost = await database
    .transaction(async (tx) => {
      await tx.query("select 1");
      setTimeout(() => proxy.reset(), 100);
      await tx.query("select pg_sleep(1)");
    })
    .then(() => undefined)
    .catch((error: unknown) => error);
  assert.ok(isUnavailable(lost));
  const next = await database.transaction((tx) => tx.query("select 2 as two"));
  assert.deepEqual([...next], [{ two: 2 }]);
});
