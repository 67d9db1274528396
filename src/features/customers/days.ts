import { DAY_MS } from "../../core/base/clock.ts";
import { isTimeZone } from "../../core/base/context/workspace-settings.ts";

/* Days in the time zone of a workspace, as numbers: 0 is 1970-01-01. Not every one has 24 hours. */

const MINUTE_MS = 60_000;

/** No zone is further from UTC. */
const MOST_OFFSET_MS = 16 * 3_600_000;

/** How many days up to today are kept: 90 that are shown, 90 to compare with, and the 29 that the first 30 of them need. */
export const KEPT_DAYS = 210;

export interface Days {
  readonly first: number;
  readonly today: number;
  /** When each day begins, in ms since the epoch, and when the last one ends: tomorrow. */
  readonly borders: readonly number[];
}

/** The days up to tomorrow, which begins while counts are written. @param zone an IANA name. */
export function daysIn(zone: string, now: Date): Days {
  const dayOf = dayReader(zone);
  const today = dayOf(now.getTime());
  const first = today - KEPT_DAYS + 1;
  const borders = Array.from({ length: KEPT_DAYS + 2 }, (_, index) =>
    beginOf(dayOf, first + index),
  );
  return { first, today, borders };
}

/** The day of a time; undefined if it is none of these days. */
export function dayAt({ first, borders }: Days, ms: number): number | undefined {
  let [low, high] = [0, borders.length - 1];
  if (ms < (borders[low] as number) || ms >= (borders[high] as number)) return undefined;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (ms < (borders[middle] as number)) high = middle;
    else low = middle;
  }
  return first + low;
}

export const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

function dayReader(zone: string): (ms: number) => number {
  // The tables of another server may have a zone that this one lacks: its writes must not fail because of that.
  if (zone === "UTC" || !isTimeZone(zone)) return (ms) => Math.floor(ms / DAY_MS);
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone: zone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  return (ms) => Date.parse(format.format(ms)) / DAY_MS;
}

/** The first minute of a day. */
function beginOf(dayOf: (ms: number) => number, day: number): number {
  if (dayOf(day * DAY_MS) === day && dayOf(day * DAY_MS - 1) < day) return day * DAY_MS;
  let [before, after] = [day * DAY_MS - MOST_OFFSET_MS, day * DAY_MS + MOST_OFFSET_MS];
  while (after - before > MINUTE_MS) {
    const middle = Math.floor((before + after) / 2 / MINUTE_MS) * MINUTE_MS;
    if (dayOf(middle) < day) before = middle;
    else after = middle;
  }
  return after;
}
