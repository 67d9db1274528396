import type { SettableClock } from "../base/clock.ts";
import type { Database } from "./database.ts";

/*
 * Servers that share a database share its clock: leases, windows, sessions and schedules that one of them writes
 * are compared with the time of another (decision: docs/decisions/clocks.md).
 */

/** The database's clock and the monotonic one drift apart by less than a millisecond a minute. */
const ASK_EVERY_MS = 30_000;

/** How often this machine's clock is looked at. */
const LOOK_EVERY_MS = 500;

/** If the two clocks of this machine differ by more than before, one was set, or the machine was suspended. */
const JUMP_MS = 250;

/** An answer that took longer says too little about the time. */
const LONGEST_ROUND_TRIP_MS = 1_000;

/**
 * Sets the clock by the database's, now and from time to time: at once after this machine's clock has jumped. While
 * the database does not respond, the clock runs on.
 *
 * @returns what ends that.
 * @throws if the database does not respond the first time.
 */
export async function followDatabaseClock(
  database: Database,
  clock: SettableClock,
): Promise<() => void> {
  const wallAhead = () => Date.now() - clock.elapsedMs();
  let usualAhead = wallAhead();
  let askedAt = clock.elapsedMs();
  let isAsking = false;

  async function ask(): Promise<void> {
    const startedAt = clock.elapsedMs();
    usualAhead = wallAhead();
    askedAt = startedAt;
    const [row] = await database.query<{ at: Date }>("select clock_timestamp() as at");
    const tookMs = clock.elapsedMs() - startedAt;
    const now = (row as { at: Date }).at.getTime() + tookMs / 2;
    // The response is from some moment of the round trip: a smaller difference may be none.
    const isOff = Math.abs(now - clock.now().getTime()) > tookMs / 2 + 1;
    if (isOff && tookMs <= LONGEST_ROUND_TRIP_MS) clock.set(new Date(now));
  }

  async function look(): Promise<void> {
    const hasJumped = Math.abs(wallAhead() - usualAhead) > JUMP_MS;
    if (isAsking || !(hasJumped || clock.elapsedMs() - askedAt >= ASK_EVERY_MS)) return;
    isAsking = true;
    await ask().catch(() => {});
    isAsking = false;
  }

  clock.set(clock.now());
  await ask();
  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref();
  return () => clearInterval(timer);
}
