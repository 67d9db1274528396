import { DAY_MS, DAYS, type Shopper } from "./people.ts";
import type { Random } from "./random.ts";
import { CURRENCIES, IDS, PRODUCTS, type Product } from "./shop.ts";

export interface Activity {
  readonly events: readonly Timed[];
  readonly purchases: readonly Timed[];
}

type Timed = Readonly<Record<string, unknown>> & {
  /** ISO 8601, in UTC. */
  readonly time: string;
};

/** How busy the shop is, from Sunday on. */
const BY_WEEKDAY = [1.3, 0.8, 0.75, 0.8, 0.95, 1, 1.2];

/** How busy each hour of a customer's day is, from midnight on. */
const BY_HOUR = [
  1, 0.5, 0.3, 0.2, 0.2, 0.4, 1.5, 3, 4, 4, 4, 4.5, 6, 5, 4, 4, 4.5, 5.5, 7, 9, 11, 10, 7, 3,
].map((weight, hour) => ({ hour, weight }));

/** The days of a sale, counted back from today. */
const SALE = { first: 24, last: 21, factor: 2.2 };

const THURSDAY = 4;

/** Draws at most so often until a day is busy enough. */
const MOST_DRAWS = 8;

/**
 * What a customer did in the last 90 days, without what would be later than now.
 *
 * @param today midnight (UTC), in milliseconds. All choices depend on it alone, so within a day only more is told.
 */
export function activityOf(random: Random, person: Shopper, today: number, now: number): Activity {
  const first = Math.max(person.joinedOn, today - (DAYS - 1) * DAY_MS);
  const days = Math.round((today - first) / DAY_MS);
  const visits = Math.round((person.visits * (days + 1)) / DAYS);
  const events: Timed[] = [];
  const purchases: Timed[] = [];
  const add = (visit: Activity) => {
    events.push(...visit.events);
    purchases.push(...visit.purchases);
  };
  if (person.joinedOn >= first) {
    const at = timeOn(random, person, person.joinedOn);
    events.push(event(person, "signed_up", at, { found_us_by: person.attributes.found_us_by }));
    add(visitOf(random, person, at + 60_000, 0.3));
  }
  for (let visit = 0; visit < visits; visit += 1) {
    const day = busyDay(random, first, today);
    add(visitOf(random, person, timeOn(random, person, day), isInSale(day, today) ? 0.5 : 0.34));
  }
  if (person.getsNewsletter) events.push(...openedNewsletters(random, person, first, today));
  const isPast = ({ time }: Timed) => Date.parse(time) <= now;
  return { events: events.filter(isPast), purchases: purchases.filter(isPast) };
}

/** Midnight (UTC) of a day from the first one to today; rather a busy one. */
function busyDay(random: Random, first: number, today: number): number {
  const busiest = Math.max(...BY_WEEKDAY) * SALE.factor;
  const days = Math.round((today - first) / DAY_MS);
  let day = today;
  for (let draw = 0; draw < MOST_DRAWS; draw += 1) {
    day = first + random.between(0, days) * DAY_MS;
    const weekday = BY_WEEKDAY[new Date(day).getUTCDay()] ?? 1;
    if (random.chance((weekday * (isInSale(day, today) ? SALE.factor : 1)) / busiest)) break;
  }
  return day;
}

/** The name under which a customer came before they signed up. */
export const aliasOf = ({ visitorId }: Shopper) => ({
  alias_label: "web_visitor",
  alias_name: visitorId,
});

/** What an unknown visitor looked at on the day before the customer whom they became signed up. */
export function visitBefore(random: Random, person: Shopper): readonly Timed[] {
  const at = timeOn(random, person, person.joinedOn - DAY_MS);
  return Array.from(
    { length: random.between(2, 4) },
    (_, index) => viewed(random, person, at + index * 40_000).event,
  ).map(({ external_id: _, ...each }) => ({ ...each, user_alias: aliasOf(person) }));
}

const isInSale = (day: number, today: number): boolean => {
  const ago = Math.round((today - day) / DAY_MS);
  return ago <= SALE.first && ago >= SALE.last;
};

/** A moment of that day, when customers there are awake. @returns milliseconds. */
function timeOn(random: Random, { place }: Shopper, day: number): number {
  const { hour } = random.weighted(BY_HOUR);
  return day + (hour - place.utcOffset) * 3_600_000 + random.between(0, 3_599) * 1_000;
}

const event = (
  { externalId, appId }: Shopper,
  name: string,
  at: number,
  properties: Readonly<Record<string, unknown>>,
) => ({
  external_id: externalId,
  app_id: appId,
  name,
  time: new Date(at).toISOString(),
  properties,
});

function viewed(random: Random, person: Shopper, at: number) {
  const ofFavourite = PRODUCTS.filter(({ category }) => category === person.favourite);
  const product = random.weighted(random.chance(0.6) ? ofFavourite : PRODUCTS);
  const { id, category } = product;
  const properties = { product_id: id, category, price: priceOf(product, person) };
  return { product, event: event(person, "viewed_product", at, properties) };
}

/** Someone looks around, puts something into the cart, and buys or does not. */
function visitOf(random: Random, person: Shopper, start: number, buys: number): Activity {
  const events: Timed[] = [];
  let at = start;
  const later = () => {
    at += random.between(8, 150) * 1_000;
    return at;
  };
  if (random.chance(0.25)) {
    const query = random.pick(SEARCHES);
    events.push(event(person, "searched", at, { query, results: random.between(0, 9) }));
  }
  let seen: Product | undefined;
  const views = random.between(1, 3);
  for (let view = 0; view < views; view += 1) {
    const { product, event: view } = viewed(random, person, later());
    seen = product;
    events.push(view);
  }
  if (seen === undefined || !random.chance(buys * 1.5)) return { events, purchases: [] };
  const basket = [seen, ...(random.chance(0.45) ? [random.weighted(PRODUCTS)] : [])];
  const lines = basket.map((product) => ({ product, quantity: random.chance(0.25) ? 2 : 1 }));
  for (const { product, quantity } of lines) {
    events.push(event(person, "added_to_cart", later(), { product_id: product.id, quantity }));
  }
  if (!random.chance(2 / 3)) return { events, purchases: [] };
  const order_id = `T${person.externalId.slice(3)}-${(start / 1_000).toString(36)}`;
  const time = new Date(later()).toISOString();
  const coupon = random.chance(0.12) ? { coupon: random.pick(["HIGHTIDE", "HELLO10"]) } : {};
  const purchases = lines.map(({ product, quantity }) => ({
    external_id: person.externalId,
    app_id: person.appId,
    product_id: product.id,
    currency: person.place.currency,
    price: priceOf(product, person),
    quantity,
    time,
    properties: { order_id, category: product.category, ...coupon },
  }));
  events.push(...afterwards(random, person, { at, order_id, product: seen }));
  return { events, purchases };
}

interface Order {
  readonly at: number;
  readonly order_id: string;
  readonly product: Product;
}

/** The parcel arrives, and sometimes a review of what was in it. */
function afterwards(random: Random, person: Shopper, { at, order_id, product }: Order): Timed[] {
  const delivered = at + random.between(2, 5) * DAY_MS;
  const stars = random.weighted(STARS).stars;
  const reviewed = delivered + random.between(1, 9) * DAY_MS;
  return [
    event(person, "order_delivered", delivered, { order_id }),
    ...(random.chance(0.18)
      ? [event(person, "reviewed_product", reviewed, { product_id: product.id, stars })]
      : []),
  ];
}

const STARS = [1, 2, 3, 4, 5].map((stars) => ({
  stars,
  weight: [2, 2, 5, 30, 61][stars - 1] ?? 0,
}));

const SEARCHES = [
  "sencha",
  "decaf",
  "gift",
  "tea pot",
  "smoked",
  "without caffeine",
  "refill",
  "cup",
];

/** It comes on Thursdays. */
function openedNewsletters(random: Random, person: Shopper, first: number, today: number): Timed[] {
  const opened: Timed[] = [];
  for (let day = first; day <= today; day += DAY_MS) {
    if (new Date(day).getUTCDay() !== THURSDAY || !random.chance(0.27)) continue;
    const at = day + 9 * 3_600_000 + Math.floor(random.next() ** 3 * 12 * 3_600_000);
    const issue = Math.floor(day / (7 * DAY_MS)) - 2_600;
    opened.push({ ...event(person, "opened_newsletter", at, { issue }), app_id: IDS.web });
  }
  return opened;
}

/** In the currency of the customer. */
function priceOf({ price }: Product, { place }: Shopper): number {
  const { rate, step } = CURRENCIES[place.currency] ?? { rate: 1, step: 0.1 };
  return Number((Math.round((price * rate) / step) * step).toFixed(2));
}
