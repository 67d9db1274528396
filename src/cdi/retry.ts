import type { Retry } from "./integration.ts";

const LONGEST_DELAY_SECONDS = 15 * 60;

/**
 * How long to wait before a source that failed is tried again, in milliseconds: the integration's
 * delay, doubled before every further try, at most 15 minutes.
 *
 * @param failures tries that had failed before this one, since the run last got somewhere.
 * @returns undefined where it was tried as often as the integration says.
 */
export const delayBeforeNextTry = (
  { attempts, delay_seconds }: Retry,
  failures: number,
): number | undefined =>
  failures + 1 < attempts
    ? Math.min(delay_seconds * 2 ** failures, LONGEST_DELAY_SECONDS) * 1_000
    : undefined;
