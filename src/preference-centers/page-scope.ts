import { maskName } from "../liquid/liquid-names.ts";
import { STANDARD_ATTRIBUTES } from "../people/standard-attributes.ts";
import type { EmailState, GroupState } from "../subscriptions/states.ts";
import type { Json } from "../values/plain-json.ts";
import type { SubscriptionGroup } from "../workspaces/subscription-groups.ts";
import { groupField } from "./fields.ts";

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
}

export interface PageFrame {
  readonly submitUrl: string;
  readonly title: string;
  /** The one that the page is shown in. */
  readonly locale: string;
}

/** The names of standard attributes in Liquid, each with the attribute. */
const STANDARD_NAMES = Object.entries(STANDARD_ATTRIBUTES).flatMap(([attribute, { liquid }]) =>
  liquid === null ? [] : [[liquid, attribute] as const],
);

/**
 * What a page can name (docs/preference-centers.md): the publicly known names, and of our own
 * `subscription_groups` (id, name, channel, state, field_name), the title and the locale of the page.
 */
export function scopeOf(reader: Reader, frame: PageFrame): Record<string, unknown> {
  const { standardAttributes, customAttributes } = reader;
  const attributes = { ...standardAttributes, email: reader.email, phone: reader.phone };
  const named = {
    user_id: reader.externalId,
    ...Object.fromEntries(
      STANDARD_NAMES.map(([name, attribute]) => [name, ownValue(attributes, attribute)]),
    ),
  };
  return {
    ...Object.fromEntries(
      Object.entries(named).map(([name, value]) => [maskName(`\${${name}}`), value]),
    ),
    custom_attribute: byName(Object.entries(customAttributes)),
    subscribed_state: byName([
      ...reader.groups.map(({ id }) => [id, stateOf(reader, id)] as const),
      ["email_global", reader.emailState],
    ]),
    subscription_groups: reader.groups.map(({ id, name, channel }) => ({
      id,
      name,
      channel,
      state: stateOf(reader, id),
      field_name: groupField(id),
    })),
    preference_center_submit_url: frame.submitUrl,
    preference_center_title: frame.title,
    preference_center_locale: frame.locale,
  };
}

/** Publicly known: who was never given a state is not subscribed. */
const stateOf = ({ groupStates }: Reader, groupId: string): GroupState =>
  groupStates.get(groupId) ?? "unsubscribed";

const ownValue = (values: Readonly<Record<string, Json>>, name: string): Json | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

/** Members by their names, and by the names as they stand between `${` and `}`. */
function byName(values: readonly (readonly [name: string, value: unknown])[]): object {
  const members = Object.create(null);
  for (const [name, value] of values) {
    members[name] = value;
    members[maskName(`\${${name}}`)] = value;
  }
  return members;
}
