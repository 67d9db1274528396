/** The sum of the numbers of all slots. */
export const total = (counts: readonly number[]): number =>
  counts.reduce((sum, count) => sum + count, 0);

/** The latest number that is there. */
export const lastOf = (values: readonly (number | null)[]): number | null =>
  values.findLast((value) => value !== null) ?? null;
