import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";

/** Time and identity, in one place so that tests can decide both. docs/decisions/clocks.md */
export interface Clock {
  /** The time of day, for what is stored and shown. It jumps if the clock that it follows is set. */
  now(): Date;
  /** Milliseconds on a clock that never jumps: for every duration within this process. */
  elapsedMs(): number;
  /** A UUIDv7: unique, and in the order of creation. */
  newId(): string;
}

/** The randomness of one UUIDv7. */
const RANDOM_BYTES = 16;

/** For how many ids randomness is drawn at once. */
const IDS_OF_A_DRAW = 256;

/**
 * Makes ids that grow within a millisecond too (RFC 9562, 6.2, a counter with a random start). Random
 * bytes are drawn for many at once: a draw for each took 1.3 of its 1.5 microseconds.
 */
function createIds(nowMs: () => number): () => string {
  const drawn = Buffer.alloc(RANDOM_BYTES * IDS_OF_A_DRAW);
  let next = drawn.length;
  let msecs = 0;
  let seq = 0;

  function drawRandom(): Uint8Array {
    if (next === drawn.length) {
      randomFillSync(drawn);
      next = 0;
    }
    const random = drawn.subarray(next, next + RANDOM_BYTES);
    next += RANDOM_BYTES;
    return random;
  }

  return () => {
    const random = drawRandom();
    const now = Math.floor(nowMs());
    if (now > msecs) {
      msecs = now;
      // 31 of 32 bits, so that the counter has room for all ids of a millisecond.
      seq = drawn.readUInt32BE(random.byteOffset - drawn.byteOffset) >>> 1;
    } else seq += 1;
    return v7({ msecs, seq, random });
  };
}

function createClock(nowMs: () => number): Clock {
  return {
    now: () => new Date(nowMs()),
    elapsedMs: () => performance.now(),
    newId: createIds(nowMs),
  };
}

/** Follows the clock of this machine. */
export const systemClock: Clock = createClock(() => Date.now());

/** Follows the clock of this machine until it is set. */
export interface SettableClock extends Clock {
  /** Sets the time. It runs on from there by the clock that never jumps. */
  set(now: Date): void;
}

/** A clock for tests: it follows this machine's until `set` is called. */
export function createSettableClock(): SettableClock {
  let aheadOfElapsedMs: number | undefined;
  const clock = createClock(() =>
    aheadOfElapsedMs === undefined ? Date.now() : aheadOfElapsedMs + performance.now(),
  );
  return {
    ...clock,
    set(now) {
      aheadOfElapsedMs = now.getTime() - performance.now();
    },
  };
}

export const DAY_MS = 86_400_000;

/** A duration; omitted units are 0. */
interface Length {
  readonly days?: number;
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
  readonly ms?: number;
}

const msOf = ({ days = 0, hours = 0, minutes = 0, seconds = 0, ms = 0 }: Length): number =>
  days * DAY_MS + hours * 3_600_000 + minutes * 60_000 + seconds * 1_000 + ms;

export const earlier = (time: Date, by: Length): Date => new Date(time.getTime() - msOf(by));

export const later = (time: Date, by: Length): Date => new Date(time.getTime() + msOf(by));
