import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createLoad, type Room } from "../src/http/load.ts";
import { createMetrics } from "../src/metrics.ts";

const loadOf = (limits: { requests?: number; bodyBytes?: number }) => {
  const load = createLoad({ requests: 100, bodyBytes: 1_000, ...limits }, createMetrics());
  load.stop();
  return load;
};

function admitted(room: Room | string): Room {
  if (typeof room === "string") throw new Error(`refused: ${room}`);
  return room;
}

describe("the room that requests take", () => {
  test("is given back once, when the last who holds it has let go", () => {
    const load = loadOf({ requests: 1 });
    const room = admitted(load.admit(10));
    const letGo = [room.hold(), room.hold()];
    assert.equal(load.admit(10), "requests");
    letGo[0]?.();
    assert.equal(load.admit(10), "requests");
    letGo[1]?.();
    admitted(load.admit(10));
    assert.equal(load.overload(), "requests");
  });

  test("is bounded by the bytes of all bodies together", () => {
    const load = loadOf({});
    const room = admitted(load.admit(600));
    const letGo = room.hold();
    assert.equal(load.admit(401), "body_bytes");
    admitted(load.admit(400));
    assert.equal(load.overload(), undefined);
    letGo();
    admitted(load.admit(600));
  });

  test("grows with a body that comes in pieces, up to the same bound", () => {
    const load = loadOf({});
    const room = admitted(load.admit(0));
    const letGo = room.hold();
    assert.ok(room.grow(900));
    assert.equal(room.grow(101), false);
    assert.equal(load.admit(101), "body_bytes");
    assert.ok(room.grow(100));
    letGo();
    admitted(load.admit(1_000));
  });
});
