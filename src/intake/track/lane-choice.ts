import { evenLanes, type Lanes } from "./split-request.ts";

/**
 * Another lane is used where more than this has waited for each at a time: single requests otherwise end up in many
 * small transactions, and beginning, planning and committing one costs more than its rows (lab/NOTEBOOK.md).
 */
const ITEMS_OF_LANE = 256;

/**
 * A shard has a lane of its own where more than this has waited for each. A transaction that writes to all shards of a
 * node runs each statement once for each of them, on all rows of the batch, but begins and commits once: with 6 updates
 * for each of four shards it took 5.3 ms of the node where four transactions took 8.6, with 200 for each as much.
 */
const ITEMS_OF_SHARD = 128;

/** How long lanes stay as they are: transactions of different lanes may meet on a person. */
const PLAN_LANES_EVERY_MS = 1_000;

/** Chooses lanes once a second, by the most items that waited in that time; first as for many. */
function planEverySecond(plan: (mostItems: number) => Lanes): (waitingItems: number) => Lanes {
  let inUse = plan(Infinity);
  let mostItems = 0;
  let chosenAt = performance.now();
  return (waitingItems) => {
    mostItems = Math.max(mostItems, waitingItems);
    const now = performance.now();
    if (now - chosenAt < PLAN_LANES_EVERY_MS) return inUse;
    inUse = plan(mostItems);
    mostItems = waitingItems;
    chosenAt = now;
    return inUse;
  };
}

/** Chooses how many lanes are used. */
export function chooseLanes(most: number): (waitingItems: number) => Lanes {
  const choices = Array.from({ length: most }, (_, index) => evenLanes(index + 1));
  return planEverySecond(
    (items) => choices[Math.min(most, Math.max(1, Math.ceil(items / ITEMS_OF_LANE))) - 1] as Lanes,
  );
}

/**
 * Chooses between a lane for each shard and, while little waits, one for each node.
 *
 * @param nodes the number of the node of each bucket; undefined if that is not known.
 */
export function chooseLanesOnCluster(
  shards: number,
  nodes: () => readonly number[] | undefined,
): (waitingItems: number) => Lanes {
  const byShard = evenLanes(shards);
  return planEverySecond((items) => {
    const numbers = items <= ITEMS_OF_SHARD * shards ? nodes() : undefined;
    if (!numbers) return byShard;
    return { count: shards, of: (place) => (numbers[place] as number) % shards };
  });
}
