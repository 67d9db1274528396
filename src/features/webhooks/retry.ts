import { DAY_MS } from "../../core/base/clock.ts";

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** After how long a batch is tried again, by how often it has failed. */
const DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** Receivers that failed together are not called together again. */
const JITTER = 0.1;

/** For how long a webhook fails before it pauses. */
export const PAUSES_AFTER_MS = 3 * DAY_MS;

/** No retry is later than this: a later time was written before the clock was set back. */
export const LONGEST_DELAY_MS = 2 * DAY_MS;

/**
 * @param failures how often the batch has failed, this time included.
 * @param retryAfterMs the delay that the receiver asks for; respected up to a day.
 */
export function delayAfter(failures: number, retryAfterMs = 0): number {
  const delay = DELAYS_MS[Math.min(failures, DELAYS_MS.length) - 1] ?? 0;
  const spread = delay * (1 - JITTER + 2 * JITTER * Math.random());
  return Math.max(spread, Math.min(retryAfterMs, DAY_MS));
}

/** The header in milliseconds: seconds, or a date. Undefined for anything else. */
export function readRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * SECOND;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}
