/**
 * Another lane is used where more than this has waited for each at a time: single requests otherwise end up in many
 * small transactions, and beginning, planning and committing one costs more than its rows (docs/performance.md).
 */
const ITEMS_OF_LANE = 256;

/** How long a number of lanes stays: transactions of different numbers may meet on a person. */
const PLAN_LANES_EVERY_MS = 1_000;

/** Chooses how many lanes are used, once a second, by the most items that waited in that time. */
export function createLaneChoice(most: number): (waitingItems: number) => number {
  let inUse = most;
  let mostItems = 0;
  let chosenAt = performance.now();
  return (waitingItems) => {
    mostItems = Math.max(mostItems, waitingItems);
    const now = performance.now();
    if (now - chosenAt < PLAN_LANES_EVERY_MS) return inUse;
    inUse = Math.min(most, Math.max(1, Math.ceil(mostItems / ITEMS_OF_LANE)));
    mostItems = waitingItems;
    chosenAt = now;
    return inUse;
  };
}
