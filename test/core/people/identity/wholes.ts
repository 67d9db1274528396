/* Profiles for the tests of the merge rules, each with one thing. */
import {
  type Belongings,
  EMPTY,
  NO_BELONGINGS,
  type Whole,
} from "../../../../src/core/people/identity/combine/whole.ts";
import type { ProfileFields } from "../../../../src/core/people/profiles/store.ts";

export const [EARLY, MIDDLE, LATE] = [
  "2026-01-01T00:00:00.000Z",
  "2026-02-01T00:00:00.000Z",
  "2026-03-01T00:00:00.000Z",
] as const;

const day = (text: string) => new Date(text);

export const person = (
  fields: Partial<ProfileFields> = {},
  belongings: Partial<Belongings> = {},
): Whole => ({
  profile: { ...EMPTY.profile, ...fields },
  belongings: { ...NO_BELONGINGS, ...belongings },
});

export const standard = (standardAttributes: ProfileFields["standardAttributes"]) =>
  person({ standardAttributes });

export const custom = (customAttributes: ProfileFields["customAttributes"]) =>
  person({ customAttributes });

export const event = (count: number, first: string, last: string, name = "e") =>
  person({}, { events: [{ name, count, firstAt: day(first), lastAt: day(last) }] });

export const purchase = (
  count: number,
  revenue: string,
  first: string,
  last: string,
  currency = "USD",
  productId = "p",
) =>
  person(
    {},
    {
      purchases: [{ productId, currency, count, revenue, firstAt: day(first), lastAt: day(last) }],
    },
  );

export const app = (sessions: number, first: string, last: string, version = "1", appId = "app") =>
  person(
    {},
    { apps: [{ appId, version, sessions, firstUsedAt: day(first), lastUsedAt: day(last) }] },
  );

export const device = (deviceId: string, details: Record<string, string>) =>
  person({}, { devices: [{ deviceId, details }] });

export const campaign = (details: Record<string, any>, id = "c") =>
  person({}, { interactions: [{ kind: "campaign", id, details }] });

export const canvas = (details: Record<string, any>) =>
  person({}, { interactions: [{ kind: "canvas", id: "c", details }] });

export const group = (groupId: string, state: string) =>
  person({}, { groupStates: [{ groupId, state }] });

export const alias = (alias_name: string, alias_label = "l") => ({ alias_name, alias_label });

export const token = (name: string, device_id = "device") => ({
  app_id: "app",
  token: name,
  device_id,
});
