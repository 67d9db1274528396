import { isJsonObject, type JsonObject } from "../../core/base/values/plain-json.ts";

/*
 * A row of a users file: an exported profile, or the attributes of a user as in a track request. Both have the
 * export's names; any other member is a custom attribute, and so are the members of `custom_attributes`.
 */

type Row = Readonly<Record<string, unknown>>;

/**
 * Exported fields that no attribute sets: derived from events, purchases and merges, or never
 * known.
 */
const DERIVED = [
  "created_at",
  "random_bucket",
  "custom_events",
  "purchases",
  "total_revenue",
  "revenue_by_currency",
  "merged_ids",
  "recent_activity",
  "attributed_campaign",
  "attributed_source",
  "attributed_adgroup",
  "attributed_ad",
  "push_opted_in_at",
  "uninstalled_at",
];

/** Members that no track request sets. */
const HISTORY = [
  "apps",
  "devices",
  "campaigns_received",
  "canvases_received",
  "cards_clicked",
  "messages",
  "engagement_times",
];

/** The parts of a row, each for the check that knows it. */
export interface ProfileRow {
  /** An attributes object of a track request. */
  readonly attributes: Row;
  /** An object of an import of history, without its identifier; undefined if there is none. */
  readonly history: Row | undefined;
  /** All aliases of the row, as they were given. */
  readonly aliases: readonly unknown[];
  /** The creation time of an exported profile, as given. */
  readonly createdAt: unknown;
}

/** Takes a row apart. Only the decision where a value belongs is checked here. */
export function readProfileRow(row: Row): ProfileRow {
  const { custom_attributes: custom, message_history, user_aliases, ...rest } = row;
  const isExported = isJsonObject(custom);
  const members = { ...rest, ...(message_history !== undefined && { messages: message_history }) };
  const history = pick(members, HISTORY);
  const aliases = [
    ...(rest.user_alias === undefined || rest.user_alias === null ? [] : [rest.user_alias]),
    ...(Array.isArray(user_aliases) ? user_aliases : []),
  ];
  const set = isExported ? withoutExportDefaults(members) : members;
  const attributes = {
    ...omit(set, [...HISTORY, ...NAMES, "subscription_groups", "last_coordinates"]),
    ...(isExported && custom),
    ...identityOf(row, aliases),
    ...locationOf(row),
    ...groupsOf(row),
    _update_existing_only: false,
  };
  return {
    attributes,
    history: Object.keys(history).length > 0 ? (withoutNulls(history) as Row) : undefined,
    aliases,
    createdAt: isExported ? row.created_at : undefined,
  };
}

/**
 * Fields of an exported profile that are not imported. A default state was perhaps never given, and
 * must not become a consent. Derived fields follow from the events and purchases, which are
 * imported separately.
 */
function withoutExportDefaults(row: Row): Row {
  const set = omit(row, DERIVED);
  return Object.fromEntries(
    Object.entries(set).filter(
      ([name, value]) =>
        value !== null && !(STATES.includes(name) && value === "subscribed") && !isEmptyList(value),
    ),
  );
}

const STATES = ["email_subscribe", "push_subscribe"];

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Identifiers that are not attributes beside another identifier, as email and phone are. */
const NAMES = ["external_id", "user_alias", "platform_id", "braze_id"];

/**
 * One identifier: a platform_id only if nothing else names the user, because it creates no user.
 */
function identityOf(row: Row, aliases: readonly unknown[]): Row {
  const given = (name: string) => row[name] !== undefined && row[name] !== null;
  if (given("external_id")) return { external_id: row.external_id };
  if (aliases.length > 0) return { user_alias: aliases[0] };
  if (given("email") || given("phone")) return {};
  const platformId = row.platform_id ?? row.braze_id;
  return platformId === undefined ? {} : { platform_id: platformId };
}

function locationOf({ last_coordinates }: Row): Row {
  if (!Array.isArray(last_coordinates)) return {};
  const [longitude, latitude] = last_coordinates;
  return { current_location: { longitude, latitude } };
}

/** Exports say `id` and `status`, requests say `subscription_group_id` and `subscription_state`. */
function groupsOf({ subscription_groups: groups }: Row): Row {
  if (!Array.isArray(groups)) return groups === undefined ? {} : { subscription_groups: groups };
  const read = groups.map((group) =>
    isJsonObject(group) && group.subscription_group_id === undefined
      ? { subscription_group_id: group.id, subscription_state: lowerCase(group.status) }
      : group,
  );
  return read.length > 0 ? { subscription_groups: read } : {};
}

const lowerCase = (value: unknown): unknown =>
  typeof value === "string" ? value.toLowerCase() : value;

const pick = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(
    Object.entries(row).filter(
      ([name, value]) => names.includes(name) && value !== null && !isEmptyList(value),
    ),
  );

const omit = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));

/** An export shows missing values as null. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value as JsonObject).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}
