import assert from "node:assert/strict";

/**
 * A time that the server wrote is about a time of this process, by default now. On PostgreSQL the server's clock is the
 * database's, which it knows to some milliseconds: the two cannot be put in an order.
 */
export function assertAbout(written: string, expected: number = Date.now()): void {
  assert.ok(Math.abs(Date.parse(written) - expected) < 30_000, written);
}
