import { BUCKET_COUNT } from "./buckets.ts";

/** Which lane writes which bucket. */
export interface Lanes {
  readonly count: number;
  /** The lane of the bucket at this place in `BUCKETS`. */
  of(place: number): number;
}

/** How a process shares out transactions that write users. */
export type LanePlan = ReturnType<typeof lanesFor>;

/** How many locks order the writers of a workspace: more than lanes, so that servers with other lanes keep the same order. */
export const LANE_LOCKS = 64;

/** The lock of the bucket at a place in `BUCKETS`. */
export const laneLockAt = (place: number): number =>
  Math.floor((place * LANE_LOCKS) / BUCKET_COUNT);

/**
 * Lanes with as many buckets each; no two share a lock. With as many lanes as a cluster has shards,
 * each lane writes to one shard.
 */
export function evenLanes(count: number): Lanes {
  const units = Math.max(count, LANE_LOCKS);
  const unitOf = (place: number) => Math.floor((place * units) / BUCKET_COUNT);
  return { count, of: (place) => Math.floor(((unitOf(place) + 0.5) * count) / units) };
}

/** For transactions that run one after the other: while the engine runs one, the next one is worked out. */
export const ONE_LANE: LanePlan = {
  count: 1,
  depth: 2,
  atOnce: () => 2,
  inUse: () => evenLanes(1),
};

/** How many processes write to the database now, this one included. It changes as servers come and go. */
export type WriterCount = () => number;

/*
 * Processes that write to the same lane do so one after the other, so many of them need many lanes. Each then writes to
 * few of them at the same time, in turn: few large transactions cost less than many small ones
 * (docs/decisions/lane-locks.md).
 */
const FEWEST_LANES = 3;
const MOST_LANES = 8;

const lanesAmong = (writers: number): number =>
  Math.min(MOST_LANES, Math.max(FEWEST_LANES, writers));

const atOnceAmong = (writers: number): number => Math.max(1, FEWEST_LANES + 1 - writers);

/**
 * Another lane is used if more than this has waited for each at a time, multiplied by the number of
 * writers, which share the load: otherwise single requests end up in many small transactions, and
 * beginning, planning and committing one costs more than its rows (docs/performance.md).
 */
const ITEMS_OF_LANE = 256;

/** Lanes of an engine that runs several transactions at the same time. */
export function lanesFor(writers: WriterCount, concurrency: number) {
  const count = Math.min(MOST_LANES, concurrency);
  const choices = Array.from({ length: count }, (_, index) => evenLanes(index + 1));
  const inUse = planEverySecond((items) => {
    const wanted = Math.max(1, Math.ceil(items / (ITEMS_OF_LANE * writers())));
    return choices[Math.min(count, lanesAmong(writers()), wanted) - 1] as Lanes;
  });
  return {
    /** How many lanes there are, at most. */
    count,
    /** How many transactions of a lane are under way at the same time. */
    depth: 1,
    /** The same of all lanes together, at this moment. */
    atOnce: () => Math.min(count, atOnceAmong(writers())),
    /** The lanes to use for a number of waiting items. */
    inUse,
  };
}

/** How long lanes stay as they are: transactions of different lanes may meet on a person. */
const PLAN_LANES_EVERY_MS = 1_000;

/** Chooses lanes once a second, by the most items that waited in that time; first as for many. */
export function planEverySecond(
  plan: (mostItems: number) => Lanes,
): (waitingItems: number) => Lanes {
  let inUse = plan(Infinity);
  let mostItems = 0;
  let chosenAt = performance.now();
  return (waitingItems) => {
    mostItems = Math.max(mostItems, waitingItems);
    const now = performance.now();
    if (now - chosenAt < PLAN_LANES_EVERY_MS) return inUse;
    inUse = plan(mostItems);
    mostItems = waitingItems;
    chosenAt = now;
    return inUse;
  };
}
