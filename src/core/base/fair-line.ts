export type FairLine = ReturnType<typeof createFairLine>;

interface Limits {
  /** Pieces of work that run at the same time, two at least; one owner never has all of them. */
  readonly places: number;
  /** Pieces of work of one owner that wait. */
  readonly mostWaiting: number;
  readonly refusal: () => Error;
}

/**
 * A line for expensive work in which owners take turns: each gets one piece started before any gets
 * its next one, regardless of how many are in line.
 */
export function createFairLine({ places, mostWaiting, refusal }: Limits) {
  // A map keeps the order of insertion, which is the order of turns.
  const lines = new Map<number | string, (() => Promise<void>)[]>();
  const running = new Map<number | string, number>();
  let busy = 0;

  const countOf = (owner: number | string) => running.get(owner) ?? 0;

  function takeNext() {
    for (const [owner, line] of lines) {
      if (countOf(owner) >= places - 1) continue;
      const start = line.shift();
      lines.delete(owner);
      if (line.length > 0) lines.set(owner, line);
      if (start) return { owner, start };
    }
    return undefined;
  }

  function startNext(): void {
    while (busy < places) {
      const next = takeNext();
      if (!next) return;
      const { owner, start } = next;
      busy++;
      running.set(owner, countOf(owner) + 1);
      void start().finally(() => {
        busy--;
        if (countOf(owner) > 1) running.set(owner, countOf(owner) - 1);
        else running.delete(owner);
        startNext();
      });
    }
  }

  return {
    /** Runs work on behalf of an owner once there is a place. @throws the refusal if the owner's line is full. */
    run: <Result>(owner: number | string, work: () => Promise<Result>) =>
      new Promise<Result>((resolve, reject) => {
        const line = lines.get(owner) ?? [];
        if (line.length >= mostWaiting) return reject(refusal());
        line.push(() => work().then(resolve, reject));
        lines.set(owner, line);
        startNext();
      }),
  };
}
