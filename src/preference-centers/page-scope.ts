import type { Json } from "../profiles/plain-json.ts";
import type { EmailState, GroupState } from "../subscriptions/states.ts";
import { maskName } from "../translations/liquid-names.ts";
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

/** How the standard attributes are called in a page, where it is not by their own name. */
const STANDARD_NAMES: Readonly<Record<string, string>> = {
  city: "home_city",
  country: "country",
  date_of_birth: "dob",
  first_name: "first_name",
  gender: "gender",
  language: "language",
  last_name: "last_name",
  time_zone: "time_zone",
};

/**
 * What a page can name. design: Preference centers; the publicly known names, and of our own
 * `subscription_groups` (id, name, channel, state, field_name), the title and the locale of the page.
 */
export function scopeOf(reader: Reader, frame: PageFrame): Record<string, unknown> {
  const { standardAttributes, customAttributes } = reader;
  const named = {
    email_address: reader.email,
    phone_number: reader.phone,
    user_id: reader.externalId,
    ...Object.fromEntries(
      Object.entries(STANDARD_NAMES).map(([name, attribute]) => [
        name,
        ownValue(standardAttributes, attribute),
      ]),
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
