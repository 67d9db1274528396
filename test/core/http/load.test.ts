import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createMetrics } from "../../../src/core/base/observe/metrics.ts";
import { createPool } from "../../../src/core/base/pool.ts";
import { createLoad, type LoadOwner, type Room } from "../../../src/core/http/load.ts";

const loadOf = (limits: { requests?: number; bodyBytes?: number }) =>
  createLoad(
    { requests: 100, bodyBytes: 1_000, responseBytes: 1_000, eventLoopDelayMs: 1_000, ...limits },
    createMetrics(),
  );

const ONE: LoadOwner = { name: "one", isAnonymous: false };
const OTHER: LoadOwner = { name: "other", isAnonymous: false };
const ANYBODY: LoadOwner = { name: "192.0.2.1", isAnonymous: true };

function admitted(room: Room | string): Room {
  if (typeof room === "string") throw new Error(`refused: ${room}`);
  return room;
}

describe("a pool shared by several callers", () => {
  test("one caller gets at most three quarters of a pool, and the next caller still gets a share", () => {
    const pool = createPool(100);
    let one = 0;
    while (pool.take("one", 1)) one++;
    assert.equal(one, 75);
    let other = 0;
    while (pool.take("other", 1)) other++;
    assert.ok(other >= 15, `${other}`);
    assert.equal(pool.isFull(), false);
    pool.give("one", 75);
    assert.ok(pool.take("other", 50));
  });

  test("a small pool can be used up by one caller", () => {
    const pool = createPool(3);
    assert.deepEqual(
      [1, 2, 3, 4].map(() => pool.take("one", 1)),
      [true, true, true, false],
    );
    assert.equal(pool.isFull(), true);
  });
});

describe("the capacity that a request holds", () => {
  test("a handler holds its slot until it ends, even if the client has disconnected", () => {
    const load = loadOf({ requests: 1 });
    const room = admitted(load.admit(ONE));
    assert.ok(load.startWork(room));
    load.leave(room);
    assert.equal(load.admit(OTHER), "requests");
    assert.equal(load.overload(), "requests");
    load.endWork(room);
    assert.equal(load.overload(), undefined);
    assert.ok(load.startWork(admitted(load.admit(OTHER))));
  });

  test("a request that is still arriving holds no slot", () => {
    const load = loadOf({ requests: 1 });
    for (let turn = 0; turn < 100; turn++) assert.ok(load.holdBody(admitted(load.admit(ONE)), 1));
    assert.ok(load.startWork(admitted(load.admit(OTHER))));
  });

  test("the bytes of a body count from their arrival until the handler ends", () => {
    const load = loadOf({});
    const room = admitted(load.admit(ONE));
    assert.ok(load.holdBody(room, 700));
    assert.equal(load.holdBody(admitted(load.admit(OTHER)), 400), false);
    assert.ok(load.startWork(room));
    load.leave(room);
    assert.equal(load.holdBody(admitted(load.admit(OTHER)), 400), false);
    load.endWork(room);
    assert.ok(load.holdBody(admitted(load.admit(OTHER)), 400));
  });

  test("the bytes of a response count until it has been read, and hold no slot", () => {
    const load = loadOf({ requests: 1 });
    const room = admitted(load.admit(ONE));
    assert.ok(load.startWork(room));
    assert.ok(load.holdResponse(room, 700));
    load.endWork(room);
    const other = admitted(load.admit(OTHER));
    assert.ok(load.startWork(other));
    assert.equal(load.holdResponse(other, 400), false);
    load.leave(room);
    assert.ok(load.holdResponse(other, 400));
  });

  test("callers without a key have separate pools and take nothing from other callers", () => {
    const load = loadOf({ requests: 80 });
    let anonymous = 0;
    while (anonymous < 80) {
      const room = load.admit(ANYBODY);
      if (typeof room === "string" || !load.startWork(room)) break;
      anonymous++;
    }
    assert.ok(anonymous > 0 && anonymous <= 10, `${anonymous}`);
    assert.equal(load.overload(), undefined);
    for (let turn = 0; turn < 60; turn++) {
      assert.ok(load.startWork(admitted(load.admit(ONE))), `${turn}`);
    }
  });
});
