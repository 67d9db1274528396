/* A module that takes a while to load, for the tests of the thread pool. */
await new Promise((resolve) => setTimeout(resolve, 600));

export const triple = (count: number): number => 3 * count;
