import type { Clock } from "../../base/clock.ts";
import { later } from "../../base/clock.ts";

/*
 * Counts requests in windows that several server processes share (decision: docs/decisions/rate-limits.md).
 *
 * A process leases a slice of the window and accepts requests against it, without a query for each. All
 * slices together never exceed the limit. A slice covers about a tenth of a second of the present load and
 * shrinks to single requests as the window fills, so that little is lost in processes that fall idle.
 */

/** A number of requests in a number of seconds, counted under a name. */
export interface Limit {
  readonly name: string;
  readonly requests: number;
  readonly perSeconds: number;
}

/** What a process got of a window. */
export interface Grant {
  /** How many requests it may accept now. */
  readonly granted: number;
  /** How many are given out in this window so far, to all processes, these included. */
  readonly given: number;
  readonly endsAt: Date;
}

/** Gives out requests of a window; begins a new one where the last has ended by `now`. */
export type Lender = (limit: Limit, wanted: number, now: Date) => Promise<Grant>;

/** A slice is at most this part of what is left in the window. */
export const SHARES_OF_A_WINDOW = 20;

/** For how long a slice should last. */
const SLICE_LASTS_MS = 100;

/** From this size on, the next slice is fetched before the last one is used up. */
const SLICE_WORTH_PREPARING = 8;

export interface LimitState {
  readonly isTaken: boolean;
  /** How many more this process knows to be left in the window; others may have taken some since. */
  readonly remaining: number;
  readonly endsAt: Date;
}

/** What a process holds of one window. */
interface Holding {
  /** Requests that it may accept without asking. */
  held: number;
  /** What it got last. */
  granted: number;
  /** How many are given out in the window, to all processes. */
  given: number;
  endsAt: number;
  /** How many it leases the next time. */
  slice: number;
  slicedAt: number;
  /** How many it has accepted since then. */
  used: number;
  /** Requests that wait for the next slice. */
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
        const now = clock.now();
        adaptSlice(holding, limit, now.getTime());
        const wanted = Math.max(holding.slice, holding.waiting);
        const { granted, given, endsAt } = await lend(limit, wanted, now);
        const isNewWindow = endsAt.getTime() !== holding.endsAt;
        holding.held = granted + (isNewWindow ? 0 : holding.held);
        holding.granted = granted;
        holding.given = given;
        holding.endsAt = endsAt.getTime();
      } finally {
        holding.asking = undefined;
      }
    })();
    return holding.asking;
  }

  return async function take(limit) {
    const holding = holdings.get(limit.name) ?? newHolding(holdings, limit.name);
    for (;;) {
      const isOpen = isRunning(holding.endsAt, limit, clock.now().getTime());
      if (isOpen && holding.held > 0) {
        holding.held--;
        holding.used++;
        if (needsMoreSoon(holding, limit)) void ask(limit, holding).catch(() => {});
        return stateOf(holding, limit, true);
      }
      if (isOpen && holding.given >= limit.requests) return stateOf(holding, limit, false);
      holding.waiting++;
      await ask(limit, holding).finally(() => holding.waiting--);
    }
  };
}

/**
 * Whether a window that ends then is the current one. One that ends further away than its length began
 * while the clock ran ahead: it is leased again and shortened.
 */
const isRunning = (endsAt: number, { perSeconds }: Limit, now: number): boolean =>
  now < endsAt && endsAt - now <= perSeconds * 1_000;

function newHolding(holdings: Map<string, Holding>, name: string): Holding {
  const holding: Holding = {
    held: 0,
    granted: 0,
    given: 0,
    endsAt: 0,
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

const stateOf = (holding: Holding, limit: Limit, isTaken: boolean): LimitState => ({
  isTaken,
  remaining: Math.max(0, limit.requests - holding.given + holding.held),
  endsAt: new Date(holding.endsAt),
});

/** Leases the whole window to the only process. */
export function lendToOneProcess(): Lender {
  const windows = new Map<string, { given: number; endsAt: Date }>();
  return async ({ name, requests, perSeconds }, _wanted, now) => {
    const known = windows.get(name);
    const latestEnd = later(now, { seconds: perSeconds });
    const window = known && known.endsAt > now ? known : { given: 0, endsAt: latestEnd };
    if (window.endsAt > latestEnd) window.endsAt = latestEnd;
    const granted = Math.max(0, requests - window.given);
    window.given += granted;
    windows.set(name, window);
    return { granted, given: window.given, endsAt: window.endsAt };
  };
}
