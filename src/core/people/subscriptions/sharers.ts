import type { Channel } from "../../base/context/workspace.ts";
import { Problem } from "../../base/problem.ts";
import { emailValue } from "../profiles/identifiers.ts";
import type { People, Person } from "../profiles/people.ts";

/**
 * Every user affected when some users get a state in a group of this channel: all who share an email with
 * one of them and, for channels that send to phones, all who share a number. The people must be loaded
 * with `affectsSharers` (core/people/profiles/load-people.ts).
 *
 * @returns them in the order of their last updates.
 *
 * spec: Subscription group state, "all of them are updated".
 */
export function sharersOf(
  people: People,
  named: readonly Person[],
  channel: Channel | undefined,
): readonly Person[] {
  const emails = new Set(named.flatMap(({ email }) => (email ? [emailValue(email)] : [])));
  const phones = new Set(named.flatMap(({ phone }) => (phone ? [phone] : [])));
  const reached = new Set([
    ...named,
    ...[...emails].flatMap((email) => people.holdersOf("email", email)),
    ...(channel === "email"
      ? []
      : [...phones].flatMap((phone) => people.holdersOf("phone", phone))),
  ]);
  return leastRecentFirst(reached);
}

/** Users who are updated together keep their order. */
export const leastRecentFirst = (people: Iterable<Person>): Person[] =>
  [...people].sort((one, other) => one.rank - other.rank);

/**
 * How many states of groups one request sets, and one transaction: each group counts once for every user of an
 * address. One group of one address is never refused. docs/decisions/work-of-updates.md
 */
export const MOST_STATES = 50_000;

/** @throws Problem WORK_LIMIT_EXCEEDED if a transaction would set more states. Calls that share one then run separately. */
export function refuseTooManyStates(count: number): void {
  if (count <= MOST_STATES) return;
  throw new Problem(
    "WORK_LIMIT_EXCEEDED",
    `'subscription_groups' sets more than ${MOST_STATES} states: each group counts for every user of an address. Send fewer groups or users at a time.`,
    { body: { code: "WORK_LIMIT_EXCEEDED" } },
  );
}

export const areTooManyStates = (error: unknown): boolean =>
  error instanceof Problem && error.code === "WORK_LIMIT_EXCEEDED";
