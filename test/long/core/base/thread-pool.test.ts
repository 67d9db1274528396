/* Threads for slow work: deadlines, memory, fairness, and an event loop that stays free. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  createThreadPool,
  defineGroupedWork,
  defineWork,
} from "../../../../src/core/base/threads/thread-pool.ts";
import type * as slowWork from "./slow-thread-work.ts";
import type * as work from "./thread-work.ts";

const FILE = import.meta.resolve("./thread-work.js");

const DOUBLE = defineWork<typeof work.double>(FILE, "double", 20_000);
const SPIN = defineWork<typeof work.spin>(FILE, "spin", 1_000);
const FILL_MEMORY = defineWork<typeof work.fillMemory>(FILE, "fillMemory", 60_000);
const FAIL = defineWork<typeof work.fail>(FILE, "fail", 20_000);
const HOLD = defineWork<typeof work.holdFor>(FILE, "holdFor", 20_000);
const IN_GROUP = defineGroupedWork<typeof work.inGroup>(FILE, "inGroup", 1_000);

const TRIPLE = defineWork<typeof slowWork.triple>(
  import.meta.resolve("./slow-thread-work.js"),
  "triple",
  200,
);

const threads = createThreadPool(2);
after(() => threads.stop());

test("a call in the thread pool returns its function's result and fails with its function's error", async () => {
  assert.equal(await threads.run(DOUBLE, 1, 21), 42);
  await assert.rejects(threads.run(FAIL, 1, undefined), { message: "No such thing." });
});

test("a call that never ends is stopped at its deadline while the event loop stays responsive", async () => {
  await threads.run(DOUBLE, 1, 1);
  let turns = 0;
  const ticking = setInterval(() => turns++, 5);
  await assert.rejects(threads.run(SPIN, 1, undefined), { name: "WorkExceeded", budget: "time" });
  clearInterval(ticking);
  assert.ok(turns >= 5, `the event loop turned ${turns} times until the deadline`);
  assert.equal(await threads.run(DOUBLE, 1, 4), 8, "the thread was replaced");
});

test("the time that a thread takes to start and to load a function does not count towards its deadline", async () => {
  assert.equal(await threads.run(TRIPLE, 1, 7), 21);
});

test("a call that exhausts its memory is stopped, and the thread pool keeps working", async () => {
  const filled = threads.run(FILL_MEMORY, 1, undefined);
  await assert.rejects(filled, { name: "WorkExceeded", budget: "memory" });
  assert.equal(await threads.run(DOUBLE, 1, 5), 10);
});

test("many slow calls of one workspace do not delay the calls of another one", async () => {
  const slow = Array.from({ length: 10 }, () => threads.run(HOLD, "greedy", 100));
  await threads.run(DOUBLE, "modest", 1);
  const answeredAt = Date.now();
  const ends = await Promise.all(slow);
  assert.ok(ends.filter((end) => end > answeredAt).length >= 7, "it waited for the others");
});

test("calls beyond a workspace's share of the queue are refused with UNAVAILABLE", async () => {
  const slow = Array.from({ length: 300 }, () => threads.run(HOLD, "greedy", 1));
  const verdicts = await Promise.allSettled(slow);
  const refused = verdicts.filter((each) => each.status === "rejected");
  assert.ok(refused.length > 50 && refused.length < 150, String(refused.length));
  for (const { reason } of refused) assert.equal(reason.code, "UNAVAILABLE");
});

const inGroup = (owner: string, milliseconds: number) => threads.run(IN_GROUP, owner, milliseconds);

test("small calls that wait for a thread run as one group, in their order", async () => {
  const first = inGroup("groups", 30);
  const others = await Promise.all(Array.from({ length: 10 }, () => inGroup("groups", 0)));
  assert.deepEqual(others, Array(10).fill((await first) + 1));
});

test("calls that do not fit into a group's slice of time run in later groups", async () => {
  const groups = await Promise.all(Array.from({ length: 6 }, () => inGroup("slices", 15)));
  assert.deepEqual(
    groups,
    [...groups].sort((one, other) => one - other),
  );
  assert.ok(new Set(groups).size >= 3, groups.join());
});

test("a call that fails or never ends fails no other call of its group", async () => {
  const first = inGroup("faults", 30);
  const outcomes = await Promise.allSettled([
    inGroup("faults", 0),
    inGroup("faults", Number.NaN),
    inGroup("faults", -1),
    inGroup("faults", 0),
  ]);
  await first;
  const reasons = outcomes.map((each) => (each.status === "rejected" ? each.reason.message : ""));
  assert.deepEqual(reasons, ["", "No such thing.", "A call on a thread exceeded its time.", ""]);
});

test("grouped calls beyond a workspace's share of the queue are refused with UNAVAILABLE", async () => {
  const calls = Array.from({ length: 400 }, () => inGroup("many", 1));
  const verdicts = await Promise.allSettled(calls);
  const refused = verdicts.filter((each) => each.status === "rejected");
  assert.ok(refused.length > 150 && refused.length < 250, String(refused.length));
  for (const { reason } of refused) assert.equal(reason.code, "UNAVAILABLE");
});
