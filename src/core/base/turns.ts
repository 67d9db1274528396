/*
 * Work of more than a few milliseconds that cannot run on a thread lets the event loop get to everything else
 * between its parts.
 */

/** Lets everything else that waits run first. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** How many rows of one statement come in a turn: more take the event loop for tens of milliseconds. */
const SLICE = 2_000;

/** Whether a list is long enough for its work to be split over several turns. */
export const isSliced = ({ length }: readonly unknown[]): boolean => length > SLICE;

/** Lets others run after something was done with every entry of a list, if that took long. */
export const afterAll = async (list: readonly unknown[]): Promise<void> => {
  if (isSliced(list)) await nextTurn();
};

/**
 * Runs a statement for slices of a list, one after the other, and lets others run in between.
 *
 * @returns what all of them returned, in their order.
 */
export async function inSlices<Item, Row>(
  items: readonly Item[],
  run: (slice: readonly Item[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  if (!isSliced(items)) return [...(await run(items))];
  const rows: Row[] = [];
  for (let from = 0; from < items.length; from += SLICE) {
    for (const row of await run(items.slice(from, from + SLICE))) rows.push(row);
    await nextTurn();
  }
  return rows;
}

export type Turns = ReturnType<typeof startTurns>;

/** Others wait no longer than this, and the part of the work that is under way. */
const TURN_MS = 10;

/** Begins work that is done in turns: between two of its parts `if (turns.isOver()) await turns.next()`. */
export function startTurns(mostMs = TURN_MS) {
  let startedAt = performance.now();
  return {
    /** Whether others have waited long enough: then call `next`. */
    isOver: () => performance.now() - startedAt >= mostMs,
    async next() {
      await nextTurn();
      startedAt = performance.now();
    },
  };
}
