import type { Channel } from "../access/workspace.ts";
import { emailValue } from "../profiles/identifiers.ts";
import type { People, Person } from "../profiles/people.ts";

/**
 * Everybody whom a state reaches that is given to one person for a group of this channel: all who
 * have the same email, and for the channels that send to phones all who have the same number. The
 * people must be loaded with `spreads` (profiles/load-people.ts).
 *
 * spec: Subscription group state, "all of them are updated".
 */
export function sharersOf(
  people: People,
  person: Person,
  channel: Channel | undefined,
): ReadonlySet<Person> {
  const { email, phone } = person;
  return new Set([
    person,
    ...(email ? people.holdersOf("email", emailValue(email)) : []),
    ...(phone && channel !== "email" ? people.holdersOf("phone", phone) : []),
  ]);
}
