/* The bound on every statement, whatever puts it together (SECURITY.md). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NOT_PREPARED, StatementTooLarge } from "../../../src/core/database/database.ts";
import { startServer } from "../../harness.ts";

const { database } = await startServer();

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const selecting = (count: number) =>
  `select cardinality(array[${numbers(count).map((index) => `$${index + 1}::int`)}]) as count`;

describe("a statement", () => {
  test("with 10,000 parameters or 256 KB of text runs, and one with more is never sent", async () => {
    const [row] = await database.query<{ count: number }>(selecting(10_000), numbers(10_000));
    assert.equal(row?.count, 10_000);
    await assert.rejects(database.query(selecting(10_001), numbers(10_001)), StatementTooLarge);
    const select = "select 1 as one";
    assert.equal((await database.query(select.padEnd(262_144))).length, 1);
    await assert.rejects(database.query(select.padEnd(262_145)), StatementTooLarge);
    await assert.rejects(database.execute(select.padEnd(262_145)), StatementTooLarge);
    await assert.rejects(database.for("analysis").query(select.padEnd(262_145)), StatementTooLarge);
  });

  test("that is too large fails its transaction, and nothing of it is written", async () => {
    await database.query("create table bounded (value int)");
    const insert = "insert into bounded values (1)";
    for (const begin of [database.transaction, database.transactionAtOnce]) {
      const work = begin(async (tx) => {
        const sent = [tx.execute(insert), tx.execute(insert.padEnd(262_145))];
        await Promise.allSettled(sent);
        return Promise.all(sent);
      });
      await assert.rejects(work, StatementTooLarge);
    }
    assert.equal((await database.query("select * from bounded")).length, 0);
  });

  test("that is not prepared leaves no prepared statement behind", async () => {
    const marked = numbers(20).map((index) => `${NOT_PREPARED}select ${index} as value`);
    for (const [value, sql] of marked.entries()) {
      assert.deepEqual((await database.query(sql))[0], { value });
    }
    const [left] = await database.query<{ count: number }>(
      "select count(*) as count from pg_prepared_statements where starts_with(statement, $1)",
      [NOT_PREPARED],
    );
    assert.equal(left?.count, 0);
  });
});
