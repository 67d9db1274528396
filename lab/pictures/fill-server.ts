/* Fills a server with the demo as `rapport demo` does, an hour of requests with a few mistakes, and colleagues. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { fill } from "../../src/features/demo/fill.ts";
import type { Shopper } from "../../src/features/demo/people.ts";
import { sampleAt } from "../../src/features/demo/sample.ts";
import { IDS, PRODUCTS } from "../../src/features/demo/shop.ts";
import type { TestServer } from "../../test/harness.ts";
import type { Filled } from "./pictures.ts";
import { setClock } from "./shifted-clock.ts";

const WORKSPACE = "demo";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The message of the demo that has translations. */
const WELCOME_MAIL = "e17c4a5d-08f3-4b62-9d1a-7b5e3c6f2094";

export async function fillServer(server: TestServer): Promise<Filled> {
  const key = await createWorkspace(server);
  const now = Date.now();
  const before = new Date(now - HOUR_MS);
  // The charts of the overview have an hour of requests.
  setClock(before.getTime());
  const { url, adminToken } = server;
  const { events } = await fill({ url, adminToken, key }, before);
  const { people } = sampleAt(before);
  const hero = people.find(
    ({ getsNewsletter, visitorId, place }) =>
      getsNewsletter && visitorId !== undefined && place.language === "en",
  );
  const speaker = people.find((each) => each !== hero && each.getsNewsletter);
  assert.ok(hero && speaker);
  await sendHour(server, key, { people, hero, speaker }, now);
  setClock();
  await untilCounted(server, events);
  const person = await addColleagues(server);
  const ids = { external_ids: [hero.externalId] };
  const exported = await server.send("POST", "/users/export/ids", ids, { key });
  const [profile] = exported.body.users;
  return {
    workspace: WORKSPACE,
    user: profile.platform_id,
    externalId: hero.externalId,
    name: `${profile.first_name} ${profile.last_name}`,
    person,
    center: IDS.center,
    message: WELCOME_MAIL,
    preferencePage: await pageOf(server, IDS.center, key, hero.externalId),
    arabicPage: await pageOf(server, IDS.center, key, speaker.externalId),
  };
}

/** @returns the key of a workspace like the one of a first start. */
async function createWorkspace(server: TestServer): Promise<string> {
  await server.admin("PUT", `/admin/v1/workspaces/${WORKSPACE}`, {});
  const permissions = [
    "users.track",
    "users.merge",
    "users.export.ids",
    "subscription.status.set",
    "preference_center.user.get",
  ];
  const path = `/admin/v1/workspaces/${WORKSPACE}/api-keys`;
  const created = await server.admin("POST", path, { name: "web-shop", permissions });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  return created.body.key;
}

/** The overview counts a new workspace again, which ends within three minutes. */
async function untilCounted(server: TestServer, wanted: number): Promise<void> {
  const path = `/admin/v1/workspaces/${WORKSPACE}/customers?days=90`;
  for (const until = performance.now() + 5 * MINUTE_MS; performance.now() < until; ) {
    const { complete, events } = (await server.admin("GET", path)).body;
    const sum = events.days.reduce((total: number, count: number) => total + count, 0);
    if (complete && sum + events.before >= wanted) return;
    await sleep(1_000);
  }
  throw new Error("The overview has not counted the demo.");
}

interface Customers {
  readonly people: readonly Shopper[];
  /** The user on the page of the pictures. */
  readonly hero: Shopper;
  /** One who speaks Arabic. */
  readonly speaker: Shopper;
}

/** What clients send within an hour; a few of it is wrong. */
async function sendHour(
  server: TestServer,
  key: string,
  { people, hero, speaker }: Customers,
  now: number,
): Promise<void> {
  const track = (body: object) => server.send("POST", "/users/track", body, { key });
  const viewed = (person: Shopper | undefined, index: number, at: number) => ({
    external_id: person?.externalId,
    app_id: person?.appId,
    name: "viewed_product",
    time: new Date(at).toISOString(),
    properties: { product_id: PRODUCTS[(index * 7) % PRODUCTS.length]?.id },
  });
  await track({ attributes: [{ external_id: speaker.externalId, language: "ar" }] });
  for (let minute = 0; minute < 60; minute += 1) {
    for (let request = 0; request < 2 + (minute % 4); request += 1) {
      const at = now - HOUR_MS + minute * MINUTE_MS + request * 11_000;
      setClock(at);
      const first = minute * 31 + request * 7;
      const count = 3 + ((minute * 5 + request * 3) % 9);
      const events = Array.from({ length: count }, (_, index) =>
        viewed(people[(first + index * 13) % people.length], first + index, at),
      );
      const isWrong = minute % 9 === 4 && request === 0;
      await track({ events: [...events, ...(isWrong ? [{ ...events[0], name: "" }] : [])] });
    }
  }
  setClock(now);
  const [{ id = "", price = 0 } = {}] = PRODUCTS;
  await track({
    attributes: [{ external_id: hero.externalId, favourite_category: "green tea" }],
    events: [viewed(hero, 3, now), { ...viewed(hero, 4, now), time: "yesterday" }],
    purchases: [
      {
        external_id: hero.externalId,
        product_id: id,
        currency: "EUR",
        price,
        time: new Date(now).toISOString(),
      },
    ],
  });
}

/** @returns the id of the one on the pictures. */
async function addColleagues(server: TestServer): Promise<string> {
  const add = async (name: string, department: string, permissions: object): Promise<string> => {
    const [given_name = "", family_name = ""] = name.split(" ");
    const { status, body } = await server.admin("POST", "/admin/v1/dashboard-users", {
      user_name: `${given_name.toLowerCase()}@tidewick.example`,
      given_name,
      family_name,
      department,
      permissions,
    });
    assert.equal(status, 201, JSON.stringify(body));
    return body.person.id;
  };
  const inShop = (...appGroupPermissions: string[]) => ({
    appGroupName: WORKSPACE,
    appGroupPermissions,
  });
  await add("Katherine Johnson", "engineering", { companyPermissions: ["admin"] });
  await add("Annie Easley", "marketing", { appGroup: [inShop("edit_segments")] });
  return add("Grace Hopper", "marketing", {
    companyPermissions: ["manage_company_settings"],
    appGroup: [inShop("send_campaigns_canvases", "view_usage_data")],
  });
}

/** The path of a user's page. */
async function pageOf(
  server: TestServer,
  center: string,
  key: string,
  user: string,
): Promise<string> {
  const path = `/preference_center/v1/${center}/url/${user}`;
  const { body } = await server.send("GET", path, undefined, { key });
  assert.ok(body.preference_center_url, JSON.stringify(body));
  return new URL(String(body.preference_center_url)).pathname;
}
