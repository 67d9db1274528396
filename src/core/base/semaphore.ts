/** Lets some callers run at once; the others wait in order. */
export type Semaphore = ReturnType<typeof createSemaphore>;

/** @param most how many run at once, at most: read at each change, so it may vary. */
export function createSemaphore(most: () => number) {
  const waiting: (() => void)[] = [];
  let taken = 0;
  return {
    async take() {
      if (taken < most()) taken++;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    give() {
      taken--;
      while (taken < most() && waiting.length > 0) {
        taken++;
        waiting.shift()?.();
      }
    },
  };
}
