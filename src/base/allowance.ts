import { LRUCache } from "lru-cache";

/** Counts what each of many names does, and lets it do so much a minute. */
export interface Allowance {
  /**
   * Takes one of a name's allowance.
   *
   * @returns 0 where it had one left, or after how many seconds it has.
   */
  take(name: string, perMinute: number): number;
  /** The same without taking one. */
  wait(name: string, perMinute: number): number;
}

/** How much of its allowance a name has left, and as of when. */
interface Counter {
  readonly left: number;
  readonly atMs: number;
}

/**
 * Counts in this process alone. An unused allowance fills up within a minute, so a burst may be as large as it.
 *
 * @param mostNames how many names are counted; the one that was unused longest is forgotten first. About 100 bytes each.
 * @param nowMs a clock that never goes back, so that a clock jump locks out no name.
 */
export function createAllowance(mostNames: number, nowMs = () => performance.now()): Allowance {
  const counters = new LRUCache<string, Counter>({ max: mostNames });
  function leftOf(name: string, perMinute: number, atMs: number): number {
    const known = counters.get(name) ?? { left: perMinute, atMs };
    return Math.min(perMinute, known.left + ((atMs - known.atMs) * perMinute) / 60_000);
  }
  const secondsFor = (left: number, perMinute: number): number =>
    left < 1 ? Math.ceil(((1 - left) * 60) / perMinute) : 0;
  return {
    take(name, perMinute) {
      const atMs = nowMs();
      const left = leftOf(name, perMinute, atMs);
      counters.set(name, { left: left < 1 ? left : left - 1, atMs });
      return secondsFor(left, perMinute);
    },
    wait: (name, perMinute) => secondsFor(leftOf(name, perMinute, nowMs()), perMinute),
  };
}
