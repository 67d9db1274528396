import { setTimeout as sleep } from "node:timers/promises";

/** First. What takes long is looked at less and less often: each look may be a request, and ten wait at the same time. */
const LOOK_AFTER_MS = 10;
const LOOK_EVERY_MS = 250;

/** The machine may be busy: how soon something has to come about is asserted in test/limits alone. */
const GIVE_UP_AFTER_MS = 60_000;

type Falsy = undefined | null | false | 0 | "";

/**
 * Looks until it finds something, which is anything but a falsy value.
 *
 * @param what for the error: by default the code of `look`.
 * @returns what it found.
 */
export async function until<Found>(
  look: () => Found | Promise<Found>,
  what = String(look),
): Promise<Exclude<Found, Falsy>> {
  const begunAt = performance.now();
  for (;;) {
    const found = await look();
    if (found) return found as Exclude<Found, Falsy>;
    const waitedMs = performance.now() - begunAt;
    if (waitedMs > GIVE_UP_AFTER_MS) throw new Error(`It does not come about: ${what}`);
    await sleep(Math.min(LOOK_EVERY_MS, Math.max(LOOK_AFTER_MS, waitedMs / 10)));
  }
}
