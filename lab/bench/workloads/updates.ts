import type { Random } from "./random.ts";

/*
 * The contents of an update. Half of all updates are attributes, half are events, each for a
 * randomly drawn user whom the server already knows. Nothing here has to be read before it is
 * written.
 */

export const EVENT_NAMES = Array.from({ length: 10 }, (_, index) => `event_${index}`);

const PLANS = ["free", "pro", "team"];

/** The same days for every run, all of them in the past. */
const FIRST_DAY = Date.UTC(2026, 0, 1);
const DAYS_MS = 28 * 24 * 3_600 * 1_000;

/** The attributes of an attributes object: one standard attribute and three custom ones. */
export const attributesOf = (random: Random) => ({
  standard: { home_city: `Town ${random.below(200)}` },
  custom: {
    plan: PLANS[random.below(PLANS.length)],
    score: random.below(1_000),
    last_page: `/products/${random.below(5_000)}`,
  },
});

export const eventOf = (random: Random) => ({
  name: EVENT_NAMES[random.below(EVENT_NAMES.length)] as string,
  at: FIRST_DAY + random.below(DAYS_MS),
  properties: {
    sku: `SKU-${random.below(1_000)}`,
    price: random.below(10_000) / 100,
    channel: "web",
  },
});
