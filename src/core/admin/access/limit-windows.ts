import type { Clock } from "../../base/clock.ts";

/*
 * Counts requests in windows that several server processes share (decision: docs/decisions/rate-limits.md).
 *
 * A process leases a slice of the window and accepts requests against it, without a query for each. All
 * slices together never exceed the limit. A slice covers about a tenth of a second of the present load and
 * shrinks to single requests as the window fills, so that little is lost in processes that fall idle.
 *
 * A window that a process knows of ends after a duration, on the clock that never jumps.
 */

/** A number of requests in a number of seconds, counted under a name. */
export interface Limit {
  readonly name: string;
  readonly requests: number;
  readonly perSeconds: number;
}

export interface Grant {
  /** How many requests it may accept now. */
  readonly granted: number;
  /** How many are given out in this window so far, to all processes, these included. */
  readonly given: number;
  /** Identifies the window: equal in all its grants. */
  readonly window: number;
  /** How long the window still lasts, at most its length. */
  readonly endsInMs: number;
}

/** Gives out requests of a window; begins a new one if the last has ended. */
export type Lender = (limit: Limit, wanted: number) => Promise<Grant>;

/** A slice is at most this part of the rest of the window. */
export const SHARES_OF_A_WINDOW = 20;

/** For how long a slice should last. */
const SLICE_LASTS_MS = 100;

/** Slices of at least this size are replaced before they are used up. */
const SLICE_WORTH_PREPARING = 8;

export interface LimitState {
  readonly isTaken: boolean;
  /** How many more this process knows to be left in the window; others may have taken some since. */
  readonly remaining: number;
  readonly endsInMs: number;
}

/** The share of one window that a process holds. */
interface Holding {
  /** Requests that it may accept without asking. */
  held: number;
  /** The share that it got last. */
  granted: number;
  /** How many are given out in the window, to all processes. */
  given: number;
  window: number;
  /** On the monotonic clock, as the other times here. */
  endsAt: number;
  /** How many it leases the next time. */
  slice: number;
  slicedAt: number;
  /** How many it has accepted since then. */
  used: number;
  waiting: number;
  asking: Promise<void> | undefined;
}

/** Takes one request out of a limit's window. */
export function createLimitWindows(
  lend: Lender,
  clock: Clock,
): (limit: Limit) => Promise<LimitState> {
  const holdings = new Map<string, Holding>();

  /** Leases a slice; requests that need one meanwhile wait for the same lease. */
  function ask(limit: Limit, holding: Holding): Promise<void> {
    holding.asking ??= (async () => {
      try {
        const now = clock.elapsedMs();
        adaptSlice(holding, limit, now);
        const wanted = Math.max(holding.slice, holding.waiting);
        const { granted, given, window, endsInMs } = await lend(limit, wanted);
        const isNewWindow = window !== holding.window;
        holding.held = granted + (isNewWindow ? 0 : holding.held);
        holding.granted = granted;
        holding.given = given;
        holding.window = window;
        holding.endsAt = now + endsInMs;
      } finally {
        holding.asking = undefined;
      }
    })();
    return holding.asking;
  }

  return async function take(limit) {
    const holding = holdings.get(limit.name) ?? newHolding(holdings, limit.name);
    for (;;) {
      const endsInMs = holding.endsAt - clock.elapsedMs();
      const isOpen = endsInMs > 0;
      if (isOpen && holding.held > 0) {
        holding.held--;
        holding.used++;
        if (needsMoreSoon(holding, limit)) void ask(limit, holding).catch(() => {});
        return stateOf(holding, limit, endsInMs, true);
      }
      if (isOpen && holding.given >= limit.requests)
        return stateOf(holding, limit, endsInMs, false);
      holding.waiting++;
      await ask(limit, holding).finally(() => holding.waiting--);
    }
  };
}

function newHolding(holdings: Map<string, Holding>, name: string): Holding {
  const holding: Holding = {
    held: 0,
    granted: 0,
    given: 0,
    window: Number.NaN,
    endsAt: Number.NEGATIVE_INFINITY,
    slice: 1,
    slicedAt: 0,
    used: 0,
    waiting: 0,
    asking: undefined,
  };
  holdings.set(name, holding);
  return holding;
}

/** Follows the load, at most doubling at a time: one quick pair of requests is no load yet. */
function adaptSlice(holding: Holding, limit: Limit, now: number): void {
  const lasted = Math.max(1, now - holding.slicedAt);
  const needed = Math.ceil((holding.used * SLICE_LASTS_MS) / lasted);
  holding.slice = Math.max(1, Math.min(needed, 2 * holding.slice, limit.requests));
  holding.slicedAt = now;
  holding.used = 0;
}

const needsMoreSoon = ({ held, granted, given }: Holding, limit: Limit): boolean =>
  granted >= SLICE_WORTH_PREPARING && held < granted / 4 && given < limit.requests;

const stateOf = (
  { given, held }: Holding,
  { requests }: Limit,
  endsInMs: number,
  isTaken: boolean,
): LimitState => ({ isTaken, remaining: Math.max(0, requests - given + held), endsInMs });

/** Leases the whole window to the only process. */
export function lendToOneProcess(clock: Clock): Lender {
  const windows = new Map<string, { given: number; endsAt: number }>();
  return async ({ name, requests, perSeconds }) => {
    const now = clock.elapsedMs();
    const known = windows.get(name);
    const window =
      known && known.endsAt > now ? known : { given: 0, endsAt: now + perSeconds * 1_000 };
    const granted = Math.max(0, requests - window.given);
    window.given += granted;
    windows.set(name, window);
    const { given, endsAt } = window;
    return { granted, given, window: endsAt, endsInMs: endsAt - now };
  };
}
