import { createRandom } from "../workloads/random.ts";

/* Users made from a seed, and the number of those who meet a filter, counted in the simplest way. */

const PLANS = ["free", "pro", "team"];
const COUNTRIES = ["DE", "FR", "US", "JP"];
const HOUR_MS = 3_600_000;

interface User {
  readonly plan: string;
  readonly country: string;
  readonly score: number;
  readonly email: "none" | "usable" | "unsubscribed";
  /** How many hours ago each happened. */
  readonly opened: readonly number[];
  readonly bought: readonly { readonly hours: number; readonly price: number }[];
}

export interface Model {
  readonly users: number;
  readonly now: number;
  readonly all: readonly User[];
  /** A filter, and how many users meet it. */
  randomFilter(): { readonly filter: object; readonly expected: number };
}

interface Test {
  readonly filter: object;
  meets(user: User): boolean;
}

const NOTHING: readonly never[] = [];

/**
 * How many hours from the ends of days events keep away, so that a shorter run sees the same days.
 */
const QUIET_HOURS = 4;

/** @param isActive whether users have events and purchases. */
export function createModel(users: number, now: number, isActive: boolean): Model {
  const random = createRandom(11);
  const hoursAgo = () => 24 * random.below(45) + QUIET_HOURS + random.below(25 - 2 * QUIET_HOURS);
  const pick = <One>(list: readonly One[]): One => list[random.below(list.length)] as One;
  const all = Array.from(
    { length: users },
    (): User => ({
      plan: pick(PLANS),
      country: pick(COUNTRIES),
      score: random.below(100),
      email: pick(["none", "usable", "usable", "unsubscribed"] as const),
      opened: isActive ? Array.from({ length: random.below(4) }, hoursAgo) : NOTHING,
      bought: isActive
        ? Array.from({ length: random.below(3) }, () => ({
            hours: hoursAgo(),
            price: 1 + random.below(50),
          }))
        : NOTHING,
    }),
  );

  const LEAVES: readonly (() => Test)[] = [
    () => {
      const plan = pick(PLANS);
      const filter = { custom_attribute: "plan", equals: plan };
      return { filter, meets: (user) => user.plan === plan };
    },
    () => {
      const country = pick(COUNTRIES);
      const filter = { attribute: "country", not_equals: country };
      return { filter, meets: (user) => user.country !== country };
    },
    () => {
      const score = random.below(100);
      const filter = { custom_attribute: "score", at_least: score };
      return { filter, meets: (user) => user.score >= score };
    },
    () => {
      const wanted = random.below(2) === 0;
      const filter = { email_available: wanted };
      return { filter, meets: (user) => (user.email === "usable") === wanted };
    },
    () => {
      const [times, days] = [1 + random.below(3), 1 + random.below(30)];
      const filter = { event: "opened", at_least: times, in_last_days: days };
      const recent = (hours: number) => hours <= 24 * days;
      return { filter, meets: (user) => user.opened.filter(recent).length >= times };
    },
    () => {
      const times = random.below(3);
      const filter = { purchases: "any", at_most: times };
      return { filter, meets: (user) => user.bought.length <= times };
    },
    () => {
      const [amount, days] = [1 + random.below(80), 1 + random.below(30)];
      const filter = { money_spent: "EUR", more_than: amount, in_last_days: days };
      const spent = (user: User) =>
        user.bought
          .filter(({ hours }) => hours <= 24 * days)
          .reduce((sum, { price }) => sum + price, 0);
      return { filter, meets: (user) => spent(user) > amount };
    },
  ];

  function randomTest(depth: number): Test {
    const kind = depth === 0 ? 3 : random.below(5);
    if (kind > 2) return pick(LEAVES)();
    if (kind === 2) {
      const inner = randomTest(depth - 1);
      return { filter: { not: inner.filter }, meets: (user) => !inner.meets(user) };
    }
    const parts = Array.from({ length: 2 + random.below(2) }, () => randomTest(depth - 1));
    const filters = parts.map(({ filter }) => filter);
    return kind === 0
      ? { filter: { all: filters }, meets: (user) => parts.every((each) => each.meets(user)) }
      : { filter: { any: filters }, meets: (user) => parts.some((each) => each.meets(user)) };
  }

  return {
    users,
    now,
    all,
    randomFilter() {
      const { filter, meets } = randomTest(2);
      let expected = 0;
      for (const user of all) if (meets(user)) expected += 1;
      return { filter, expected };
    },
  };
}

const attributesOf = (external_id: string, { plan, country, score, email }: User) => ({
  external_id,
  plan,
  country,
  score,
  ...(email !== "none" && { email: `${external_id}@example.com` }),
  ...(email === "unsubscribed" && { email_subscribe: "unsubscribed" }),
});

/** The lines of a file of users, without their events and purchases. */
export function* rowsOf({ all }: Model): Generator<string> {
  for (const [index, user] of all.entries()) yield JSON.stringify(attributesOf(`u${index}`, user));
}

/** Users of the model as a track request sends them. */
export function sentOf({ all, now }: Model, first: number, end: number) {
  const users = all
    .slice(first, end)
    .map((user, index) => ({ user, external_id: `u${first + index}` }));
  const timeOf = (hours: number) => new Date(now - hours * HOUR_MS).toISOString();
  return {
    attributes: users.map(({ external_id, user }) => attributesOf(external_id, user)),
    events: users.flatMap(({ external_id, user }) =>
      user.opened.map((hours) => ({ external_id, name: "opened", time: timeOf(hours) })),
    ),
    purchases: users.flatMap(({ external_id, user }) =>
      user.bought.map(({ hours, price }) => ({
        external_id,
        product_id: "tea",
        currency: "EUR",
        price,
        time: timeOf(hours),
      })),
    ),
  };
}
