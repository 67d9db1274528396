/* The functions that the tests of the thread pool run on threads. */
import { ofGroup } from "../../../../src/core/base/threads/call-groups.ts";

export const double = (count: number): number => 2 * count;

export function spin(): never {
  for (;;);
}

export function fillMemory(): never {
  const all: object[] = [];
  for (;;) all.push(new Array(100_000).fill(all.length));
}

export function fail(): never {
  throw new TypeError("No such thing.");
}

/** Holds its thread. @returns when it ended, in milliseconds. */
export function holdFor(ms: number): number {
  const until = Date.now() + ms;
  while (Date.now() < until);
  return Date.now();
}

let groups = 0;

/**
 * Works for this many milliseconds, and returns which group it was in. A negative number never
 * ends, `NaN` fails.
 */
export const inGroup = (() => {
  const run = ofGroup((milliseconds: number): number => {
    if (Number.isNaN(milliseconds)) throw new Error("No such thing.");
    if (milliseconds < 0) spin();
    holdFor(milliseconds);
    return groups;
  });
  return (inputs: readonly number[]): number[] => {
    groups++;
    return run(inputs);
  };
})();
