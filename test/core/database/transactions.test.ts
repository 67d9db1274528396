import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import {
  type Database,
  settleAll,
  within,
  withRetries,
} from "../../../src/core/database/database.ts";
import { StaleRead } from "../../../src/core/people/profiles/stale-read.ts";
import { openDatabase } from "../../../src/server/open-database.ts";
import { testConfig } from "../../harness.ts";

const database = await openDatabase(await testConfig());
after(() => database.close());

const lost = () => new StaleRead("for a test");

describe("an aborted transaction", () => {
  test("an aborted transaction runs again from the start and knows the number of its attempt", async () => {
    const tries: number[] = [];
    const result = await withRetries(database, async (tx, attempt) => {
      tries.push(attempt);
      if (attempt < 3) throw lost();
      const [row] = await tx.query<{ one: number }>("select 1 as one");
      return row?.one;
    });
    assert.equal(result, 1);
    assert.deepEqual(tries, [1, 2, 3]);
  });

  test("a transaction fails after its last attempt, and at once on any other error", async () => {
    const count = async (error: Error) => {
      let tries = 0;
      const work = async () => {
        tries++;
        throw error;
      };
      await assert.rejects(withRetries(database, work, 4), error);
      return tries;
    };
    assert.equal(await count(lost()), 4);
    assert.equal(await count(new Error("another one")), 1);
  });

  test("an aborted nested transaction is left to its owner, which runs all of it again", async () => {
    const outer: number[] = [];
    const inner: number[] = [];
    await withRetries(database, (tx, attempt) => {
      outer.push(attempt);
      const nested: Database = within(database, tx);
      return withRetries(nested, async (_tx, nestedAttempt) => {
        inner.push(nestedAttempt);
        if (outer.length < 2) throw lost();
      });
    });
    assert.deepEqual(outer, [1, 2]);
    assert.deepEqual(inner, [Infinity, Infinity]);
  });
});

describe("writes that are started together", () => {
  test("settleAll waits for every write before it throws the first error", async () => {
    let slowIsOver = false;
    const slow = wait(5).then(() => {
      slowIsOver = true;
      throw new Error("a consequence");
    });
    const fast = Promise.reject(new Error("the cause"));
    await assert.rejects(settleAll([slow, fast]), /the cause/);
    assert.ok(slowIsOver);
  });

  test("settleAll returns the results in order", async () => {
    assert.deepEqual(await settleAll([wait(2, "one"), Promise.resolve(2)]), ["one", 2]);
  });
});
