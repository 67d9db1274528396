import { setFlagsFromString } from "node:v8";

/*
 * The objects of each batch of a sync live slightly too long for the young generation. By default
 * V8 lets the heap grow to four times the live size before a full collection. Limiting it to twice
 * the live size collects more often, at no measurable cost (lab/NOTEBOOK.md).
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
