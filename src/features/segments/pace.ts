/*
 * A walk through many users looks at a slice of them at a time, each in its own transaction: others wait for one slice
 * at most, however much each user's conditions cost.
 */

/** How long a slice should take: on an engine of one connection others wait that long. */
export const SLICE_MS = 50;
/** Of a walk that takes minutes, while others wait. */
export const TURN_MS = 20;

/** The first slice has fewer users if a filter has many conditions. */
const MOST_FIRST = 1_000;
const FIRST_CONDITIONS = 20_000;
/** Each statement takes some time for itself, so that fewer users would only make the walk longer. */
const FEWEST = 400;
const MOST = 50_000;
const MOST_GROWTH = 4;

export type Pace = ReturnType<typeof createPace>;

/** @param conditions how many are decided about each user. */
export function createPace(conditions: number) {
  const first = Math.min(MOST_FIRST, Math.ceil(FIRST_CONDITIONS / Math.max(1, conditions)));
  let size = Math.max(FEWEST, first);
  return {
    size: () => size,
    /** Tells how long the last slice took. */
    took(ms: number, targetMs: number) {
      const wanted = (size * targetMs) / Math.max(1, ms);
      size = Math.round(Math.min(MOST, MOST_GROWTH * size, Math.max(FEWEST, wanted)));
    },
  };
}
