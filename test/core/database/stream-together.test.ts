/* What a transaction reads goes to a reader while it is still read. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { streamTogether } from "../../../src/core/database/cursor.ts";
import type { Queryable } from "../../../src/core/database/database.ts";
import { openDatabase } from "../../../src/server/open-database.ts";
import { testConfig } from "../../harness.ts";

const database = await openDatabase(await testConfig());
after(() => database.close());

function createStep() {
  let resolve = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((done, fail) => {
    resolve = done;
    reject = fail;
  });
  return { promise, resolve, reject };
}

/** A read that goes on only when told to. */
function readInSteps() {
  const steps = [createStep(), createStep(), createStep()];
  const seen = { begun: 0, ended: false };
  async function* read(tx: Queryable): AsyncGenerator<string> {
    try {
      for (const { promise } of steps) {
        const [row] = await tx.query<{ text: string }>("select 'row ' || $1::int as text", [
          seen.begun++,
        ]);
        yield `${row?.text}\n`;
        await promise;
      }
    } finally {
      seen.ended = true;
    }
  }
  return { read, seen, goOn: (step: number) => steps[step]?.resolve(), steps };
}

const textOf = async (stream: AsyncGenerator<string | Uint8Array>): Promise<string> => {
  const { value } = await stream.next();
  return value === undefined ? "" : Buffer.from(value).toString();
};

describe("a stream of what a transaction reads", { timeout: 20_000 }, () => {
  test("the first rows reach the reader while the transaction still reads, so that no large export makes its client wait for a response", async () => {
    const { read, seen, goOn } = readInSteps();
    const stream = streamTogether(database, read);
    assert.equal(await textOf(stream), "row 0\n");
    assert.deepEqual(seen, { begun: 1, ended: false });
    goOn(0);
    assert.equal(await textOf(stream), "row 1\n");
    goOn(1);
    goOn(2);
    assert.equal(await textOf(stream), "row 2\n");
    assert.equal(await textOf(stream), "");
    assert.equal(seen.ended, true);
  });

  test("a transaction that fails after its first rows fails the stream", async () => {
    const { read, steps } = readInSteps();
    const stream = streamTogether(database, read);
    assert.equal(await textOf(stream), "row 0\n");
    steps[0]?.reject(new Error("lost"));
    await assert.rejects(stream.next(), /lost/);
  });

  test("a transaction that fails at once fails the stream before its first piece", async () => {
    const stream = streamTogether(database, async function* (tx) {
      await tx.query("select 1 / 0");
      yield "never";
    });
    await assert.rejects(stream.next(), /division by zero/);
  });

  test("a reader that leaves ends the transaction, and the next one runs", async () => {
    const { read, seen, goOn } = readInSteps();
    const stream = streamTogether(database, read);
    assert.equal(await textOf(stream), "row 0\n");
    const left = stream.return(undefined);
    for (const step of [0, 1, 2]) goOn(step);
    await left;
    // On PostgreSQL the reader asks for each row, on the embedded engine one more may be on its way.
    assert.ok(seen.begun <= 2);
    assert.equal(seen.ended, true);
    const [row] = await database.query<{ one: number }>("select 1 as one");
    assert.equal(row?.one, 1);
  });
});
