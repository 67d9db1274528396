import { type Activity, activityOf, visitBefore } from "./activity.ts";
import { DAY_MS, DAYS, peopleOf, type Shopper } from "./people.ts";
import { randomFrom } from "./random.ts";

export interface Sample extends Activity {
  readonly people: readonly Shopper[];
  /** Those who came as a visitor first. Their events name the alias. */
  readonly visitors: readonly Shopper[];
}

const SEED = 20_260;

/**
 * The sample depends only on the day: the days before, counted from today, look alike every day.
 *
 * @param now nothing is later.
 */
export function sampleAt(now: Date): Sample {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const people = peopleOf(randomFrom(SEED), today);
  // Each has choices of their own, so that a change of one does not change all that follow.
  const activities = people.map((person, index) =>
    activityOf(randomFrom(SEED + 1 + index), person, today, now.getTime()),
  );
  const visitors = people.filter(
    ({ visitorId, joinedOn }) => visitorId !== undefined && joinedOn > today - DAYS * DAY_MS,
  );
  const before = visitors.map((person, index) => visitBefore(randomFrom(SEED - 1 - index), person));
  return {
    people,
    visitors,
    events: [...before.flat(), ...activities.flatMap(({ events }) => events)],
    purchases: activities.flatMap(({ purchases }) => purchases),
  };
}
