/* The customers of the demo and what they did: rules that hold on every day. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MANIFEST } from "../../../src/features/demo/company.ts";
import { randomFrom } from "../../../src/features/demo/random.ts";
import { sampleAt } from "../../../src/features/demo/sample.ts";
import { CURRENCIES, PLACES, PRODUCTS } from "../../../src/features/demo/shop.ts";

const DAY_MS = 86_400_000;

/** A Thursday in summer, a leap day, and the first second and the last one of a year. */
const MOMENTS = [
  "2026-07-16T15:20:00.000Z",
  "2028-02-29T08:00:00.000Z",
  "2027-01-01T00:00:00.000Z",
  "2027-12-31T23:59:59.999Z",
].map((text) => new Date(text));

const samples = MOMENTS.map((now) => ({ now, sample: sampleAt(now) }));

/** A property of events and purchases, as the type of a track request has it. */
const text = (object: object, name: string) => String((object as Record<string, unknown>)[name]);

describe("the sample of the demo", () => {
  test("the same moment has the same customers, events and purchases", () => {
    for (const { now, sample } of samples.slice(0, 1)) assert.deepEqual(sampleAt(now), sample);
  });

  test("later on the same day nothing is different but what has happened since", () => {
    const [morning, evening] = ["05:00", "21:00"].map((at) =>
      sampleAt(new Date(`2026-07-16T${at}:00.000Z`)),
    );
    const until = (time: string) => time <= "2026-07-16T05:00:00.000Z";
    assert.deepEqual(evening?.people, morning?.people);
    assert.ok((evening?.events.length ?? 0) > (morning?.events.length ?? 0));
    assert.deepEqual(
      evening?.events.filter(({ time }) => until(time)),
      morning?.events,
    );
  });

  test("there are 2,000 customers, and no two share an identifier", () => {
    for (const { sample } of samples) {
      assert.equal(sample.people.length, 2_000);
      for (const name of ["external_id", "email", "phone"]) {
        const values = sample.people.flatMap(({ attributes }) => attributes[name] ?? []);
        assert.ok(values.length > 0, name);
        assert.equal(new Set(values).size, values.length, name);
      }
    }
  });

  test("addresses are those that are reserved for examples, and telephone numbers those for films", () => {
    for (const { attributes } of samples.flatMap(({ sample }) => sample.people)) {
      assert.match(
        String(attributes.email ?? "a.1@example.com"),
        /^[a-z.]+\.\d+@example\.(com|org|net)$/,
      );
      assert.match(
        String(attributes.phone ?? "+15035550100"),
        /^\+(1\d{3}55501\d\d|4917139200\d\d)$/,
      );
    }
  });

  test("events and purchases are of the last 90 days, and none is of the future", () => {
    for (const { now, sample } of samples) {
      const times = [...sample.events, ...sample.purchases].map(({ time }) => Date.parse(time));
      assert.ok(times.every((time) => time <= now.getTime()));
      // A day of a customer in Japan begins hours before the day of UTC, a visitor comes the day before.
      assert.ok(times.every((time) => time > now.getTime() - 93 * DAY_MS));
      assert.ok(sample.events.length > 15_000 && sample.purchases.length > 1_500);
    }
  });

  test("every day has events, and a weekend sells more than the days after it", () => {
    for (const { now, sample } of samples) {
      const byWeekday = Array.from({ length: 7 }, () => 0);
      for (const { time } of sample.purchases) {
        const weekday = new Date(time).getUTCDay();
        byWeekday[weekday] = (byWeekday[weekday] ?? 0) + 1;
      }
      const [sunday = 0, monday = 0, tuesday = 0, , , , saturday = 0] = byWeekday;
      assert.ok(saturday + sunday > 1.1 * (monday + tuesday), String(byWeekday));
      const days = new Set(sample.events.map(({ time }) => time.slice(0, 10)));
      for (let ago = 1; ago < 89; ago += 1) {
        assert.ok(days.has(new Date(now.getTime() - ago * DAY_MS).toISOString().slice(0, 10)));
      }
    }
  });

  test("a purchase has a product of the shop, in the currency of the customer's country", () => {
    const products = PRODUCTS.map(({ id }) => id);
    const [{ sample } = samples[0] as never] = samples;
    const currencyOf = new Map(
      sample.people.map(({ externalId, place }) => [externalId, place.currency]),
    );
    for (const purchase of sample.purchases) {
      assert.ok(products.includes(text(purchase, "product_id")));
      assert.equal(text(purchase, "currency"), currencyOf.get(text(purchase, "external_id")));
      assert.match(text(purchase, "price"), /^\d+(\.\d{1,2})?$/);
    }
    assert.ok(PLACES.every(({ currency }) => CURRENCIES[currency] !== undefined));
  });

  test("some customers are unsubscribed, some have no address, and some were visitors before", () => {
    for (const { sample } of samples) {
      const share = (isOne: (attributes: Readonly<Record<string, unknown>>) => boolean) =>
        sample.people.filter(({ attributes }) => isOne(attributes)).length / sample.people.length;
      const unsubscribed = share(({ email_subscribe }) => email_subscribe === "unsubscribed");
      assert.ok(unsubscribed > 0.04 && unsubscribed < 0.12);
      assert.ok(share(({ email }) => email === undefined) > 0.03);
      assert.ok(sample.visitors.length > 40);
    }
  });

  test("states name the groups of the manifest", () => {
    const groups = MANIFEST.workspaces[0]?.subscription_groups.map(({ id }): string => id) ?? [];
    for (const { attributes } of samples.flatMap(({ sample }) => sample.people)) {
      const states = attributes.subscription_groups as { subscription_group_id: string }[];
      for (const { subscription_group_id: id } of states) assert.ok(groups.includes(id));
    }
  });
});

test("a weight decides how often an entry is chosen, and one of 0 never is", () => {
  const random = randomFrom(7);
  const entries = [
    { name: "never", weight: 0 },
    { name: "often", weight: 9 },
    { name: "rarely", weight: 1 },
  ];
  const chosen = Array.from({ length: 10_000 }, () => random.weighted(entries).name);
  const often = chosen.filter((name) => name === "often").length;
  assert.ok(!chosen.includes("never"));
  assert.ok(often > 8_800 && often < 9_200, String(often));
});
