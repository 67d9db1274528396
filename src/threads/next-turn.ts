/**
 * Lets the event loop get to everything else that waits. Work of more than a few milliseconds that cannot run on a
 * thread does this between its parts.
 */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
