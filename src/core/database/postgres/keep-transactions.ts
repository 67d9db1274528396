/*
 * A process that is paused in the middle of a transaction keeps its locks, and all other servers wait for them. PostgreSQL
 * therefore ends a transaction that has sent nothing for two seconds, and a process that runs sends something while it
 * computes.
 */

/** How long a transaction may be silent, in milliseconds. */
export const FROZEN_MS = 2_000;

const TICK_MS = 500;

/** Lets transactions live that are computing. */
export type Keeper = ReturnType<typeof createKeeper>;

interface Transaction {
  readonly send: () => PromiseLike<unknown>;
  readonly idleMs: number;
  hasSent: boolean;
  silentTicks: number;
  isAsking: boolean;
}

export function createKeeper() {
  const running = new Set<Transaction>();
  let tickedAt = performance.now();
  let frozenAt = -Infinity;

  /** After a pause this may run before or after the connections are read. */
  function measure(): void {
    const now = performance.now();
    if (now - tickedAt > FROZEN_MS - TICK_MS) frozenAt = now;
  }

  const timer = setInterval(() => {
    measure();
    tickedAt = performance.now();
    for (const each of running) {
      each.silentTicks = each.hasSent ? 0 : each.silentTicks + 1;
      each.hasSent = false;
      const isDue = each.silentTicks > 0 && each.silentTicks * TICK_MS < each.idleMs;
      if (isDue && !each.isAsking) ask(each);
    }
  }, TICK_MS).unref();

  return {
    /**
     * Keeps a transaction alive until it ends, or has sent no statement for `idleMs`.
     *
     * @param send sends any statement.
     */
    keep(idleMs: number, send: () => PromiseLike<unknown>) {
      const begunAt = performance.now();
      const own = { send, idleMs, hasSent: true, silentTicks: 0, isAsking: false };
      running.add(own);
      return {
        /** A statement was sent. */
        note() {
          own.hasSent = true;
        },
        end: () => void running.delete(own),
        /** Whether this process was paused since the transaction began, for so long that it may have been ended. */
        wasFrozen() {
          measure();
          return frozenAt > begunAt;
        },
      };
    },
    stop: () => clearInterval(timer),
  };
}

/** If the transaction fails, its own statements say why. */
function ask(each: Transaction): void {
  each.isAsking = true;
  const done = () => {
    each.isAsking = false;
  };
  each.send().then(done, done);
}
