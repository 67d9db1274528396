import { randomInt } from "node:crypto";

/* The requests of ordinary clients, in about the usual proportions. */

export interface SoakRequest {
  /** The name that it is counted under. */
  readonly kind: string;
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly by: "key" | "administrator" | "nobody";
}

/** How many people there are: enough to find the same ones again, and to make new ones. */
const PEOPLE = 50_000;

export const WORKSPACE = "soak";

export const GROUP = "ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20";

const userId = (): string => `user-${randomInt(PEOPLE)}`;

const now = (): string => new Date().toISOString();

const attributes = () => {
  const external_id = userId();
  return {
    external_id,
    email: `${external_id}@example.com`,
    plan: ["free", "pro", "team"][randomInt(3)],
    visits: { inc: 1 },
    tags: { add: [`tag-${randomInt(20)}`] },
    address: { city: `city-${randomInt(100)}` },
  };
};

const event = () => ({
  external_id: userId(),
  name: `event-${randomInt(30)}`,
  time: now(),
  properties: { page: `/page/${randomInt(1_000)}`, items: [{ sku: `sku-${randomInt(500)}` }] },
});

const purchase = () => ({
  external_id: userId(),
  product_id: `product-${randomInt(200)}`,
  currency: "EUR",
  price: randomInt(10_000) / 100,
  time: now(),
});

const times = <Value>(count: number, make: () => Value): Value[] =>
  Array.from({ length: count }, make);

const track = (kind: string, body: object): SoakRequest => ({
  kind,
  method: "POST",
  path: "/users/track",
  body: JSON.stringify(body),
  by: "key",
});

const MAKERS: readonly [weight: number, make: () => SoakRequest][] = [
  [
    40,
    () =>
      track("track, 50 objects", {
        attributes: times(20, attributes),
        events: times(25, event),
        purchases: times(5, purchase),
      }),
  ],
  [30, () => track("track, one event", { events: [event()] })],
  [10, () => track("track, with a bad object", { events: [event(), { name: "nobody" }] })],
  [
    15,
    () => ({
      kind: "export, 10 people",
      method: "POST",
      path: "/users/export/ids",
      body: JSON.stringify({ external_ids: times(10, userId) }),
      by: "key",
    }),
  ],
  [2, () => ({ kind: "health", method: "GET", path: "/health/ready", by: "nobody" })],
  [1, () => ({ kind: "OpenAPI", method: "GET", path: "/openapi.json", by: "nobody" })],
  [
    1,
    () => ({ kind: "audit", method: "GET", path: "/admin/v1/audit?limit=50", by: "administrator" }),
  ],
  [
    1,
    () => ({
      kind: "a new key",
      method: "POST",
      path: `/admin/v1/workspaces/${WORKSPACE}/api-keys`,
      body: JSON.stringify({ name: `key-${randomInt(1e9)}`, permissions: ["users.track"] }),
      by: "administrator",
    }),
  ],
];

const WEIGHTS = MAKERS.reduce((sum, [weight]) => sum + weight, 0);

export function nextRequest(): SoakRequest {
  let place = randomInt(WEIGHTS);
  for (const [weight, make] of MAKERS) {
    if (place < weight) return make();
    place -= weight;
  }
  throw new Error("The weights do not add up.");
}
