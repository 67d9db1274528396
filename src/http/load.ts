import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import type { Metrics } from "../metrics.ts";

/*
 * Shedding load before memory grows (decision: docs/decisions/overload.md).
 *
 * Everything a request holds is bounded by two numbers: how many requests are in flight, and how many
 * bytes of bodies. Beyond them a request is refused before it is read. Two signs of trouble that these
 * numbers cannot see refuse requests too: a heap that is nearly full, and an event loop that is late.
 */

export interface LoadLimits {
  /** How many requests may be in flight. */
  readonly requests: number;
  /** How many bytes of bodies may be in memory. */
  readonly bodyBytes: number;
}

/** A body takes about ten times its size once it is parsed; all of them may take a third of the heap. */
const HEAP_OF_A_BODY_BYTE = 32;

/** Four bodies of the largest size must find room in any case. */
const LEAST_BODY_BYTES = 16 * 1_048_576;

/** How many bytes of bodies this process can hold beside each other. */
export const bodyBytesOfThisProcess = (): number =>
  Math.max(LEAST_BODY_BYTES, getHeapStatistics().heap_size_limit / HEAP_OF_A_BODY_BYTE);

const SAMPLE_EVERY_MS = 1_000;
const FULLEST_HEAP = 0.9;
const LATEST_EVENT_LOOP_MS = 1_000;

/** Why a request is refused. */
export type Overload = "requests" | "body_bytes" | "heap" | "event_loop";

/** The room that one request takes; it is given back when all who hold it have let go. */
export interface Room {
  /** Takes room for so many bytes of a body more. @returns whether there is. */
  grow(bytes: number): boolean;
  /** Holds the room until the returned function is called. */
  hold(): () => void;
}

export interface Load {
  /** Why a request would be refused now, if it would. */
  overload(): Overload | undefined;
  /** Lets a request in with a body of so many bytes, or says why not. */
  admit(bodyBytes: number): Room | Overload;
  /** Resolves once nothing is worked on, also not for callers who have gone. */
  whenIdle(): Promise<void>;
  stop(): void;
}

export function createLoad(limits: LoadLimits, metrics: Pick<Metrics, "inFlight" | "shed">): Load {
  const machine = watchMachine();
  let requests = 0;
  let bodyBytes = 0;
  let waiting: (() => void)[] = [];

  function overloadWith(moreBytes: number): Overload | undefined {
    if (requests >= limits.requests) return "requests";
    if (bodyBytes + moreBytes > limits.bodyBytes) return "body_bytes";
    return machine.trouble();
  }

  function shed(why: Overload): Overload {
    metrics.shed(why);
    return why;
  }

  function take(bytes: number): Room {
    let taken = bytes;
    let holders = 0;
    requests++;
    bodyBytes += bytes;
    metrics.inFlight(requests);
    return {
      grow(more) {
        if (bodyBytes + more > limits.bodyBytes) {
          shed("body_bytes");
          return false;
        }
        taken += more;
        bodyBytes += more;
        return true;
      },
      hold() {
        holders++;
        return () => {
          if (--holders > 0) return;
          requests--;
          bodyBytes -= taken;
          metrics.inFlight(requests);
          if (requests > 0) return;
          for (const resolve of waiting) resolve();
          waiting = [];
        };
      },
    };
  }

  return {
    overload: () => overloadWith(0),
    admit(bytes) {
      const why = overloadWith(bytes);
      return why ? shed(why) : take(bytes);
    },
    whenIdle: () =>
      requests === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)),
    stop: () => machine.stop(),
  };
}

/** Looks once a second at the heap and at how late the event loop runs. */
function watchMachine() {
  const delay: IntervalHistogram = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  let lateMs = 0;
  let heap = 0;
  const sample = () => {
    // Half of what it was: one long turn alone is no overload.
    lateMs = lateMs / 2 + (Number.isNaN(delay.mean) ? 0 : delay.mean / 1e6) / 2;
    delay.reset();
    const { used_heap_size, heap_size_limit } = getHeapStatistics();
    heap = used_heap_size / heap_size_limit;
  };
  const timer = setInterval(sample, SAMPLE_EVERY_MS).unref();
  return {
    trouble(): Overload | undefined {
      if (heap > FULLEST_HEAP) return "heap";
      return lateMs > LATEST_EVENT_LOOP_MS ? "event_loop" : undefined;
    },
    stop() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
