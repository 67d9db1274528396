import { sum } from "../values/sum.ts";
/*
 * The traffic of each workspace, in the memory of this process: counts for each ten seconds of the
 * last hour and each five minutes of the last day. A request costs a few additions to numbers that
 * are there already. A workspace takes 70 KB, and 8 KB more for each code and each throttled key;
 * the least recent workspace is dropped first.
 */

/** Upper bounds of the latency buckets, in milliseconds; one more bucket holds everything slower. */
export const LATENCY_BOUNDS_MS = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1_000, 2_000, 5_000,
] as const;

/**
 * The counters of a slot; latencies follow, one place for each bound and one for everything slower.
 */
const COLUMNS = ["requests", "refused", "failed", "accepted", "rejected"] as const;

export type TrafficColumn = (typeof COLUMNS)[number];

const WIDTH = COLUMNS.length + LATENCY_BOUNDS_MS.length + 1;

/** Slots by the period that they show. */
export const PERIODS = {
  hour: { slotMs: 10_000, slots: 360 },
  day: { slotMs: 300_000, slots: 288 },
} as const;

export type Period = keyof typeof PERIODS;

const MOST_WORKSPACES = 100;

/** How many codes of rejections, and keys that exceed their limit, are counted by name. */
const MOST_NAMES = 32;

/** The counts of a process, each list with a number for every slot, oldest first. */
export interface TrafficCounts {
  readonly columns: Readonly<Record<TrafficColumn, readonly number[]>>;
  /** For each slot the number of requests by latency; undefined if there were none. */
  readonly latencies: readonly (readonly number[] | undefined)[];
  readonly rejections: Readonly<Record<string, readonly number[]>>;
  /** How often a key exceeded its rate limit, by its id. */
  readonly throttled: Readonly<Record<string, number>>;
  /** The most items that waited in the write queue, of all workspaces. */
  readonly waiting: readonly number[];
}

export interface SlotCounts {
  /** By column. */
  readonly main: readonly number[];
  readonly rejections: Readonly<Record<string, number>>;
  readonly throttled: Readonly<Record<string, number>>;
  readonly waiting: number;
}

/** The counts of a slot with its place. */
export interface Slot {
  readonly workspaceId: number;
  readonly period: Period;
  readonly slotAt: Date;
  readonly counts: SlotCounts;
}

/** How a request ended; `throttled` is a refusal because its key exceeded its rate limit. */
export type Ending = "served" | "refused" | "throttled" | "failed";

export type Traffic = ReturnType<typeof createTraffic>;

/** Numbers by slot: a slot that comes round again starts from zero. */
function createRing(slotMs: number, slots: number, width: number) {
  const counts = new Uint32Array(slots * width);
  const slotAt = new Float64Array(slots);

  /** The position of a time's numbers. */
  function placeOf(now: number): number {
    const slot = Math.floor(now / slotMs);
    const row = slot % slots;
    if (slotAt[row] !== slot) {
      slotAt[row] = slot;
      counts.fill(0, row * width, (row + 1) * width);
    }
    return row * width;
  }

  return {
    counts,
    placeOf,
    /** The numbers of every slot up to a time, oldest first; undefined if nothing was counted. */
    rows(now: number): (Uint32Array | undefined)[] {
      const last = Math.floor(now / slotMs);
      return Array.from({ length: slots }, (_, index) => {
        const slot = last - slots + 1 + index;
        const row = slot % slots;
        return slotAt[row] === slot ? counts.subarray(row * width, (row + 1) * width) : undefined;
      });
    },
  };
}

/** Both periods of one thing that is counted. */
function createSeries(width: number) {
  const rings = {
    hour: createRing(PERIODS.hour.slotMs, PERIODS.hour.slots, width),
    day: createRing(PERIODS.day.slotMs, PERIODS.day.slots, width),
  };
  return {
    rings,
    add(now: number, column: number, count: number): void {
      const { hour, day } = rings;
      const [ofHour, ofDay] = [hour.placeOf(now) + column, day.placeOf(now) + column];
      hour.counts[ofHour] = (hour.counts[ofHour] ?? 0) + count;
      day.counts[ofDay] = (day.counts[ofDay] ?? 0) + count;
    },
    raise(now: number, count: number): void {
      const { hour, day } = rings;
      const [ofHour, ofDay] = [hour.placeOf(now), day.placeOf(now)];
      if (count > (hour.counts[ofHour] ?? 0)) hour.counts[ofHour] = count;
      if (count > (day.counts[ofDay] ?? 0)) day.counts[ofDay] = count;
    },
  };
}

type Series = ReturnType<typeof createSeries>;

interface OfWorkspace {
  readonly main: Series;
  readonly rejections: Map<string, Series>;
  readonly throttled: Map<string, Series>;
  lastAt: number;
}

/** @param clock the time in milliseconds. */
export function createTraffic(clock: () => number) {
  const workspaces = new Map<number, OfWorkspace>();
  const waiting = createSeries(1);

  function of(id: number, now: number): OfWorkspace {
    let found = workspaces.get(id);
    if (!found) {
      if (workspaces.size === MOST_WORKSPACES) dropLeastRecent(workspaces);
      found = {
        main: createSeries(WIDTH),
        rejections: new Map(),
        throttled: new Map(),
        lastAt: now,
      };
      workspaces.set(id, found);
    }
    found.lastAt = now;
    return found;
  }

  return {
    request(workspaceId: number, keyId: string, ending: Ending, durationMs: number) {
      const now = clock();
      const { main, throttled } = of(workspaceId, now);
      main.add(now, COLUMNS.indexOf("requests"), 1);
      main.add(now, COLUMNS.length + bucketOf(durationMs), 1);
      if (ending === "served") return;
      main.add(now, COLUMNS.indexOf(ending === "failed" ? "failed" : "refused"), 1);
      if (ending === "throttled") named(throttled, keyId)?.add(now, 0, 1);
    },
    items(workspaceId: number, outcome: "accepted" | "rejected", count: number) {
      const now = clock();
      of(workspaceId, now).main.add(now, COLUMNS.indexOf(outcome), count);
    },
    rejection(workspaceId: number, code: string) {
      const now = clock();
      named(of(workspaceId, now).rejections, code)?.add(now, 0, 1);
    },
    waiting: (items: number) => waiting.raise(clock(), items),
    /** @param now the slot of this time is the last one. */
    read(workspaceId: number, period: Period, now: number) {
      const { main, rejections, throttled } = workspaces.get(workspaceId) ?? EMPTY;
      const rows = main.rings[period].rows(now);
      const column = (index: number) => rows.map((row) => row?.[index] ?? 0);
      return {
        columns: Object.fromEntries(
          COLUMNS.map((name, index) => [name, column(index)]),
        ) as unknown as TrafficCounts["columns"],
        latencies: rows.map((row) => (row?.[0] ? [...row.subarray(COLUMNS.length)] : undefined)),
        rejections: Object.fromEntries(
          [...rejections].map(([code, series]) => [code, firstColumn(series, period, now)]),
        ),
        throttled: Object.fromEntries(
          [...throttled].map(([key, series]) => [key, sum(firstColumn(series, "hour", now))]),
        ),
        waiting: firstColumn(waiting, period, now),
      };
    },
    /** Every slot that may have changed since a time. */
    since(from: number) {
      const now = clock();
      const changed = [...workspaces].filter(([, { lastAt }]) => lastAt >= from);
      return changed.flatMap(([workspaceId, of]) =>
        (["hour", "day"] as const).flatMap((period) =>
          slotsOf(of, waiting, period, from, now).map((slot) => ({ workspaceId, period, ...slot })),
        ),
      );
    },
  };
}

/** The slots of a period from a given time, without empty ones. */
function slotsOf(
  { main, rejections, throttled }: OfWorkspace,
  waiting: Series,
  period: Period,
  from: number,
  now: number,
): Pick<Slot, "slotAt" | "counts">[] {
  const { slotMs, slots } = PERIODS[period];
  const last = Math.floor(now / slotMs);
  const count = Math.min(slots, Math.max(1, last - Math.floor(from / slotMs) + 1));
  const latest = (series: Series) => series.rings[period].rows(now).slice(-count);
  const named = (all: ReadonlyMap<string, Series>) =>
    [...all].map(([name, series]) => [name, latest(series)] as const);
  const [codes, keys, waited] = [named(rejections), named(throttled), latest(waiting)];
  const at = (all: typeof codes, place: number): Record<string, number> =>
    Object.fromEntries(
      all.map(([name, rows]) => [name, rows[place]?.[0] ?? 0] as const).filter(([, n]) => n > 0),
    );
  return latest(main).flatMap((row, place) =>
    row === undefined
      ? []
      : [
          {
            slotAt: new Date((last - count + 1 + place) * slotMs),
            counts: {
              main: [...row],
              rejections: at(codes, place),
              throttled: at(keys, place),
              waiting: waited[place]?.[0] ?? 0,
            },
          },
        ],
  );
}

/** The counts of slots in the form of a process's counts. A place counts from the oldest slot on. */
export function countsOfSlots(
  found: readonly { readonly place: number; readonly counts: SlotCounts }[],
  period: Period,
): TrafficCounts {
  const { slots } = PERIODS[period];
  const empty = () => Array.from({ length: slots }, () => 0);
  const main = Array.from({ length: slots }, () => Array.from({ length: WIDTH }, () => 0));
  const rejections: Record<string, number[]> = {};
  const throttled: Record<string, number> = {};
  const waiting = empty();
  for (const { place, counts } of found) {
    const row = main[place];
    if (row === undefined) continue;
    for (const [column, count] of counts.main.entries()) row[column] = (row[column] ?? 0) + count;
    for (const [code, count] of Object.entries(counts.rejections)) {
      rejections[code] ??= empty();
      (rejections[code] as number[])[place] = (rejections[code]?.[place] ?? 0) + count;
    }
    for (const [key, count] of Object.entries(counts.throttled)) {
      throttled[key] = (throttled[key] ?? 0) + count;
    }
    waiting[place] = (waiting[place] ?? 0) + counts.waiting;
  }
  return {
    columns: Object.fromEntries(
      COLUMNS.map((name, index) => [name, main.map((row) => row[index] ?? 0)]),
    ) as unknown as TrafficCounts["columns"],
    latencies: main.map((row) => (row[0] ? row.slice(COLUMNS.length) : undefined)),
    rejections,
    throttled,
    waiting,
  };
}

const EMPTY: OfWorkspace = {
  main: createSeries(WIDTH),
  rejections: new Map(),
  throttled: new Map(),
  lastAt: 0,
};

function named(all: Map<string, Series>, name: string): Series | undefined {
  const found = all.get(name);
  if (found || all.size === MOST_NAMES) return found;
  const series = createSeries(1);
  all.set(name, series);
  return series;
}

function dropLeastRecent(workspaces: Map<number, OfWorkspace>): void {
  const [first] = [...workspaces].sort(([, one], [, other]) => one.lastAt - other.lastAt);
  if (first) workspaces.delete(first[0]);
}

const firstColumn = (series: Series, period: Period, now: number): number[] =>
  series.rings[period].rows(now).map((row) => row?.[0] ?? 0);

/** The first bound that is not exceeded; beyond the last one its own place. */
function bucketOf(durationMs: number): number {
  let bucket = 0;
  while (bucket < LATENCY_BOUNDS_MS.length && durationMs > (LATENCY_BOUNDS_MS[bucket] as number))
    bucket++;
  return bucket;
}
