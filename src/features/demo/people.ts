import type { Random } from "./random.ts";
import { IDS, NAMES, PLACES, type Place, PRODUCTS } from "./shop.ts";

export const DAY_MS = 86_400_000;

/** Of how many days there are events and purchases. */
export const DAYS = 90;

const USERS = 2_000;

/** Every twelfth customer looked around before signing up. That visit is merged into the profile. */
const VISITORS_EACH = 12;

/** A customer, and what the events need to know of them. */
export interface Shopper {
  readonly externalId: string;
  /** The object of a track request. */
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly place: Place;
  /** Midnight (UTC) of the day on which they signed up, in milliseconds. */
  readonly joinedOn: number;
  /** How many visits they make in the whole period, about. */
  readonly visits: number;
  readonly appId: string;
  readonly favourite: string;
  readonly getsNewsletter: boolean;
  /** The name of the alias under which they came first. */
  readonly visitorId: string | undefined;
}

const KINDS = [
  { plan: "guest", visits: 0.6, weight: 46 },
  { plan: "regular", visits: 3, weight: 40 },
  { plan: "club", visits: 8, weight: 14 },
] as const;

const APPS = [
  { id: IDS.web, weight: 55 },
  { id: IDS.ios, weight: 25 },
  { id: IDS.android, weight: 20 },
];

const SOURCES = [
  { source: "search", weight: 38 },
  { source: "friend", weight: 22 },
  { source: "market stall", weight: 16 },
  { source: "newsletter", weight: 14 },
  { source: "podcast", weight: 10 },
];

/** Reserved for examples (RFC 2606): no mail reaches anyone. */
const MAIL_HOSTS = ["example.com", "example.org", "example.net"];

/** @param today midnight (UTC), in milliseconds. */
export function peopleOf(random: Random, today: number): Shopper[] {
  const perPlace = new Map<Place, number>();
  return Array.from({ length: USERS }, (_, index) => {
    const place = random.weighted(PLACES);
    const placeIndex = perPlace.get(place) ?? 0;
    perPlace.set(place, placeIndex + 1);
    return personOf(random, { index, place, placeIndex, today });
  });
}

interface Position {
  readonly index: number;
  readonly place: Place;
  /** How many customers at this place came before. */
  readonly placeIndex: number;
  readonly today: number;
}

function personOf(random: Random, { index, place, placeIndex, today }: Position): Shopper {
  const [given = "", family = ""] = NAMES[place.language] ?? [];
  const [first_name, last_name] = [random.pick(given.split(" ")), random.pick(family.split(" "))];
  const { plan, visits } = random.weighted(KINDS);
  const favourite = random.weighted(PRODUCTS).category;
  // Two of five joined in the period, most of the others in the year before.
  const daysAgo = random.chance(0.4) ? random.between(1, DAYS) : random.between(DAYS + 1, 500);
  const hasEmail = random.chance(0.94);
  const phone = random.chance(0.6) ? place.phone?.(placeIndex) : undefined;
  const consent = random.weighted(CONSENTS);
  const externalId = `tw-${10_000 + index}`;
  const attributes = {
    external_id: externalId,
    first_name,
    last_name,
    ...(hasEmail && {
      email: addressOf(`${first_name}.${last_name}`, index, random.pick(MAIL_HOSTS)),
      email_subscribe: consent.email,
    }),
    ...(phone !== undefined && { phone }),
    country: place.country,
    home_city: place.city,
    language: place.language,
    time_zone: place.zone,
    ...(random.chance(0.35) && { dob: birthdayOf(random, today) }),
    subscription_groups: statesOf(random, hasEmail, phone !== undefined, consent.newsletter),
    plan,
    favourite_category: favourite,
    found_us_by: random.weighted(SOURCES).source,
    joined_on: dayOf(today - daysAgo * DAY_MS),
    ...(plan === "club" && { club_points: random.between(2, 180) * 5 }),
  };
  return {
    externalId,
    attributes,
    place,
    joinedOn: today - daysAgo * DAY_MS,
    visits: Math.min(40, -Math.log(1 - random.next()) * visits),
    appId: random.weighted(APPS).id,
    favourite,
    getsNewsletter: hasEmail && consent.newsletter,
    visitorId: index % VISITORS_EACH === 0 ? `visitor-${7_000 + index}` : undefined,
  };
}

const CONSENTS = [
  { email: "subscribed", newsletter: true, weight: 48 },
  { email: "opted_in", newsletter: true, weight: 24 },
  { email: "subscribed", newsletter: false, weight: 20 },
  { email: "unsubscribed", newsletter: false, weight: 8 },
] as const;

function statesOf(random: Random, hasEmail: boolean, hasPhone: boolean, newsletter: boolean) {
  const state = (subscription_group_id: string, isSubscribed: boolean) => ({
    subscription_group_id,
    subscription_state: isSubscribed ? "subscribed" : "unsubscribed",
  });
  return [
    ...(hasEmail ? [state(IDS.newsletter, newsletter)] : []),
    ...(hasEmail && random.chance(0.6)
      ? [state(IDS.offers, newsletter && random.chance(0.8))]
      : []),
    ...(hasPhone ? [state(IDS.deliveries, random.chance(0.85))] : []),
  ];
}

/** An address in ASCII; the number keeps namesakes apart. */
function addressOf(name: string, index: number, host: string): string {
  const plain = name.replaceAll("ß", "ss").replaceAll("ı", "i").normalize("NFD");
  return `${plain.replace(/[^a-z.]/gi, "").toLowerCase()}.${index}@${host}`;
}

/** Between 19 and 78 years old. */
const birthdayOf = (random: Random, today: number): string =>
  dayOf(today - random.between(19 * 365, 78 * 365) * DAY_MS);

export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
