import type { SubscriptionGroup } from "../../core/admin/workspaces/subscription-groups.ts";
import type { WorkspaceSettings } from "../../core/base/context/workspace-settings.ts";
import type { EmailState } from "../../core/base/values/email-states.ts";
import type { Json } from "../../core/base/values/plain-json.ts";
import { STANDARD_ATTRIBUTES } from "../../core/people/profiles/standard-attributes.ts";
import type { GroupState } from "../../core/people/subscriptions/states.ts";
import { maskName } from "../liquid/feature.ts";
import { GLOBAL_FIELD, groupField } from "./fields.ts";
import { directionOf } from "./locales.ts";

/** The person a page is for, with all that a page may show. */
export interface Reader {
  readonly profileId: string;
  readonly externalId: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly standardAttributes: Readonly<Record<string, Json>>;
  readonly customAttributes: Readonly<Record<string, Json>>;
  readonly emailState: EmailState;
  readonly groupStates: ReadonlyMap<string, GroupState>;
  /** All groups of the workspace, by name. */
  readonly groups: readonly SubscriptionGroup[];
  /** How the workspace presents itself. */
  readonly brand: Brand;
  /** The hosts from which the page may load pictures and fonts. */
  readonly imageHosts: readonly string[];
}

/** A reader's latest changes, for the confirmation. */
export interface ShownChange {
  /** The group; undefined for the state of all email. */
  readonly groupId: string | undefined;
  readonly before: string;
  readonly after: string;
}

export interface PageFrame {
  readonly submitUrl: string;
  readonly title: string;
  readonly locale: string;
  readonly changes?: readonly ShownChange[] | undefined;
  /** Which page of the groups is shown, from 1. */
  readonly groupPage?: number | undefined;
}

const GROUPS_A_PAGE = 100;

/** How many groups a page can go through; each takes several of its steps. */
const MOST_LISTED_GROUPS = 1_000;

const MOST_SHOWN_CHANGES = 100;

/** The names of standard attributes in Liquid, each with the attribute. */
const STANDARD_NAMES = Object.entries(STANDARD_ATTRIBUTES).flatMap(([attribute, { liquid }]) =>
  liquid === null ? [] : [[maskName(`\${${liquid}}`), attribute] as const],
);

const USER_ID = maskName(`\${user_id}`);

/**
 * The names that a page can use (docs/preference-centers.md): the public names, and also
 * `subscription_groups` (id, name, description, channel, state, field_name, is_reachable),
 * `reachable_groups`, `group_page`, `changes`, `brand`, and the title, the locale and the direction
 * of the page.
 */
export function scopeOf(reader: Reader, frame: PageFrame): Record<string, unknown> {
  const { standardAttributes, customAttributes } = reader;
  const attributes = { ...standardAttributes, email: reader.email, phone: reader.phone };
  const listed = reader.groups.slice(0, MOST_LISTED_GROUPS);
  const groups = listed.map((group) => groupView(reader, group));
  const changes = frame.changes ?? [];
  return {
    [USER_ID]: reader.externalId,
    ...Object.fromEntries(
      STANDARD_NAMES.map(([name, attribute]) => [name, ownValue(attributes, attribute)]),
    ),
    custom_attribute: byName(Object.entries(customAttributes)),
    subscribed_state: byName([
      ...reader.groups.map(({ id }) => [id, stateOf(reader, id)] as const),
      ["email_global", reader.emailState],
    ]),
    subscription_groups: groups,
    reachable_groups: groups.filter(({ is_reachable }) => is_reachable),
    group_page: groupPageOf(reader, frame.groupPage),
    changes: changes.slice(0, MOST_SHOWN_CHANGES).map((change) => changeOf(reader, change)),
    has_more_changes: changes.length > MOST_SHOWN_CHANGES,
    brand: brandView(reader.brand),
    preference_center_direction: directionOf(frame.locale),
    preference_center_submit_url: frame.submitUrl,
    preference_center_title: frame.title,
    preference_center_locale: frame.locale,
  };
}

/** A page of the groups that reach the reader. One beyond the last is the last. */
function groupPageOf(reader: Reader, wanted = 1) {
  const reachable = reader.groups.filter((group) => isReachable(reader, group));
  const count = Math.max(1, Math.ceil(reachable.length / GROUPS_A_PAGE));
  const number = Math.min(Math.max(1, wanted), count);
  const from = (number - 1) * GROUPS_A_PAGE;
  return {
    groups: reachable.slice(from, from + GROUPS_A_PAGE).map((group) => groupView(reader, group)),
    number,
    count,
    previous: number > 1 ? number - 1 : null,
    next: number < count ? number + 1 : null,
  };
}

const isReachable = (reader: Reader, { channel }: SubscriptionGroup): boolean =>
  (channel === "email" ? reader.email : reader.phone) !== null;

function groupView(reader: Reader, group: SubscriptionGroup) {
  const { id, name, channel, description } = group;
  return {
    id,
    name,
    description,
    channel,
    state: stateOf(reader, id),
    field_name: groupField(id),
    is_reachable: isReachable(reader, group),
  };
}

function changeOf({ groups }: Reader, { groupId, before, after }: ShownChange) {
  const name = groups.find(({ id }) => id === groupId)?.name ?? "";
  const field_name = groupId === undefined ? GLOBAL_FIELD : groupField(groupId);
  return { is_email: groupId === undefined, name, field_name, before, after };
}

export function changesBetween(before: Reader, after: Reader): ShownChange[] {
  const ofGroups = after.groups.map(({ id }) => ({
    groupId: id,
    before: stateOf(before, id),
    after: stateOf(after, id),
  }));
  const ofEmail = { groupId: undefined, before: before.emailState, after: after.emailState };
  return [ofEmail, ...ofGroups].filter((each) => each.before !== each.after);
}

/** Publicly known: who was never given a state is not subscribed. */
const stateOf = ({ groupStates }: Reader, groupId: string): GroupState =>
  groupStates.get(groupId) ?? "unsubscribed";

const ownValue = (values: Readonly<Record<string, Json>>, name: string): Json | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

/** Members by their names, and by the names as written between `${` and `}`. */
function byName(values: readonly (readonly [name: string, value: unknown])[]): object {
  const members = Object.create(null);
  for (const [name, value] of values) {
    members[name] = value;
    members[maskName(`\${${name}}`)] = value;
  }
  return members;
}

/* How a workspace presents itself on its pages: `brand` in its settings. */

type Brand = WorkspaceSettings["brand"];

/**
 * The brand as pages see it: the declared colors, and for each the one of black and white that is
 * easier to read on it.
 */
function brandView({ company, logo_url, color, color_dark = color }: Brand) {
  return {
    company,
    logo_url,
    color,
    on_color: color && inkOn(color),
    color_dark,
    on_color_dark: color_dark && inkOn(color_dark),
  };
}

/** Contrast is the same against both at this luminance: (0.179 + 0.05) / 0.05 = 1.05 / 0.229. WCAG 2.2, 1.4.3. */
const MIDDLE = 0.179;

const inkOn = (color: string): string => (luminanceOf(color) > MIDDLE ? "#000000" : "#ffffff");

/** WCAG 2.2: relative luminance. @param color such as #3453d1 */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
