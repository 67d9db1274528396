import { setTimeout as sleep } from "node:timers/promises";

const LOOK_EVERY_MS = 10;

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
  const giveUpAt = performance.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    const found = await look();
    if (found) return found as Exclude<Found, Falsy>;
    if (performance.now() > giveUpAt) throw new Error(`It does not come about: ${what}`);
    await sleep(LOOK_EVERY_MS);
  }
}
