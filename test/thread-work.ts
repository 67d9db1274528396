/* What the tests of the thread pool run on threads. */

export const double = (count: number): number => 2 * count;

export function spin(): never {
  for (;;);
}

export function fillMemory(): never {
  const all: object[] = [];
  for (;;) all.push(new Array(100_000).fill(all.length));
}

export function fail(): never {
  throw new TypeError("No such thing.");
}

/** Holds its thread. @returns when it ended, in milliseconds. */
export function holdFor(ms: number): number {
  const until = Date.now() + ms;
  while (Date.now() < until);
  return Date.now();
}
