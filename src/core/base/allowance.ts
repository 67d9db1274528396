import { LRUCache } from "lru-cache";

/** Counts the actions of each of many names, and allows each so many a minute. */
export type Allowance = ReturnType<typeof createAllowance>;

/** How much of its allowance a name has left, and as of when. */
interface Counter {
  readonly left: number;
  readonly atMs: number;
}

/**
 * Counts only in this process. An unused allowance fills up within a minute, so a burst may be as
 * large as it.
 *
 * @param mostNames how many names are counted; the least recently used one is forgotten first.
 * About 100 bytes each.
 * @param nowMs a clock that never goes back, so that a clock jump locks out no name.
 */
export function createAllowance(mostNames: number, nowMs = () => performance.now()) {
  const counters = new LRUCache<string, Counter>({ max: mostNames });
  function leftOf(name: string, perMinute: number, atMs: number): number {
    const known = counters.get(name) ?? { left: perMinute, atMs };
    return Math.min(perMinute, known.left + ((atMs - known.atMs) * perMinute) / 60_000);
  }
  const secondsFor = (left: number, perMinute: number): number =>
    left < 1 ? Math.ceil(((1 - left) * 60) / perMinute) : 0;
  return {
    /**
     * Takes one of a name's allowance.
     *
     * @returns 0 if it had one left, otherwise the seconds until it has one.
     */
    take(name: string, perMinute: number) {
      const atMs = nowMs();
      const left = leftOf(name, perMinute, atMs);
      counters.set(name, { left: left < 1 ? left : left - 1, atMs });
      return secondsFor(left, perMinute);
    },
    /** The same without taking one. */
    wait: (name: string, perMinute: number) =>
      secondsFor(leftOf(name, perMinute, nowMs()), perMinute),
    /** Gives a name its whole allowance back. */
    forget: (name: string) => void counters.delete(name),
  };
}
