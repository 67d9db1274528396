/*
 * How long others wait while a transaction holds the lock of one user, or a server is stopped in the middle of a
 * transaction: 50 requests a second of two workspaces to two servers.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { OUTAGES, type Outage } from "../../../lab/torture/outage/faults.ts";
import { runOnce } from "../../../lab/torture/outage/outage.ts";
import { openStage, type Stage } from "../../../lab/torture/outage/stage.ts";
import { ENGINE } from "../../harness.ts";

const skip = ENGINE !== "postgres" && "the embedded engine has no locks of others";

let stage: Stage | undefined;
after(() => stage?.end());
if (!skip) stage = await openStage("postgres");

async function seenOf(name: string) {
  const outage = OUTAGES.find((each) => each.name === name) as Outage;
  const seen = await runOnce(stage as Stage, outage, name.replaceAll(" ", ""));
  assert.deepEqual([seen.lost, seen.partial, seen.doubled, seen.otherStatuses], [0, 0, 0, []]);
  return seen;
}

describe("locks of others", { skip, timeout: 180_000 }, () => {
  /** What others see without a fault: a machine with other work is slower. */
  let usual = { p99: 0, max: 0 };
  before(async () => {
    usual = (await seenOf("no fault")).others;
  });

  test("while one user is locked for 30 s, 99 of 100 writes of others take at most 250 ms, and those of the user get 503 within 8 s", async () => {
    const { others, locked, longest503Ms } = await seenOf("lock of a row");
    const most = Math.max(250, 3 * usual.p99);
    assert.ok(others.p99 <= most, `The p99 of others is ${others.p99} ms, not at most ${most}.`);
    assert.ok(locked.unavailable > 10, `Only ${locked.unavailable} requests got 503.`);
    assert.ok(longest503Ms <= 8_000, `A 503 took ${longest503Ms} ms.`);
  });

  test("while one server is stopped for 20 s in the middle of a transaction, no write through the other takes more than 2.5 s", async () => {
    const { others, unavailable } = await seenOf("frozen server");
    assert.ok(others.max <= 2_500 + usual.max, `A write took ${others.max} ms.`);
    assert.equal(unavailable, 0);
  });
});
