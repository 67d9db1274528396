/*
 * Clients that ask for a large export and do not read it: what the server holds for them is bounded
 * (`http/load.ts`), and others are served.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startAttackedServer } from "../bench/attack/attacked-server.ts";
import { TRACK_ATTACKS } from "../bench/attack/attacks/track.ts";
import { measure } from "../bench/attack/measure.ts";
import { targetOf } from "../bench/attack/target.ts";
import { freshDatabase } from "./fresh-database.ts";

/**
 * 60 exports of 3 MB would be 180 MB as bytes, and several times that as the values they are made of. The pool holds
 * 128 MB, four exports are made at a time, and the garbage collector lags behind.
 */
const MOST_GROWTH_MB = 400;

test("60 clients that do not read an export take a bounded amount of memory, and others are served", async () => {
  // Before the database is created, because what is registered first is done first: it is dropped then.
  let stop: (() => Promise<unknown>) | undefined;
  after(() => stop?.());
  const server = await startAttackedServer(await freshDatabase(), { WEB_CONCURRENCY: "1" });
  stop = server.stop;
  const attack = TRACK_ATTACKS.find(({ name }) => name.startsWith("60 clients"));
  assert.ok(attack);
  const target = targetOf(server);
  await attack.prepare?.(target);
  const before = server.memory();
  const effect = await measure({ ...attack, prepare: async () => {} }, target);
  assert.equal(effect.fault, undefined);
  assert.equal(effect.refused, 0);
  assert.ok(effect.served > 0);
  assert.ok(effect.memory - before < MOST_GROWTH_MB, `${before} MB, then ${effect.memory} MB`);
});
