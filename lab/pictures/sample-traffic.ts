/*
 * The requests of Acme's clients: users, an hour of events and purchases with a few mistakes,
 * merges, and a sync. Always the same, so that pictures that are taken again differ only if the
 * pages do.
 */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import type { TestServer } from "../../test/harness.ts";
import { IDS, KEYS, WORKSPACE } from "./sample-company.ts";
import { setClock } from "./shifted-clock.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** As the overview counts. */
const SLOT_MS = 10_000;

const GIVEN =
  "Ada Grace Linus Margaret Zoë Noor Jürgen Björk Chidi Amélie Tomás Yara Søren Léa".split(" ");
const FAMILY =
  "Lovelace Hopper Müller Okafor García Haddad Novák Rossi Dubois Lindqvist Tanaka".split(" ");
const COUNTRIES = ["DE", "FR", "MX", "SE", "US"] as const;
const PLANS = ["free", "silver", "gold"] as const;
const PRODUCTS = [
  { id: "sku-chair", name: "Oak chair", category: "furniture", price: 149.9 },
  { id: "sku-lamp", name: "Desk lamp", category: "lighting", price: 39 },
  { id: "sku-mug", name: "Enamel mug", category: "kitchen", price: 12.5 },
] as const;

/** A choice that is always the same for the same number. */
const pick = <Each>(from: readonly Each[], index: number): Each =>
  from[(index * 7919) % from.length] as Each;

const idOf = (index: number) => `cust-${String(10_000 + index)}`;

/** The user on the page of the pictures. */
export const ADA = "ada";

/** One who speaks Arabic. */
export const AMAL = "amal";

const USERS = 320;

type Send = (key: keyof typeof KEYS, path: string, body: unknown) => Promise<number>;

/** Sends everything. */
export async function sendTraffic(server: TestServer): Promise<void> {
  const send: Send = async (key, path, body) =>
    (await server.send("POST", path, body, { key: KEYS[key] })).status;
  const now = Date.now();
  setClock(now - HOUR_MS);
  await sendUsers(send, now);
  await sendHour(send, now);
  setClock();
  // Not all in one slot of the overview.
  let sent = 0;
  await sendAda((...request) => {
    sent += 1;
    setClock(now + (sent - 8) * SLOT_MS);
    return send(...request);
  }, now);
  setClock();
}

async function sendUsers(send: Send, now: number): Promise<void> {
  for (let from = 0; from < USERS; from += 40) {
    const attributes = Array.from({ length: 40 }, (_, place) => userOf(from + place, now));
    await send("checkout-service", "/users/track", { attributes });
  }
}

function userOf(index: number, now: number) {
  const [first_name, last_name] = [pick(GIVEN, index), pick(FAMILY, index + 3)];
  const address = `${first_name}.${last_name}.${index}@example.com`;
  return {
    external_id: idOf(index),
    first_name,
    last_name,
    ...(index % 9 !== 0 && { email: address.normalize("NFD").replace(/[^\w.@]/g, "") }),
    ...(index % 3 === 0 && { phone: `+1415555${String(2000 + index)}` }),
    country: pick(COUNTRIES, index),
    plan: pick(PLANS, index),
    loyalty_points: (index * 37) % 900,
    last_visit: new Date(now - (index % 30) * DAY_MS).toISOString(),
  };
}

/** An hour in slots of ten seconds: a busy shop, with a client that sends wrong times for some minutes. */
async function sendHour(send: Send, now: number): Promise<void> {
  for (let slot = 0; slot < 360; slot += 1) {
    const at = now - HOUR_MS + slot * SLOT_MS;
    setClock(at + 500);
    const wave = 2 + Math.sin(slot / 28) + Math.sin(slot / 9) * 0.5;
    const isFaulty = slot > 210 && slot < 262;
    const requests = Math.max(1, Math.round(wave));
    for (let each = 0; each < requests; each += 1) {
      const key = (slot + each) % 3 === 0 ? "checkout-service" : "mobile-app";
      await send(
        key,
        "/users/track",
        trackOf(slot * 5 + each, at, isFaulty && key === "mobile-app"),
      );
    }
    if (slot % 47 === 11) await send("mobile-app", "/users/track", { events: "none" });
    if (slot % 23 === 5)
      await send("support-tools", "/users/export/ids", { external_ids: [idOf(slot)] });
  }
}

function trackOf(index: number, at: number, isFaulty: boolean) {
  const events = Array.from({ length: 2 + (index % 4) }, (_, place) =>
    eventOf(index + place * 31, at - place * 900, isFaulty && place % 2 === 1),
  );
  const product = pick(PRODUCTS, index);
  const purchase = {
    external_id: idOf(index % USERS),
    product_id: product.id,
    currency: index % 50 === 0 ? "EURO" : "EUR",
    price: product.price,
    quantity: 1 + (index % 3),
    time: new Date(at).toISOString(),
    properties: { coupon: index % 4 === 0 ? "SPRING" : null, gift: index % 5 === 0 },
  };
  return { events, ...(index % 4 === 1 && { purchases: [purchase] }) };
}

function eventOf(index: number, at: number, isFaulty: boolean) {
  const product = pick(PRODUCTS, index);
  const [name, properties] = pick(
    [
      ["viewed_product", { product, source: pick(["search", "home", "mail"], index) }],
      ["added_to_cart", { product, quantity: 1 + (index % 2) }],
      ["searched", { query: product.category, results: 20 + (index % 30) }],
      ["opened_app", { version: "4.2.1", cold_start: index % 2 === 0 }],
    ] as const,
    index,
  );
  return {
    external_id: idOf(index % USERS),
    app_id: pick([IDS.web, IDS.ios, IDS.android], index),
    name,
    time: isFaulty ? "yesterday" : new Date(at).toISOString(),
    properties,
  };
}

/** One user with everything that a profile shows, last, so that her requests are the latest. */
async function sendAda(send: Send, now: number): Promise<void> {
  const ago = (hours: number) => new Date(now - hours * HOUR_MS).toISOString();
  const [chair] = PRODUCTS;
  const subscribed = (id: string, subscription_state = "subscribed") => ({
    subscription_group_id: id,
    subscription_state,
  });
  await send("checkout-service", "/users/track", {
    attributes: [
      {
        external_id: ADA,
        email: "ada@example.com",
        phone: "+14155552671",
        first_name: "Ada",
        last_name: "Lovelace",
        country: "GB",
        language: "en",
        time_zone: "Europe/London",
        home_city: "London",
        plan: "gold",
        loyalty_points: 1_240,
        interests: ["furniture", "lighting", "engines"],
        address: { city: "London", street: "12 St James's Square", floor: 2 },
        push_tokens: [{ app_id: IDS.ios, token: "fcm-7Qm2…" }],
        subscription_groups: [subscribed(IDS.newsletter), subscribed(IDS.deliveries)],
      },
      { external_id: "ada-old", plan: "free", visits: 12 },
      {
        external_id: AMAL,
        email: "amal@example.com",
        phone: "+14155552672",
        language: "ar",
        subscription_groups: [subscribed(IDS.newsletter)],
      },
      { user_alias: { alias_label: "crm", alias_name: "C-1815" }, _update_existing_only: false },
    ],
  });
  await send("support-tools", "/users/merge", {
    merge_updates: [
      { identifier_to_merge: { external_id: "ada-old" }, identifier_to_keep: { external_id: ADA } },
    ],
  });
  await send("checkout-service", "/users/identify", {
    aliases_to_identify: [
      { external_id: ADA, user_alias: { alias_label: "crm", alias_name: "C-1815" } },
    ],
  });
  await send("checkout-service", "/subscription/status/set", {
    external_id: [ADA],
    subscription_group_id: IDS.productNews,
    subscription_state: "unsubscribed",
  });
  const events = Array.from({ length: 36 }, (_, index) => {
    const time = ago(2 + index * 5.3);
    return { ...eventOf(index * 3, 0, false), external_id: ADA, app_id: IDS.web, time };
  });
  await send("mobile-app", "/users/track", { events });
  await send("checkout-service", "/users/track", {
    events: [
      { external_id: ADA, name: "signed_up", time: ago(700), properties: { source: "web" } },
      {
        external_id: ADA,
        name: "viewed_product",
        time: "yesterday",
        properties: { product: chair },
      },
      { external_id: ADA, name: "added_to_cart", time: ago(0.4), properties: { product: chair } },
    ],
    purchases: [
      {
        external_id: ADA,
        product_id: chair.id,
        currency: "EUR",
        price: chair.price,
        time: ago(0.3),
        properties: { coupon: "SPRING", delivery: { method: "courier", days: 2 } },
      },
    ],
  });
}

/** Rows of a warehouse; some of them fail. */
export async function writeWarehouse(file: string): Promise<void> {
  const rows = Array.from({ length: 240 }, (_, index) => {
    const payload = index % 40 === 7 ? { dob: "never" } : { segment: pick(PLANS, index) };
    const text = JSON.stringify(payload).replaceAll('"', '""');
    const at = new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString();
    return `${at},${idOf(index)},"${text}"`;
  });
  await writeFile(file, `UPDATED_AT,EXTERNAL_ID,PAYLOAD\n${rows.join("\n")}\n`);
}

/** Runs the sync and waits for its end. @returns the id of the run. */
export async function runSync(server: TestServer): Promise<string> {
  const path = `/admin/v1/workspaces/${WORKSPACE}/integrations/${IDS.crm}`;
  const { body } = await server.admin("POST", `${path}/sync`);
  for (;;) {
    const { body: found } = await server.admin("GET", `${path}/runs/${body.run_id}`);
    if (found.run.job_status !== "running") return body.run_id;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** People who may sign in. @returns the id of Grace. */
export async function addPeople(server: TestServer): Promise<string> {
  const groups = (permissions: readonly string[], sets: readonly string[] = []) => [
    {
      appGroupName: WORKSPACE,
      appGroupPermissions: permissions,
      appGroupPermissionSets: sets.map((name) => ({ appGroupPermissionSetName: name })),
      team: [{ teamName: "Europe", teamPermissions: ["basic_access"] }],
    },
  ];
  const add = async (name: string, department: string, permissions: object): Promise<string> => {
    const [given_name = "", family_name = ""] = name.split(" ");
    const { body } = await server.admin("POST", "/admin/v1/dashboard-users", {
      user_name: `${given_name.toLowerCase()}@acme.example`,
      given_name,
      family_name,
      department,
      permissions,
    });
    return body.person.id;
  };
  await add("Katherine Johnson", "engineering", { companyPermissions: ["admin"] });
  await add("Annie Easley", "marketing", { appGroup: groups([], ["Marketing"]) });
  await add("Noor Haddad", "engineering", { appGroup: groups([], ["Support"]) });
  return add("Grace Hopper", "marketing", {
    companyPermissions: ["manage_company_settings"],
    appGroup: [
      ...groups(["send_campaigns_canvases", "view_usage_data"], ["Support"]),
      { appGroupName: "acme-labs", appGroupPermissions: ["admin"] },
    ],
  });
}

/** A key that an administrator made and no client uses yet. */
export const addUnusedKey = (server: TestServer) =>
  server.admin("POST", `/admin/v1/workspaces/${WORKSPACE}/api-keys`, {
    name: `warehouse-export-${randomUUID().slice(0, 4)}`,
    permissions: ["users.export.ids"],
    ip_allowlist: ["203.0.113.0/24"],
  });
