import { setFlagsFromString } from "node:v8";

/*
 * A sync fills batch after batch with objects that live a little too long to be collected with the
 * young. Left to itself V8 lets them pile up to four times what is alive before it collects them in
 * full; told to stop at twice as much it does so more often, which costs nothing that could be
 * measured (docs/performance.md).
 */

const GROW_TO_TWICE = "--heap-growing-percent=100";
const GROW_AS_V8_LIKES = "--heap-growing-percent=0";

let running = 0;

/** Does some work, and keeps the heap of the process small meanwhile. */
export async function inSmallHeap<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running++ === 0) setFlagsFromString(GROW_TO_TWICE);
  try {
    return await work();
  } finally {
    if (--running === 0) setFlagsFromString(GROW_AS_V8_LIKES);
  }
}
