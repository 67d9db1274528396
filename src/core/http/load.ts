import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import type { Metrics } from "../base/observe/metrics.ts";
import { createPool, type Pool } from "../base/pool.ts";

/*
 * Shedding load before memory grows (docs/decisions/overload.md).
 *
 * Three pools bound what requests hold: handlers that run, bytes of bodies that have arrived, and
 * bytes of responses that have not been read. No caller can use up a pool; callers without a key
 * have separate small pools. Two more signs of trouble refuse requests: a heap that is nearly full,
 * and a late event loop.
 */

export interface LoadLimits {
  /** How many handlers may run. */
  readonly requests: number;
  /** How many bytes of bodies may be in memory. */
  readonly bodyBytes: number;
  /** How many bytes of responses may wait to be read. */
  readonly responseBytes: number;
  /** How late the event loop may run, on average, before requests are refused. */
  readonly eventLoopDelayMs: number;
}

/** A parsed body takes about ten times its size; all bodies together may take a third of the heap. */
const HEAP_PER_BODY_BYTE = 32;

/** Responses wait outside the heap, as bytes. */
const HEAP_PER_RESPONSE_BYTE = 16;

/** Room for four bodies of the largest size. */
const LEAST_BODY_BYTES = 16 * 1_048_576;

/** Room for two responses of the largest size. */
const LEAST_RESPONSE_BYTES = 128 * 1_048_576;

export function bytesOfThisProcess(): Pick<LoadLimits, "bodyBytes" | "responseBytes"> {
  const { heap_size_limit: heap } = getHeapStatistics();
  return {
    bodyBytes: Math.max(LEAST_BODY_BYTES, heap / HEAP_PER_BODY_BYTE),
    responseBytes: Math.max(LEAST_RESPONSE_BYTES, heap / HEAP_PER_RESPONSE_BYTE),
  };
}

/** Callers without a key get this part of the pools, on top. */
const ANONYMOUS_PART = 1 / 8;

const SAMPLE_EVERY_MS = 1_000;
const FULLEST_HEAP = 0.9;

export type Overload = "requests" | "body_bytes" | "response_bytes" | "heap" | "event_loop";

/** The owner whose requests share a part of the pools. */
export interface LoadOwner {
  /** A workspace, the company or the administrator; an address for a caller without a key. */
  readonly name: string;
  readonly isAnonymous: boolean;
}

interface Pools {
  readonly requests: Pool;
  readonly bodyBytes: Pool;
  readonly responseBytes: Pool;
}

/** The memory and work that one request holds. */
export interface Room {
  readonly owner: string;
  readonly pools: Pools;
  bodyBytes: number;
  responseBytes: number;
  isWorking: boolean;
}

export type Load = ReturnType<typeof createLoad>;

export function createLoad(limits: LoadLimits, metrics: Pick<Metrics, "inFlight" | "shed">) {
  const machine = createMachineWatch(limits.eventLoopDelayMs);
  const known = createPools(limits, 1);
  const anonymous = createPools(limits, ANONYMOUS_PART);
  let working = 0;
  let waiting: (() => void)[] = [];

  function shed(why: Overload): false {
    metrics.shed(why);
    return false;
  }

  function releaseBody(room: Room): void {
    if (room.bodyBytes > 0) room.pools.bodyBytes.give(room.owner, room.bodyBytes);
    room.bodyBytes = 0;
  }

  return {
    /** Why requests are refused now, if they are. */
    overload: (): Overload | undefined =>
      known.requests.isFull() ? "requests" : machine.trouble(),
    /** Admits a request, unless its owner leaves too much unread. @returns the reason if it is refused. */
    admit({ name, isAnonymous }: LoadOwner): Room | Overload {
      const pools = isAnonymous ? anonymous : known;
      const why = pools.requests.isFull()
        ? "requests"
        : pools.responseBytes.hasRoom(name)
          ? machine.trouble()
          : "response_bytes";
      if (why) metrics.shed(why);
      return why ?? { owner: name, pools, bodyBytes: 0, responseBytes: 0, isWorking: false };
    },
    /** Counts bytes of the body that have arrived. @returns false if there is no room for them. */
    holdBody(room: Room, bytes: number) {
      if (!room.pools.bodyBytes.take(room.owner, bytes)) return shed("body_bytes");
      room.bodyBytes += bytes;
      return true;
    },
    /** Counts a handler that starts. @returns false if there is no room for it. */
    startWork(room: Room) {
      if (!room.pools.requests.take(room.owner, 1)) return shed("requests");
      room.isWorking = true;
      metrics.inFlight(++working);
      return true;
    },
    /** The handler has ended, even if its caller went away before; the body is not needed any more. */
    endWork(room: Room) {
      room.isWorking = false;
      room.pools.requests.give(room.owner, 1);
      releaseBody(room);
      metrics.inFlight(--working);
      if (working > 0) return;
      for (const resolve of waiting) resolve();
      waiting = [];
    },
    /** Counts bytes of the response. @returns false if there is no room for them. */
    holdResponse(room: Room, bytes: number) {
      if (!room.pools.responseBytes.take(room.owner, bytes)) return shed("response_bytes");
      room.responseBytes += bytes;
      return true;
    },
    /** Counts bytes of a response that can no longer be refused: its work has been done. */
    mustHoldResponse(room: Room, bytes: number) {
      room.pools.responseBytes.force(room.owner, bytes);
      room.responseBytes += bytes;
    },
    /** The response was sent or its connection closed. */
    leave(room: Room) {
      if (!room.isWorking) releaseBody(room);
      if (room.responseBytes > 0) room.pools.responseBytes.give(room.owner, room.responseBytes);
      room.responseBytes = 0;
    },
    /** Resolves once no handler runs. */
    whenIdle: (): Promise<void> =>
      working === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)),
    /** Starts to watch heap and event loop. Called once the server listens: starting up is no overload. */
    watch: () => machine.start(),
    stop: () => machine.stop(),
  };
}

const createPools = (limits: LoadLimits, part: number): Pools => ({
  requests: createPool(Math.max(1, Math.floor(limits.requests * part))),
  bodyBytes: createPool(limits.bodyBytes * part),
  responseBytes: createPool(limits.responseBytes * part),
});

/** Samples once a second how full the heap is and how late the event loop runs. */
function createMachineWatch(eventLoopDelayMs: number) {
  const delay: IntervalHistogram = monitorEventLoopDelay({ resolution: 20 });
  let timer: NodeJS.Timeout | undefined;
  let lateMs = 0;
  let heap = 0;
  const sample = () => {
    // A moving average: a single long turn is no overload.
    lateMs = lateMs / 2 + (Number.isNaN(delay.mean) ? 0 : delay.mean / 1e6) / 2;
    delay.reset();
    const { used_heap_size, heap_size_limit } = getHeapStatistics();
    heap = used_heap_size / heap_size_limit;
  };
  return {
    trouble(): Overload | undefined {
      if (heap > FULLEST_HEAP) return "heap";
      return lateMs > eventLoopDelayMs ? "event_loop" : undefined;
    },
    start() {
      delay.enable();
      timer = setInterval(sample, SAMPLE_EVERY_MS).unref();
    },
    stop() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
