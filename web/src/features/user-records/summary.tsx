import type { ReactNode } from "react";
import { type Profile, profileOf, type UserRecord } from "../../api/users.ts";
import { amountText } from "../../components/numbers.ts";
import { Absent } from "../../components/page.tsx";
import { channelName, sentence, Tag, type Tone } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";

/** The user at a glance. */
export function Summary({ record }: { readonly record: UserRecord }) {
  const profile = profileOf(record);
  const tiles: readonly (readonly [string, ReactNode])[] = [
    ["Place", <Place key="place" {...profile} />],
    ["Since", <Time key="since" at={profile.created_at} as="day" />],
    ["Last seen", <Time key="seen" at={lastSeen(profile)} />],
    ["Spent", spentBy(profile).map((text) => <div key={text}>{text}</div>)],
    [
      "Reachable by",
      channelsOf(record, profile).map(([tone, text]) => (
        <Tag key={text} tone={tone}>
          {text}
        </Tag>
      )),
    ],
  ];
  return (
    <dl className="tiles summary">
      {tiles.map(([name, value]) => (
        <div key={name} className="card tile">
          <dt>{name}</dt>
          <dd>{Array.isArray(value) && value.length === 0 ? <Absent /> : value}</dd>
        </div>
      ))}
    </dl>
  );
}

const COUNTRIES = new Intl.DisplayNames(undefined, { type: "region" });

/** `Berlin, Germany` */
const Place = ({ home_city: city, country }: Profile) => {
  const place = [city, country && COUNTRIES.of(country)].filter(Boolean).join(", ");
  return place ? <bdi>{place}</bdi> : <Absent />;
};

/** The latest event, purchase or session. */
const lastSeen = (profile: Profile): string | undefined =>
  [
    ...[...profile.custom_events, ...profile.purchases].map(({ last }) => last),
    ...profile.apps.map(({ last_used }) => last_used),
    profile.date_of_last_session,
  ]
    .filter((each) => typeof each === "string")
    .sort()
    .at(-1);

/** What the user spent in each currency, the most first. */
export const spentBy = ({ revenue_by_currency: spent }: Profile): readonly string[] =>
  Object.entries(spent)
    .sort(([, one], [, other]) => other - one)
    .map(([currency, amount]) => amountText(amount, currency));

type Reach = readonly [tone: Tone, text: string];

/** Whether each channel reaches the user, as `reach` of a segment counts it; if not, why. */
const channelsOf = ({ subscriptions }: UserRecord, profile: Profile): readonly Reach[] => [
  emailOf(subscriptions, profile),
  pushOf(profile),
  ...phoneOf(subscriptions, profile),
];

type Subscriptions = UserRecord["subscriptions"];

function emailOf({ email }: Subscriptions, { marked_email_as_spam_at: isSpam }: Profile): Reach {
  if (!email) return ["plain", "Email: no address"];
  if (email.state === "unsubscribed") return ["plain", "Email: unsubscribed"];
  if (email.hard_bounced_at) return ["bad", "Email: bounced"];
  if (isSpam) return ["bad", "Email: marked as spam"];
  return ["good", `Email: ${sentence(email.state ?? "subscribed").toLowerCase()}`];
}

function pushOf({ push_subscribe: state, push_tokens: { length } }: Profile): Reach {
  if (state === "unsubscribed") return ["plain", "Push: unsubscribed"];
  if (length === 0) return ["plain", "Push: no device"];
  return ["good", `Push: ${length} ${length === 1 ? "device" : "devices"}`];
}

function phoneOf({ groups }: Subscriptions, { phone }: Profile): readonly Reach[] {
  if (!phone) return [["plain", "Phone: no number"]];
  const channels = new Set(groups.map(({ channel }) => channel ?? "email"));
  channels.delete("email");
  if (channels.size === 0) return [["plain", "Phone: in no group"]];
  return [...channels].map((channel) => {
    const isIn = groups.some((each) => each.channel === channel && each.state === "subscribed");
    return isIn
      ? ["good", `${channelName(channel)}: subscribed`]
      : ["plain", `${channelName(channel)}: unsubscribed`];
  });
}
