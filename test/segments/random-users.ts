import fc from "fast-check";
import { NEWSLETTER, WEB_APP } from "../harness.ts";

/*
 * Random users and random filters for them, and a naive reading of a filter: it looks at the sent
 * data, in the simplest way, and shares no code with the product.
 */

const DAY_MS = 86_400_000;

/** A user as sent. Times are milliseconds since the epoch. */
export interface SentUser {
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly emailState: string | undefined;
  readonly groupState: string | undefined;
  readonly hasBounced: boolean;
  readonly events: readonly { name: string; at: number; properties: Record<string, unknown> }[];
  readonly purchases: readonly {
    product: string;
    currency: string;
    /** Hundredths. */
    cents: number;
    quantity: number;
    at: number;
  }[];
  readonly sessions: { count: number; first: number; last: number } | undefined;
}

/** All times of a run are at least minutes from the ends of days counted back from now. */
export const timesAround = (now: number) => {
  const at = fc
    .integer({ min: 1, max: 45 * 24 })
    .map((hours) => now - hours * 3_600_000 + 1_800_000);
  const attribute = fc.oneof(
    fc.constantFrom("pro", "free", "Pro", "10", "12/31/2025", "not a time", "2025-02-30"),
    fc.constantFrom(0, 1, 10, -2.5, 1e15, 0.1),
    fc.boolean(),
    fc.array(fc.constantFrom<string | number>("a", "b", 1), { maxLength: 3 }),
    at.map((time) => new Date(time).toISOString()),
    at.map((time) => new Date(time).toISOString().slice(0, 10)),
    at.map((time) => new Date(time).toISOString().replace("T", " ").replace(/\..*/, " +0000")),
    fc.record({ city: fc.constantFrom("Berlin", "Paris"), deep: fc.record({ n: fc.nat(3) }) }),
    at.map((time) => ({ $time: new Date(time).toISOString() })),
  );
  return { at, attribute };
};

export function userArbitrary(now: number, index: number): fc.Arbitrary<SentUser> {
  const { at, attribute } = timesAround(now);
  const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined });
  return fc.record({
    name: fc.constant(`user-${index}`),
    attributes: fc
      .record({
        country: maybe(fc.constantFrom("DE", "FR", "US")),
        first_name: maybe(fc.constantFrom("Ada", "Bob", "ada")),
        email: maybe(fc.constant(`User${index}@Example.com`)),
        dob: maybe(fc.constantFrom("1990-12-31", "2000-02-29", "1970-01-01")),
        x: maybe(attribute),
        y: maybe(attribute),
      })
      .map((given) => JSON.parse(JSON.stringify(given)) as Record<string, unknown>),
    emailState: maybe(fc.constantFrom("opted_in", "subscribed", "unsubscribed")),
    groupState: maybe(fc.constantFrom("subscribed", "unsubscribed")),
    hasBounced: fc.boolean(),
    events: fc.array(
      fc.record({
        name: fc.constantFrom("opened", "closed"),
        at,
        properties: fc.record({ page: fc.constantFrom("home", "shop"), n: fc.nat(3) }),
      }),
      { maxLength: 6 },
    ),
    purchases: fc.array(
      fc.record({
        product: fc.constantFrom("tea", "cup"),
        currency: fc.constantFrom("EUR", "USD"),
        cents: fc.integer({ min: -500, max: 2_000 }),
        quantity: fc.integer({ min: 1, max: 3 }),
        at,
      }),
      { maxLength: 4 },
    ),
    sessions: maybe(
      fc.tuple(fc.integer({ min: 1, max: 9 }), at, at).map(([count, one, other]) => ({
        count,
        first: Math.min(one, other),
        last: Math.max(one, other),
      })),
    ),
  });
}

type Given = Readonly<Record<string, any>>;

/** Random filters, every subject and comparator among them. */
export function filterArbitrary(now: number): fc.Arbitrary<Given> {
  const scalar = fc.constantFrom<string | number | boolean>(
    "pro",
    "free",
    "10",
    10,
    0,
    -2.5,
    true,
    false,
    "DE",
    "Ada",
    "a",
    1,
    0.1,
  );
  const time = fc
    .integer({ min: -2, max: 50 * 24 })
    .map((hours) => new Date(now - hours * 3_600_000).toISOString());
  const days = fc.integer({ min: 1, max: 40 });
  const timeTest = fc.oneof(
    time.map((before) => ({ before })),
    time.map((after) => ({ after })),
    days.map((in_last_days) => ({ in_last_days })),
    days.map((more_than_days_ago) => ({ more_than_days_ago })),
    days.map((in_next_days) => ({ in_next_days })),
    fc
      .constantFrom("12-31", "02-29", new Date(now).toISOString().slice(5, 10))
      .map((day_of_year) => ({ day_of_year })),
  );
  const numberTest = fc
    .tuple(
      fc.constantFrom("more_than", "at_least", "less_than", "at_most"),
      fc.constantFrom(-2.5, 0, 0.1, 1, 10),
    )
    .map(([name, operand]) => ({ [name]: operand }));
  const scalarTest = fc.oneof(
    scalar.map((equals) => ({ equals })),
    scalar.map((not_equals) => ({ not_equals })),
    fc.array(scalar, { minLength: 1, maxLength: 4 }).map((one_of) => ({ one_of })),
    fc.array(scalar, { minLength: 1, maxLength: 4 }).map((none_of) => ({ none_of })),
    fc.boolean().map((exists) => ({ exists })),
  );
  const textTest = fc.oneof(
    fc.constantFrom("A", "d", "pro", "1").map((contains) => ({ contains })),
    fc.constantFrom("A", "b", "user1").map((starts_with) => ({ starts_with })),
  );
  const listTest = fc.oneof(
    scalar.map((includes) => ({ includes })),
    fc.array(scalar, { minLength: 1, maxLength: 3 }).map((includes_any) => ({ includes_any })),
    fc.array(scalar, { minLength: 1, maxLength: 3 }).map((includes_all) => ({ includes_all })),
  );
  const anyTest = fc.oneof(scalarTest, textTest, numberTest, timeTest, listTest);
  const counts = fc
    .tuple(fc.constantFrom("at_least", "at_most", "exactly"), fc.nat(5))
    .map(([name, operand]) => ({ [name]: operand }));
  const recent = fc.option(
    fc.integer({ min: 1, max: 30 }).map((in_last_days) => ({ in_last_days })),
    { nil: {} },
  );
  const firstOrLast = fc
    .tuple(fc.constantFrom("first", "last"), timeTest)
    .map(([name, test]) => ({ [name]: test }));
  const where = fc.option(
    fc.oneof(
      fc.constantFrom("home", "shop").map((equals) => ({ where: { property: "page", equals } })),
      numberTest.map((test) => ({ where: { property: "n", ...test } })),
    ),
    { nil: {} },
  );
  const leaf: fc.Arbitrary<Given> = fc.oneof(
    fc
      .tuple(
        fc.constantFrom("country", "first_name", "external_id", "email"),
        fc.oneof(scalarTest, textTest),
      )
      .map(([attribute, test]) => ({ attribute, ...test })),
    timeTest.map((test) => ({ attribute: "dob", ...test })),
    fc
      .tuple(fc.constantFrom("x", "y", "x.city", "x.deep.n", "y.city"), anyTest)
      .map(([custom_attribute, test]) => ({ custom_attribute, ...test })),
    fc
      .tuple(fc.constantFrom("opened", "closed", "never"), counts, recent, where)
      .map(([event, count, period, condition]) => ({ event, ...count, ...period, ...condition })),
    fc
      .tuple(fc.constantFrom("opened", "closed"), firstOrLast)
      .map(([event, test]) => ({ event, ...test })),
    fc
      .tuple(fc.constantFrom("any", "tea", "cup"), counts, recent)
      .map(([purchases, count, period]) => ({ purchases, ...count, ...period })),
    fc
      .tuple(fc.constantFrom("any", "tea"), firstOrLast)
      .map(([purchases, test]) => ({ purchases, ...test })),
    fc
      .tuple(fc.constantFrom("any", "EUR", "USD"), numberTest, recent)
      .map(([money_spent, test, period]) => ({ money_spent, ...test, ...period })),
    fc
      .tuple(fc.constantFrom("any", WEB_APP), fc.oneof(counts, firstOrLast))
      .map(([sessions, test]) => ({ sessions, ...test })),
    fc
      .constantFrom("subscribed", "unsubscribed", "unknown")
      .map((is) => ({ subscription_group: NEWSLETTER, is })),
    fc
      .constantFrom("opted_in", "subscribed", "unsubscribed")
      .map((email_subscription) => ({ email_subscription })),
    fc.boolean().map((email_available) => ({ email_available })),
    fc.constantFrom("web", "ios").map((device) => ({ device })),
  );
  return fc.letrec<{ filter: Given }>((tie) => ({
    filter: fc.oneof(
      { depthSize: "small", maxDepth: 3 },
      leaf,
      fc.array(tie("filter"), { minLength: 1, maxLength: 3 }).map((all) => ({ all })),
      fc.array(tie("filter"), { minLength: 1, maxLength: 3 }).map((any) => ({ any })),
      tie("filter").map((not) => ({ not })),
    ),
  })).filter;
}

/** Whether a user meets a filter, read naively. */
export function meets(filter: Given, user: SentUser, now: number): boolean {
  if (filter.all) return filter.all.every((each: Given) => meets(each, user, now));
  if (filter.any) return filter.any.some((each: Given) => meets(each, user, now));
  if (filter.not) return !meets(filter.not, user, now);
  const since = filter.in_last_days ? now - filter.in_last_days * DAY_MS : Number.NEGATIVE_INFINITY;
  const { attributes } = user;
  if (filter.attribute) {
    const value = filter.attribute === "external_id" ? user.name : attributes[filter.attribute];
    const isEmail = filter.attribute === "email";
    return passes(isEmail ? lower(value) : value, isEmail ? lowered(filter) : filter, now);
  }
  if (filter.custom_attribute) {
    const value = filter.custom_attribute
      .split(".")
      .reduce(
        (object: any, step: string) => (isObject(object) ? object[step] : undefined),
        attributes,
      );
    return passes(value, filter, now);
  }
  if (filter.event) {
    const ours = user.events.filter(
      ({ name, at, properties }) =>
        name === filter.event &&
        at >= since &&
        (!filter.where || passes(properties[filter.where.property], filter.where, now)),
    );
    return counted(
      ours.length,
      ours.map(({ at }) => at),
      filter,
      now,
    );
  }
  if (filter.purchases) {
    const ours = user.purchases.filter(
      ({ product, at }) =>
        (filter.purchases === "any" || product === filter.purchases) && at >= since,
    );
    const count = ours.reduce((sum, { quantity }) => sum + quantity, 0);
    return counted(
      count,
      ours.map(({ at }) => at),
      filter,
      now,
    );
  }
  if (filter.money_spent) {
    const cents = user.purchases
      .filter(
        ({ currency, at }) =>
          (filter.money_spent === "any" || currency === filter.money_spent) && at >= since,
      )
      .reduce((sum, { cents: price, quantity }) => sum + price * quantity, 0);
    return ordered(cents, filter, 100);
  }
  if (filter.sessions) {
    const { count = 0, first, last } = user.sessions ?? {};
    const times = first === undefined || last === undefined ? [] : [first, last];
    return counted(count, times, filter, now);
  }
  if (filter.subscription_group) return (user.groupState ?? "unknown") === filter.is;
  const state = stateOf(user);
  if (filter.email_subscription) return state === filter.email_subscription;
  if (filter.email_available !== undefined) {
    const hasEmail = attributes.email !== undefined;
    return (hasEmail && state !== "unsubscribed" && !user.hasBounced) === filter.email_available;
  }
  if (filter.device) return filter.device === "web" && user.sessions !== undefined;
  throw new Error(`no reading of ${JSON.stringify(filter)}`);
}

/** A bounce that is reported before a user says otherwise unsubscribes the address. */
export const stateOf = ({ emailState, hasBounced, attributes }: SentUser): string =>
  emailState ?? (hasBounced && attributes.email ? "unsubscribed" : "subscribed");

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const lower = (value: any): any => (typeof value === "string" ? value.toLowerCase() : value);

const lowered = (filter: Given): Given =>
  Object.fromEntries(
    Object.entries(filter).map(([name, operand]) => [
      name,
      Array.isArray(operand) ? operand.map(lower) : lower(operand),
    ]),
  );

function counted(count: number, times: readonly number[], filter: Given, now: number): boolean {
  const { at_least = 0, at_most = count, exactly = count, first, last } = filter;
  if (count < at_least || count > at_most || count !== exactly) return false;
  if (first && (times.length === 0 || !passesTime(Math.min(...times), first, now))) return false;
  return !last || (times.length > 0 && passesTime(Math.max(...times), last, now));
}

function ordered(value: number, filter: Given, factor = 1): boolean {
  const { more_than, at_least, less_than, at_most } = filter;
  return (
    (more_than === undefined || value > more_than * factor) &&
    (at_least === undefined || value >= at_least * factor) &&
    (less_than === undefined || value < less_than * factor) &&
    (at_most === undefined || value <= at_most * factor)
  );
}

const TIME_NAMES = [
  "before",
  "after",
  "in_last_days",
  "more_than_days_ago",
  "in_next_days",
  "day_of_year",
];

function passesTime(at: number, test: Given, now: number): boolean {
  const days = (at - now) / DAY_MS;
  return (
    (!test.before || at < Date.parse(test.before)) &&
    (!test.after || at > Date.parse(test.after)) &&
    (!test.in_last_days || (days <= 0 && days >= -test.in_last_days)) &&
    (!test.more_than_days_ago || days < -test.more_than_days_ago) &&
    (!test.in_next_days || (days >= 0 && days <= test.in_next_days)) &&
    (!test.day_of_year || new Date(at).toISOString().slice(5, 10) === test.day_of_year)
  );
}

/** The times that the random users have, in the forms in which they have them. */
function timeOf(value: any): number | undefined {
  if (isObject(value)) return typeof value.$time === "string" ? Date.parse(value.$time) : undefined;
  if (typeof value !== "string") return undefined;
  if (value === "12/31/2025") return Date.parse("2025-12-31");
  if (value === "2025-02-30" || !/^\d{4}-\d\d-\d\d/.test(value)) return undefined;
  return Date.parse(value.replace(" +0000", "Z").replace(" ", "T"));
}

function passes(value: any, test: Given, now: number): boolean {
  if (test.exists !== undefined && (value !== undefined) !== test.exists) return false;
  if (test.equals !== undefined && value !== test.equals) return false;
  if (test.not_equals !== undefined && value === test.not_equals) return false;
  if (test.one_of && !test.one_of.includes(value)) return false;
  if (test.none_of?.includes(value)) return false;
  if (test.contains && !(typeof value === "string" && value.includes(test.contains))) return false;
  if (test.starts_with && !(typeof value === "string" && value.startsWith(test.starts_with)))
    return false;
  if (["more_than", "at_least", "less_than", "at_most"].some((name) => test[name] !== undefined)) {
    if (typeof value !== "number" || !ordered(value, test)) return false;
  }
  if (TIME_NAMES.some((name) => test[name] !== undefined)) {
    const at = timeOf(value);
    if (at === undefined || !passesTime(at, test, now)) return false;
  }
  const list: unknown[] | undefined = Array.isArray(value) ? value : undefined;
  if (test.includes !== undefined && !list?.includes(test.includes)) return false;
  if (test.includes_any && !test.includes_any.some((each: unknown) => list?.includes(each)))
    return false;
  return !test.includes_all || test.includes_all.every((each: unknown) => list?.includes(each));
}
