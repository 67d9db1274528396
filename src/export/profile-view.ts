import type { Workspace } from "../access/workspace.ts";
import { emailValue } from "../profiles/identifiers.ts";
import type { MergedProfile } from "../profiles/merged-store.ts";
import type { Json } from "../profiles/plain-json.ts";
import type { ProfileRow } from "../profiles/store.ts";
import type { EmailStateRow, GroupStateRow } from "../subscriptions/states.ts";
import type { EventSummary, PurchaseSummary } from "../track/summaries.ts";
import {
  appsView,
  devicesView,
  type EngagementSource,
  engagementTimesView,
  interactionsView,
  messagesView,
  recentActivityView,
} from "./engagement-view.ts";

/** Everything that is known about a person, and what was read beside it. */
export interface ProfileSource {
  readonly workspace: Workspace;
  readonly profile: ProfileRow;
  readonly events: readonly EventSummary[];
  readonly purchases: readonly PurchaseSummary[];
  readonly groupStates: readonly GroupStateRow[];
  readonly emailStates: readonly EmailStateRow[];
  readonly engagement: EngagementSource;
  /** The merged profiles whose ids lead to people here; empty where nobody asks for them. */
  readonly merged: readonly MergedProfile[];
}

const standard =
  (name: string, missing: Json = null) =>
  ({ profile }: ProfileSource): unknown =>
    profile.standardAttributes[name] ?? missing;

/** Of what is publicly known and nothing here ever learns: who attributed an install, and the like. */
const neverKnown = (): null => null;

/** The fields of an exported profile, each with where it comes from. What is missing is null or empty. */
const FIELDS = {
  platform_id: ({ profile }: ProfileSource) => profile.id,
  braze_id: ({ profile }: ProfileSource) => profile.id,
  external_id: ({ profile }: ProfileSource) => profile.externalId,
  user_aliases: ({ profile }: ProfileSource) => profile.aliases,
  created_at: ({ profile }: ProfileSource) => profile.createdAt.toISOString(),
  random_bucket: ({ profile }: ProfileSource) => randomBucket(profile.id),
  first_name: standard("first_name"),
  last_name: standard("last_name"),
  email: ({ profile }: ProfileSource) => profile.email,
  phone: ({ profile }: ProfileSource) => profile.phone,
  dob: standard("dob"),
  gender: standard("gender"),
  home_city: standard("home_city"),
  country: standard("country"),
  language: standard("language"),
  time_zone: standard("time_zone"),
  last_coordinates: lastCoordinates,
  email_subscribe: emailState,
  push_subscribe: standard("push_subscribe", "subscribed"),
  image_url: standard("image_url"),
  facebook: standard("facebook"),
  twitter: standard("twitter"),
  date_of_first_session: standard("date_of_first_session"),
  date_of_last_session: standard("date_of_last_session"),
  marked_email_as_spam_at: standard("marked_email_as_spam_at"),
  email_open_tracking_disabled: standard("email_open_tracking_disabled", false),
  email_click_tracking_disabled: standard("email_click_tracking_disabled", false),
  custom_attributes: ({ profile }: ProfileSource) => profile.customAttributes,
  custom_events: customEvents,
  purchases: purchasesByProduct,
  total_revenue: totalRevenue,
  revenue_by_currency: revenueByCurrency,
  push_tokens: standard("push_tokens", []),
  subscription_groups: subscriptionGroups,
  apps: appsView,
  devices: devicesView,
  campaigns_received: interactionsView("campaign", "api_campaign_id"),
  canvases_received: interactionsView("canvas", "api_canvas_id"),
  cards_clicked: interactionsView("card", "name"),
  engagement_times: engagementTimesView,
  merged_ids: mergedIds,
  message_history: messagesView,
  recent_activity: recentActivityView,
  attributed_campaign: neverKnown,
  attributed_source: neverKnown,
  attributed_adgroup: neverKnown,
  attributed_ad: neverKnown,
  push_opted_in_at: neverKnown,
  uninstalled_at: neverKnown,
} as const;

export type ExportField = keyof typeof FIELDS;

export const EXPORT_FIELDS = Object.keys(FIELDS) as ExportField[];

/** What costs statements of its own, so only for those who ask. decision: docs/decisions/export.md. */
const COSTLY: readonly ExportField[] = ["merged_ids", "message_history", "recent_activity"];

const isOnRequest = (field: ExportField): boolean =>
  COSTLY.includes(field) || FIELDS[field] === neverKnown;

/** What is exported where nothing else is asked for. */
export const DEFAULT_FIELDS: readonly ExportField[] = EXPORT_FIELDS.filter(
  (field) => !isOnRequest(field),
);

/** A profile as it is exported, of these fields. */
export function profileView(
  source: ProfileSource,
  fields: readonly ExportField[],
): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, FIELDS[field](source)]));
}

/** A number from 0 to 9,999 that stays with the profile. */
const randomBucket = (id: string): number => Number.parseInt(id.slice(-8), 16) % 10_000;

/** The ids of users who were merged into this one; an external_id only where it leads here. */
function mergedIds({ profile, merged }: ProfileSource): unknown[] {
  return merged
    .filter((each) => each.keptProfileId === profile.id)
    .map((each) => ({ platform_id: each.profileId, external_id: each.externalId }));
}

function lastCoordinates({ profile }: ProfileSource): unknown {
  const location = profile.standardAttributes.current_location;
  const { longitude, latitude } = (location ?? {}) as { longitude?: number; latitude?: number };
  return longitude === undefined ? null : [longitude, latitude];
}

/** The state of the address; while there is none, what the person said in the meantime. */
function emailState({ profile, emailStates }: ProfileSource): unknown {
  const { email } = profile;
  if (!email) return profile.standardAttributes.email_subscribe ?? "subscribed";
  return emailStates.find((row) => row.email === emailValue(email))?.state ?? "subscribed";
}

function customEvents({ profile, events }: ProfileSource): unknown[] {
  return events
    .filter((event) => event.profileId === profile.id)
    .map((event) => ({
      name: event.name,
      first: event.firstAt.toISOString(),
      last: event.lastAt.toISOString(),
      count: event.count,
    }));
}

const purchasesOf = ({ profile, purchases }: ProfileSource): PurchaseSummary[] =>
  purchases.filter((purchase) => purchase.profileId === profile.id);

/** By product, over all currencies. */
function purchasesByProduct(source: ProfileSource): unknown[] {
  const rows = purchasesOf(source);
  return [...new Set(rows.map((row) => row.productId))].map((name) => {
    const ofProduct = rows.filter((row) => row.productId === name);
    return {
      name,
      first: new Date(Math.min(...ofProduct.map((row) => row.firstAt.getTime()))).toISOString(),
      last: new Date(Math.max(...ofProduct.map((row) => row.lastAt.getTime()))).toISOString(),
      count: ofProduct.reduce((sum, row) => sum + row.count, 0),
    };
  });
}

/** Amounts as they were sent, added up; see `revenue_by_currency` where there are several. */
function totalRevenue(source: ProfileSource): number {
  return sumOfDecimals(purchasesOf(source).map((row) => row.revenue));
}

function revenueByCurrency(source: ProfileSource): Record<string, number> {
  const rows = purchasesOf(source);
  return Object.fromEntries(
    [...new Set(rows.map((row) => row.currency))].map((currency) => [
      currency,
      sumOfDecimals(rows.filter((row) => row.currency === currency).map((row) => row.revenue)),
    ]),
  );
}

/** Adds decimals without the rounding that adding floating-point numbers would bring. */
function sumOfDecimals(decimals: readonly string[]): number {
  const digits = Math.max(0, ...decimals.map((text) => text.split(".")[1]?.length ?? 0));
  const units = decimals.map((text) => {
    const [whole = "0", fraction = ""] = text.split(".");
    return BigInt(whole + fraction.padEnd(digits, "0"));
  });
  const sum = units.reduce((total, each) => total + each, 0n);
  const text = sum
    .toString()
    .replace("-", "")
    .padStart(digits + 1, "0");
  const split = text.length - digits;
  return Number(`${sum < 0n ? "-" : ""}${text.slice(0, split)}.${text.slice(split)}`);
}

function subscriptionGroups({ profile, groupStates, workspace }: ProfileSource): unknown[] {
  return groupStates
    .filter((row) => row.profileId === profile.id)
    .map((row) => ({
      id: row.groupId,
      channel: workspace.groupChannels.get(row.groupId) ?? null,
      status: row.state,
    }));
}
