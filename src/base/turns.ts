/*
 * Work of more than a few milliseconds that cannot run on a thread lets the event loop get to everything else
 * between its parts.
 */

/** Lets everything else that waits run first. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export interface Turns {
  /** Whether others have waited long enough: then call `next`. */
  isOver(): boolean;
  next(): Promise<void>;
}

/** Others wait no longer than this, and the part of the work that is under way. */
const TURN_MS = 10;

/** Begins work that is done in turns: between two of its parts `if (turns.isOver()) await turns.next()`. */
export function startTurns(mostMs = TURN_MS): Turns {
  let startedAt = performance.now();
  return {
    isOver: () => performance.now() - startedAt >= mostMs,
    async next() {
      await nextTurn();
      startedAt = performance.now();
    },
  };
}
