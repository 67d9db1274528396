import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { canSpend, spend, startWork } from "../../../src/core/base/work.ts";

describe("the work budget of a request", () => {
  test("a request may spend its whole work budget; the next unit fails with WORK_LIMIT_EXCEEDED", () => {
    const work = startWork(10);
    spend(work, 10);
    assert.throws(() => spend(work, 1), {
      code: "WORK_LIMIT_EXCEEDED",
      message: /more than 10 units of work/,
    });
  });

  test("an item that would exceed the work budget is detected without an exception", () => {
    const work = startWork(10);
    assert.equal(canSpend(work, 6), true);
    assert.equal(canSpend(work, 5), false);
  });
});
