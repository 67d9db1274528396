import {
  LATENCY_BOUNDS_MS,
  PERIODS,
  type Period,
  type TrafficColumn,
  type TrafficCounts,
} from "../../core/base/observe/traffic.ts";
import { sum } from "../../core/base/values/sum.ts";

/* The counts of several processes as one. */

const added = (lists: readonly (readonly number[])[], slots: number): number[] =>
  Array.from({ length: slots }, (_, index) => sum(lists.map((list) => list[index] ?? 0)));

export function combineCounts(counts: readonly TrafficCounts[], period: Period) {
  const { slots } = PERIODS[period];
  const column = (name: TrafficColumn) =>
    added(
      counts.map(({ columns }) => columns[name]),
      slots,
    );
  const codes = [...new Set(counts.flatMap(({ rejections }) => Object.keys(rejections)))];
  const keys = [...new Set(counts.flatMap(({ throttled }) => Object.keys(throttled)))];
  const latencies = Array.from({ length: slots }, (_, index) =>
    added(
      counts.map((each) => each.latencies[index] ?? []),
      LATENCY_BOUNDS_MS.length + 1,
    ),
  );
  return {
    requests: column("requests"),
    refused: column("refused"),
    failed: column("failed"),
    accepted: column("accepted"),
    rejected: column("rejected"),
    p50: latencies.map((each) => quantile(each, 0.5)),
    p99: latencies.map((each) => quantile(each, 0.99)),
    rejections: codes.map((code) => ({
      code,
      counts: added(
        counts.map(({ rejections }) => rejections[code] ?? []),
        slots,
      ),
    })),
    throttled: keys.map((keyId) => ({
      keyId,
      count: sum(counts.map(({ throttled }) => throttled[keyId] ?? 0)),
    })),
    waiting: added(
      counts.map(({ waiting }) => waiting),
      slots,
    ),
  };
}

export type CombinedCounts = ReturnType<typeof combineCounts>;

/** The latency that this part of the requests did not exceed, within its bucket in proportion; null without any. */
export function quantile(counts: readonly number[], part: number): number | null {
  const total = sum(counts);
  if (total === 0) return null;
  let left = total * part;
  for (const [index, count] of counts.entries()) {
    if (count > 0 && left <= count) {
      const [from, to] = [LATENCY_BOUNDS_MS[index - 1] ?? 0, LATENCY_BOUNDS_MS[index]];
      if (to === undefined) return from;
      return Math.round((from + (to - from) * (left / count)) * 10) / 10;
    }
    left -= count;
  }
  return LATENCY_BOUNDS_MS.at(-1) ?? null;
}
