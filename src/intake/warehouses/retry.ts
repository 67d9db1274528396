import type { Retry } from "./integration.ts";

const LONGEST_DELAY_SECONDS = 15 * 60;

/**
 * The delay before a failed source is retried, in milliseconds: the integration's delay, doubled
 * for each further attempt, at most 15 minutes.
 *
 * @param failures failed attempts before this one, since the run last committed rows.
 * @returns undefined when the attempts of the integration are used up.
 */
export const delayBeforeNextTry = (
  { attempts, delay_seconds }: Retry,
  failures: number,
): number | undefined =>
  failures + 1 < attempts
    ? Math.min(delay_seconds * 2 ** failures, LONGEST_DELAY_SECONDS) * 1_000
    : undefined;
