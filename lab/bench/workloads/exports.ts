import { readsFloor } from "../floors/reads.ts";
import type { Random } from "./random.ts";
import { externalIdOf, type UserPicker } from "./users.ts";
import type { Workload } from "./workload.ts";

const PROFILES = 50;

interface ExportBody {
  readonly external_ids: readonly string[];
}

/** POST /users/export/ids: all that is known about 50 people. */
export const exportsWorkload: Workload = {
  name: "exports",
  about: "50 profiles a request, by external_id, with all their fields.",
  unit: "profiles",
  unitsPerRequest: PROFILES,
  distribution: "uniform",
  path: "/users/export/ids",
  connections: 32,
  bodies: 8_000,
  body: (_random: Random, pick: UserPicker): ExportBody => ({
    external_ids: Array.from({ length: PROFILES }, () => externalIdOf(pick())),
  }),
  faults: ['"invalid_user_ids"'],
  bareAnswer: ({ external_ids }: ExportBody) => ({
    users: external_ids.map((external_id) => ({ ...ANY_PROFILE, external_id })),
    message: "success",
  }),
  floor: readsFloor,
};

const ANY_PROFILE = {
  platform_id: "018bcfe5-6800-7cfc-8d20-8495d565ef66",
  braze_id: "018bcfe5-6800-7cfc-8d20-8495d565ef66",
  external_id: "",
  user_aliases: [],
  created_at: "2026-01-01T00:00:00.000Z",
  random_bucket: 1_234,
  first_name: "First 0",
  last_name: "Last 0",
  email: null,
  phone: null,
  dob: null,
  gender: null,
  home_city: "Town 0",
  country: "US",
  language: "en",
  time_zone: null,
  last_coordinates: null,
  email_subscribe: "subscribed",
  push_subscribe: "subscribed",
  image_url: null,
  facebook: null,
  twitter: null,
  date_of_first_session: null,
  date_of_last_session: null,
  marked_email_as_spam_at: null,
  email_open_tracking_disabled: false,
  email_click_tracking_disabled: false,
  custom_attributes: {
    plan: "free",
    score: 0,
    spent: 0,
    last_page: "/products/0",
    newsletter: true,
    tags: ["one", "two", "three"],
  },
  custom_events: ["event_0", "event_3"].map((name) => ({
    name,
    first: "2026-01-01T00:00:00.000Z",
    last: "2026-01-01T00:00:00.000Z",
    count: 1,
  })),
  purchases: [],
  total_revenue: 0,
  revenue_by_currency: {},
  push_tokens: [],
  subscription_groups: [],
};
