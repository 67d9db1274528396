import type { Workspace } from "../../core/base/context/workspace.ts";
import { addDecimals } from "../../core/base/values/decimals.ts";
import type { EmailState } from "../../core/base/values/email-states.ts";
import { groupBy } from "../../core/base/values/group-by.ts";
import type { EventSummary, PurchaseSummary } from "../../core/people/activity/activity.ts";
import type { ShownProfile } from "../../core/people/profiles/export-store.ts";
import type { MergedProfile } from "../../core/people/profiles/merged-store.ts";
import {
  type DerivedField,
  STANDARD_ATTRIBUTES,
  type StandardAttributeName,
} from "../../core/people/profiles/standard-attributes.ts";
import type { GroupStateRow } from "../../core/people/subscriptions/states.ts";
import { parsePending } from "../../core/people/subscriptions/waiting-state.ts";
import {
  type ActivitySource,
  appsView,
  devicesView,
  engagementTimesView,
  interactionsView,
  messagesView,
  recentActivityView,
} from "./activity-view.ts";
import { isoTime } from "./iso-time.ts";

/** Everything that is stored about one person, with what is needed to show it. */
export interface ProfileSource {
  readonly workspace: Workspace;
  readonly profile: ShownProfile;
  readonly events: readonly EventSummary[];
  readonly purchases: readonly PurchaseSummary[];
  readonly groupStates: readonly GroupStateRow[];
  /** The state of the profile's address, if there is one. */
  readonly emailState: EmailState | undefined;
  readonly activity: ActivitySource;
  /** The merged profiles whose ids identify these users; empty unless requested. */
  readonly merged: readonly MergedProfile[];
}

/** Fields of standard attributes that show more than the stored value. */
const DERIVED: Readonly<Record<DerivedField, (source: ProfileSource) => unknown>> = {
  email: ({ profile }) => profile.email,
  phone: ({ profile }) => profile.phone,
  email_subscribe: emailState,
  last_coordinates: lastCoordinates,
};

type StandardField = Exclude<StandardAttributeName, "current_location"> | DerivedField;

const STANDARD_FIELDS = Object.fromEntries(
  Object.entries(STANDARD_ATTRIBUTES).map(([name, { exported }]) =>
    "derived" in exported
      ? [exported.derived, DERIVED[exported.derived]]
      : [
          name,
          ({ profile }: ProfileSource) => profile.standardAttributes[name] ?? exported.ifAbsent,
        ],
  ),
) as Readonly<Record<StandardField, (source: ProfileSource) => unknown>>;

/** Public fields that Rapport never learns: who attributed an install, and the like. */
const neverKnown = (): null => null;

/** The fields of an exported profile and the source of each. What is missing is null or empty. */
const FIELDS = {
  platform_id: ({ profile }: ProfileSource) => profile.id,
  braze_id: ({ profile }: ProfileSource) => profile.id,
  external_id: ({ profile }: ProfileSource) => profile.externalId,
  user_aliases: ({ profile }: ProfileSource) => profile.aliases,
  created_at: ({ profile }: ProfileSource) => isoTime(profile.createdAt),
  random_bucket: ({ profile }: ProfileSource) => randomBucket(profile.id),
  ...STANDARD_FIELDS,
  custom_attributes: ({ profile }: ProfileSource) => profile.customAttributes,
  custom_events: customEvents,
  purchases: purchasesByProduct,
  total_revenue: totalRevenue,
  revenue_by_currency: revenueByCurrency,
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

/**
 * Fields that need extra statements, so they are read only on request. See
 * docs/decisions/export.md.
 */
const COSTLY: readonly ExportField[] = ["merged_ids", "message_history", "recent_activity"];

const SUMMARY_FIELDS: readonly ExportField[] = [
  "custom_events",
  "purchases",
  "total_revenue",
  "revenue_by_currency",
];

/** Whether a field is read from the summaries of events and purchases. */
export const isSummaryField = (field: ExportField): boolean => SUMMARY_FIELDS.includes(field);

/** Whether none of these fields is costly. */
export const isCheap = (fields: readonly ExportField[]): boolean =>
  !fields.some((field) => COSTLY.includes(field));

const isOnRequest = (field: ExportField): boolean =>
  COSTLY.includes(field) || FIELDS[field] === neverKnown;

export const DEFAULT_FIELDS: readonly ExportField[] = EXPORT_FIELDS.filter(
  (field) => !isOnRequest(field),
);

export function profileView(
  source: ProfileSource,
  fields: readonly ExportField[],
): Record<string, unknown> {
  // Builds no list of entries: this runs for each field of each profile.
  const view: Record<string, unknown> = {};
  for (const field of fields) view[field] = FIELDS[field](source);
  return view;
}

/** A number from 0 to 9,999 that stays with the profile. */
const randomBucket = (id: string): number => Number.parseInt(id.slice(-8), 16) % 10_000;

/**
 * The ids of users who were merged into this one; an external_id only if it identifies this user.
 */
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

/** The state of the address; for a profile without an address, the pending state. */
function emailState({ profile, emailState: state }: ProfileSource): unknown {
  if (!profile.email) {
    return parsePending(profile.standardAttributes.email_subscribe)?.state ?? "subscribed";
  }
  return state ?? "subscribed";
}

function customEvents({ events }: ProfileSource): unknown[] {
  return events.map((event) => ({
    name: event.name,
    first: isoTime(event.firstAt),
    last: isoTime(event.lastAt),
    count: event.count,
  }));
}

/** By product, over all currencies. */
function purchasesByProduct({ purchases }: ProfileSource): unknown[] {
  return [...groupBy(purchases, (row) => row.productId)].map(([name, rows]) => ({
    name,
    first: isoTime(new Date(Math.min(...rows.map((row) => row.firstAt.getTime())))),
    last: isoTime(new Date(Math.max(...rows.map((row) => row.lastAt.getTime())))),
    count: rows.reduce((sum, row) => sum + row.count, 0),
  }));
}

const revenueOf = (rows: readonly PurchaseSummary[]): number =>
  Number(rows.map((row) => row.revenue).reduce(addDecimals, "0"));

/** Amounts as sent, added up; see `revenue_by_currency` for several currencies. */
function totalRevenue({ purchases }: ProfileSource): number {
  return revenueOf(purchases);
}

function revenueByCurrency({ purchases }: ProfileSource): Record<string, number> {
  const groups = [...groupBy(purchases, (row) => row.currency)];
  return Object.fromEntries(groups.map(([currency, rows]) => [currency, revenueOf(rows)]));
}

function subscriptionGroups({ groupStates, workspace }: ProfileSource): unknown[] {
  const sorted =
    groupStates.length < 2
      ? groupStates
      : [...groupStates].sort((one, other) => (one.groupId < other.groupId ? -1 : 1));
  return sorted.map((row) => ({
    id: row.groupId,
    channel: workspace.groupChannels.get(row.groupId) ?? null,
    status: row.state,
  }));
}
