/*
 * A member that is null or empty means the same as an absent one, in every call that writes with an API key:
 * docs/decisions/null-is-absent.md. The bodies below have every member of their endpoint. Each is sent with each
 * member left out, null and empty, each time for other users; responses and stored users are compared.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TSchema } from "typebox";
import { descriptionOf } from "../../src/http/described.ts";
import { keyOf, pathsOf } from "../../src/http/endpoint.ts";
import { ENDPOINTS } from "../../src/server/app.ts";
import { ALERTS, type Answer, NEWSLETTER, startOwnServer, WEB_APP } from "../harness.ts";
import {
  FIRST_STEP,
  HOLA,
  inCampaign,
  inCanvas,
  SPANISH,
} from "../messaging/translations/translated-workspace.ts";
import { sampleWorkspace } from "../sample-requests.ts";

const SEGMENT = "5d1e0f7a-4b0c-4d5e-9f6a-1b2c3d4e5f60";
const CENTER = "center";
const PAGES = { page_html: "<p>Page</p>", confirmation_html: "<p>Thanks</p>" };

const server = await startOwnServer();
const workspace = await server.workspace({
  ...sampleWorkspace(),
  segments: [{ id: SEGMENT, name: "All", filter: { attribute: "external_id", exists: true } }],
  preference_centers: [{ id: CENTER, name: CENTER, ...PAGES }],
});

/** A user whom only one request names. */
interface User {
  readonly id: string;
  readonly email: string;
  readonly phone: string;
}

type BodyOf = (user: User) => Record<string, unknown>;

const time = "2026-01-01T12:00:00Z";
const alias = ({ id }: User) => ({ alias_name: id, alias_label: "app" });
const event = { name: "opened", time, app_id: WEB_APP, _update_existing_only: false };
const bought = { product_id: "tea", currency: "EUR", price: 2, quantity: 2, time };
const group = { subscription_group_id: NEWSLETTER, subscription_state: "unsubscribed" };
const phones = { ...group, subscription_group_id: ALERTS };
const prioritization = ["most_recently_updated"];

const attributes: BodyOf = ({ id, email, phone }) => ({
  external_id: id,
  email,
  phone,
  first_name: "Ada",
  last_name: "Lovelace",
  dob: "1915-12-10",
  gender: "F",
  home_city: "London",
  country: "GB",
  language: "en",
  time_zone: "Europe/London",
  current_location: { longitude: 1, latitude: 2, altitude: 3 },
  email_subscribe: "opted_in",
  push_subscribe: "opted_in",
  image_url: "https://example.com/ada.png",
  facebook: { id: "1", likes: ["tea"], num_friends: 3 },
  twitter: { id: 1, screen_name: "a", followers_count: 1, friends_count: 1, statuses_count: 1 },
  date_of_first_session: time,
  date_of_last_session: time,
  marked_email_as_spam_at: time,
  email_open_tracking_disabled: true,
  email_click_tracking_disabled: true,
  push_tokens: [{ app_id: WEB_APP, token: "token", device_id: "device-1" }],
  subscription_groups: [{ ...group, use_double_opt_in_logic: false }],
  _update_existing_only: false,
  _merge_objects: false,
  plan: "gold",
  visits: { inc: 1 },
  tags: { add: ["a"], remove: ["b"] },
  pets: { $add: [{ id: "Gus" }], $update: [], $remove: [] },
});

const ofTrack: readonly BodyOf[] = [
  (user) => ({
    attributes: [attributes(user)],
    events: [{ ...event, external_id: user.id, properties: { page: "home" } }],
    purchases: [{ ...bought, external_id: user.id, app_id: WEB_APP, properties: { size: 2 } }],
  }),
  (user) => ({ attributes: [{ user_alias: alias(user), _update_existing_only: false, plan: 1 }] }),
  ({ email }) => ({ events: [{ ...event, email }] }),
  ({ phone }) => ({ purchases: [{ ...bought, phone, _update_existing_only: true }] }),
  ({ email }) => ({ attributes: [{ email, platform_id: "none", braze_id: "none" }] }),
];

const ofCenter: BodyOf = ({ id }) => ({
  name: id,
  preference_center_title: "Title",
  preference_center_page_html: "<p>New page</p>",
  confirmation_page_html: "<p>New thanks</p>",
  redirect_page_html: "https://example.com/",
  options: {
    "meta-viewport-content": "width=device-width",
    "links-tags": [
      { rel: "icon", type: "image/png", sizes: "16x16", href: "https://example.com/i.png" },
      { rel: "mask-icon", color: "#fff", href: "https://example.com/i.svg" },
    ],
  },
  state: "draft",
  locale: "de",
  translations: { es: { title: "Hola" } },
});

/** Bodies by endpoint; together they have every member of it. */
const BODIES: Readonly<Record<string, readonly BodyOf[]>> = {
  "POST /users/track": ofTrack,
  "POST /users/track/sync": [
    (user) => ({ attributes: [attributes(user)] }),
    ({ id }) => ({ events: [{ ...event, external_id: id, properties: {} }] }),
    ({ id }) => ({ purchases: [{ ...bought, external_id: id }] }),
  ],
  "POST /users/alias/new": [
    (user) => ({
      user_aliases: [{ ...alias(user), external_id: user.id }],
      dry_run: true,
      cursor: "0",
    }),
  ],
  "POST /users/alias/update": [
    ({ id }) => ({
      alias_updates: [{ alias_label: "app", old_alias_name: id, new_alias_name: `${id}-2` }],
      dry_run: true,
      cursor: "0",
    }),
  ],
  "POST /users/external_ids/rename": [
    ({ id }) => ({
      external_id_renames: [{ current_external_id: id, new_external_id: `${id}-2` }],
    }),
  ],
  "POST /users/external_ids/remove": [({ id }) => ({ external_ids: [id] })],
  "POST /users/identify": [
    (user) => ({
      aliases_to_identify: [{ external_id: user.id, user_alias: alias(user) }],
      emails_to_identify: [{ external_id: user.id, email: user.email, prioritization }],
      phone_numbers_to_identify: [{ external_id: user.id, phone: user.phone, prioritization }],
      merge_behavior: "none",
      dry_run: true,
      cursor: "0",
    }),
  ],
  "POST /users/merge": [
    (user) => ({
      merge_updates: [
        {
          identifier_to_merge: { external_id: user.id },
          identifier_to_keep: { user_alias: alias(user) },
        },
        {
          identifier_to_merge: { email: user.email, prioritization },
          identifier_to_keep: { phone: user.phone, prioritization },
        },
      ],
      dry_run: true,
      cursor: "0",
    }),
    (user) => ({
      merge_updates: [
        {
          identifier_to_merge: { external_id: user.id, user_alias: null, phone: null, email: null },
          identifier_to_keep: { external_id: `${user.id}-b` },
        },
      ],
    }),
  ],
  "POST /users/delete": [
    ({ id }) => ({ external_ids: [id], dry_run: true, cursor: "0" }),
    (user) => ({ user_aliases: [alias(user)] }),
    () => ({ platform_ids: ["none"] }),
    () => ({ braze_ids: ["none"] }),
    ({ email }) => ({ email_addresses: [{ email, prioritization }] }),
    ({ phone }) => ({ phone_numbers: [{ phone, prioritization }] }),
    ({ id }) => ({ external_ids: [id], user_aliases: [], platform_ids: null, email_addresses: [] }),
  ],
  "POST /users/export/ids": [
    (user) => ({
      external_ids: [user.id],
      user_aliases: [alias(user)],
      platform_ids: ["none"],
      braze_ids: ["none"],
      platform_id: "none",
      braze_id: "none",
      email_address: user.email,
      fields_to_export: ["external_id", "email"],
    }),
    ({ phone }) => ({ phone }),
  ],
  "POST /v2/subscription/status/set": [
    ({ id, email }) => ({
      subscription_groups: [
        {
          ...group,
          external_ids: [id],
          emails: [email],
          external_id: id,
          email,
          use_double_opt_in_logic: false,
        },
        { ...phones, phones: ["+14155550000"], phone: "+14155550001" },
      ],
    }),
    ({ id }) => ({
      subscription_groups: [{ ...group, external_ids: [id], emails: [], phones: [] }],
    }),
    ({ email }) => ({ subscription_groups: [{ ...group, emails: [email], external_ids: [] }] }),
  ],
  "POST /subscription/status/set": [
    ({ id, email }) => ({
      ...group,
      external_id: [id],
      email: [email],
      use_double_opt_in_logic: false,
    }),
    ({ id, phone }) => ({ ...phones, external_id: id, phone: [phone] }),
  ],
  "POST /email/status": [({ email }) => ({ email: [email], subscription_state: "unsubscribed" })],
  "POST /email/bounce/remove": [({ email }) => ({ email: [email] })],
  "POST /email/blocklist": [({ email }) => ({ email: [email] })],
  "POST /users/export/segment": [
    () => ({
      segment_id: SEGMENT,
      fields_to_export: ["external_id"],
      custom_attributes_to_export: ["plan"],
      output_format: "zip",
      callback_endpoint: "https://example.com/",
    }),
  ],
  "PUT /campaign/translations/": [
    () => ({ ...inCampaign({ locale_id: SPANISH }), translation_map: HOLA }),
  ],
  "PUT /canvases/translations": [
    () => ({
      ...inCanvas({ locale_id: SPANISH, step_id: FIRST_STEP }),
      canvas_id: inCanvas().workflow_id,
      translation_map: HOLA,
    }),
  ],
  "POST /preference_center/v1": [
    ofCenter,
    (user) => {
      const { options, ...others } = ofCenter(user);
      const icon = { rel: "icon", href: "https://example.com/i.png" };
      return { ...others, preference_center_options: { "link-tags": [icon] } };
    },
  ],
  "PUT /preference_center/v1/:preference_center_id": [ofCenter],
};

/** Rapport does not guess the meaning of their null: it is refused. */
const CHOICES =
  /(?:^|\.)(?:dry_run|merge_behavior|use_double_opt_in_logic|output_format|state|type|visits\.inc|pets\.\$add\.0\.id)$/;

/** An empty text, list or object is a value of its own. */
const VALUES =
  /^(first_name|last_name|home_city|image_url|plan|facebook|likes|twitter|visits|tags|pets|properties|id|app_id|platform_id|braze_id|screen_name|email_address|alias_name|alias_label|id_0|id_1)$/;

/** spec: POST /users/track, the counter of an array that was sent. */
const COUNTED = /^(attributes|events|purchases)$/;

/** An order of preferences may be empty: then only a single match is chosen. */
const PREFERENCES = "prioritization";

type Step = string | number;

/** The places of all members of a body, in lists only those of the elements. */
function* membersOf(value: unknown, path: readonly Step[] = []): Generator<readonly Step[]> {
  if (value === null || typeof value !== "object") return;
  const isList = Array.isArray(value);
  for (const [name, member] of Object.entries(value)) {
    const place = [...path, isList ? Number(name) : name];
    if (!isList) yield place;
    yield* membersOf(member, place);
  }
}

const REMOVED = Symbol("removed");

/** A copy of a body with another value at a place. */
function withMember(body: unknown, [step = "", ...rest]: readonly Step[], value: unknown): unknown {
  const copy: any = Array.isArray(body) ? [...body] : { ...(body as object) };
  if (rest.length > 0) copy[step] = withMember(copy[step], rest, value);
  else if (value === REMOVED) delete copy[step];
  else copy[step] = value;
  return copy;
}

const memberAt = (body: unknown, path: readonly Step[]): unknown =>
  path.reduce<any>((value, step) => value?.[step], body);

const emptyOf = (value: unknown): unknown =>
  Array.isArray(value) ? [] : typeof value === "object" ? {} : "";

let users = 0;

function newUser(): User {
  const number = ++users;
  return {
    id: `user-${number}-`,
    email: `user-${number}-@example.com`,
    phone: `+1415${String(5_550_100 + number)}`,
  };
}

interface Outcome {
  readonly status: number;
  readonly body: object;
  readonly isRefused: boolean;
  readonly users: unknown;
  /** What has to be equal. */
  readonly compared: unknown;
}

/** Without what differs from user to user and from moment to moment. */
function comparable(user: User, value: unknown): any {
  const text = (JSON.stringify(value) ?? "null")
    .replaceAll(user.id, "user")
    .replaceAll(user.phone, "phone")
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, "uuid");
  return JSON.parse(text, (name, member) => {
    if (name === "random_bucket" || name === "url" || name === "object_prefix") return undefined;
    const isNow = /_at$/.test(name) && Date.parse(member) > Date.now() - 60_000;
    return isNow ? "now" : member;
  });
}

async function outcomeOf(key: string, user: User, sent: unknown): Promise<Outcome> {
  const [method = "", path = ""] = key.split(" ");
  const answer: Answer<any> = await workspace.call(
    method,
    path.replace(":preference_center_id", CENTER),
    sent,
  );
  const { status } = answer;
  const body = comparable(user, answer.body);
  const wanted = { external_ids: [user.id], email_address: user.email };
  const users = comparable(user, await workspace.profiles(wanted));
  const isRefused = status >= 400 || "errors" in body;
  // The response names the attributes that the object touched.
  const shown = key.endsWith("/sync") && !isRefused ? body.message : body;
  return { status, body, isRefused, users, compared: { status, body: shown, users } };
}

/** Endpoints with the body of another one. */
const SAME_BODY = [
  "POST /users/track/bulk",
  "POST /users/track/sync",
  "PUT /preference_center/v1/:preference_center_id",
  "POST /preference_center/v1/:preference_center_id",
];

for (const [key, bodies] of Object.entries(BODIES)) {
  describe(`${key}: a member that is null or empty is absent, or refused by name`, () => {
    const places = bodies.flatMap((bodyOf) =>
      [...membersOf(bodyOf(newUser()))].map((place) => ({ bodyOf, place })),
    );
    for (const { bodyOf, place } of places) {
      test(place.join("."), async () => {
        const send = (value: (given: unknown) => unknown) => {
          const user = newUser();
          const body = bodyOf(user);
          return outcomeOf(key, user, withMember(body, place, value(memberAt(body, place))));
        };
        const [absent, isNull, isEmpty] = await Promise.all([
          send(() => REMOVED),
          send(() => null),
          send(emptyOf),
        ]);
        const name = String(place.at(-1));
        const refusesByName = ({ body, isRefused }: Outcome) =>
          isRefused && JSON.stringify(body).includes(name);

        if (isNull.isRefused && absent.isRefused) assert.ok(isNull.status < 500);
        else if (refusesByName(isNull)) assert.match(place.join("."), CHOICES);
        else assert.deepEqual(isNull.compared, absent.compared, "null");

        const isValue = VALUES.test(name) || name === PREFERENCES;
        const isList = Array.isArray(memberAt(bodyOf(newUser()), place));
        if (isValue || (isEmpty.isRefused && absent.isRefused)) assert.ok(isEmpty.status < 500);
        else if (COUNTED.test(name)) assert.deepEqual(isEmpty.users, absent.users);
        else if (!isList && refusesByName(isEmpty)) assert.equal(isEmpty.isRefused, true);
        else assert.deepEqual(isEmpty.compared, absent.compared, "empty");
      });
    }
  });
}

/** The names of all members that a schema describes. */
function* namesIn(schema: TSchema): Generator<string> {
  const { properties = {}, items, anyOf = [] } = descriptionOf(schema) as any;
  for (const [name, member] of Object.entries<TSchema>(properties)) {
    yield name;
    yield* namesIn(member);
  }
  if (items) yield* namesIn(items);
  for (const branch of anyOf) yield* namesIn(branch);
}

test("every member of every writing call with an API key is tried as null and empty", () => {
  for (const { contract } of ENDPOINTS) {
    const isOpen = pathsOf(contract)[0]?.includes("*");
    if (contract.access.by !== "key" || contract.method === "GET" || !contract.body || isOpen) {
      continue;
    }
    if (SAME_BODY.includes(keyOf(contract))) continue;
    const bodies = BODIES[keyOf(contract)];
    assert.ok(bodies, `${keyOf(contract)} has no body here`);
    const tried = new Set(
      bodies.flatMap((bodyOf) => [...membersOf(bodyOf(newUser()))].map((place) => place.at(-1))),
    );
    for (const name of namesIn(contract.body)) {
      assert.ok(tried.has(name), `${keyOf(contract)}: '${name}' is not tried`);
    }
  }
});
