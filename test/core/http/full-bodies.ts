/* Bodies with every member of each call that writes with an API key, for absent-members.test.ts. */
import { ALERTS, NEWSLETTER, WEB_APP } from "../../harness.ts";
import { FIRST_STEP, HOLA, inCampaign, inCanvas, SPANISH } from "../../translated-workspace.ts";

export const SEGMENT = "5d1e0f7a-4b0c-4d5e-9f6a-1b2c3d4e5f60";

/** A user whom only one request names. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly phone: string;
}

export type BodyOf = (user: User) => Record<string, unknown>;

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
export const BODIES: Readonly<Record<string, readonly BodyOf[]>> = {
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
