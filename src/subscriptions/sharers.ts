import type { Channel } from "../context/workspace.ts";
import { emailValue } from "../people/identifiers.ts";
import type { People, Person } from "../people/people.ts";

/**
 * Every user affected by a state that some users get for a group of this channel: all who
 * have the email of one of them, and for the channels that send to phones all who have the number of
 * one of them. The people must be loaded with `spreads` (people/load-people.ts).
 *
 * spec: Subscription group state, "all of them are updated".
 */
export function sharersOf(
  people: People,
  named: readonly Person[],
  channel: Channel | undefined,
): ReadonlySet<Person> {
  const emails = new Set(named.flatMap(({ email }) => (email ? [emailValue(email)] : [])));
  const phones = new Set(named.flatMap(({ phone }) => (phone ? [phone] : [])));
  return new Set([
    ...named,
    ...[...emails].flatMap((email) => people.holdersOf("email", email)),
    ...(channel === "email"
      ? []
      : [...phones].flatMap((phone) => people.holdersOf("phone", phone))),
  ]);
}
