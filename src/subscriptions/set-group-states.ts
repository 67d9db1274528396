import type { Clock } from "../clock.ts";
import type { Context } from "../context/context.ts";
import type { Workspace } from "../context/workspace.ts";
import { type Database, withRetries } from "../database/database.ts";
import type { ItemNote } from "../http/verdicts.ts";
import type { Who } from "../people/identifiers.ts";
import { loadPeople, type Need } from "../people/load-people.ts";
import type { People, Person } from "../people/people.ts";
import { savePeople } from "../people/save-people.ts";
import type { Fault } from "../problem.ts";
import { sharersOf } from "./sharers.ts";
import { type GroupState, type GroupStateSet, writeSubscriptions } from "./states.ts";

export interface SetServices {
  readonly database: Database;
  readonly clock: Clock;
}

/** Who sets states, and what has to be known of the workspace for it. */
export interface SettingContext extends Context {
  readonly workspace: Pick<Workspace, "id" | "groupChannels">;
}

/** Where something stands in a request: in which list, and at which index. */
export interface Place {
  readonly input_array: string;
  readonly index: number;
}

/** Somebody who is named by a request. */
export interface Named {
  readonly who: Who;
  readonly place: Place;
}

/** A state that everybody gets who is named, and everybody who shares an address with them. */
export interface GroupSet {
  /** A group of the workspace. */
  readonly groupId: string;
  readonly state: GroupState;
  readonly named: readonly Named[];
}

/**
 * Sets group states, all in one transaction and in their order, with a number of statements that does
 * not depend on how many there are. No profile is made.
 *
 * spec: POST /v2/subscription/status/set. An email or a phone names everybody who has it.
 *
 * @returns what led to nobody.
 */
export function setGroupStates(
  { database, clock }: SetServices,
  context: SettingContext,
  sets: readonly GroupSet[],
): Promise<ItemNote[]> {
  const { workspace } = context;
  return withRetries(database, async (tx, attempt) => {
    const needs = sets.flatMap((set) => set.named.map(needOf));
    const people = await loadPeople(tx, workspace.id, needs, {
      newId: clock.newId,
      lock: attempt > 1,
    });

    const skipped: ItemNote[] = [];
    const groupStates: GroupStateSet[] = [];
    for (const { groupId, state, named } of sets) {
      const found = named.flatMap(({ who, place }) => {
        const meant = everybodyNamed(people, who);
        if (meant.length === 0) skipped.push({ ...nobodyThere(who), ...place });
        return meant;
      });
      const reached = sharersOf(people, found, workspace.groupChannels.get(groupId));
      for (const person of leastRecentFirst(reached)) {
        groupStates.push({ profileId: person.id, groupId, state, context });
        people.touch(person);
      }
      // Last, so that of those who share an address the users named by id are the most recently updated.
      for (const person of namedById(people, named)) people.touch(person);
    }

    await savePeople(tx, workspace.id, people.changes(clock.now()));
    const changes = { groupStates, emailStates: [], linkedEmailStates: [] };
    await writeSubscriptions(tx, workspace.id, changes, clock);
    return skipped;
  });
}

const needOf = ({ who }: Named): Need => ({ who, reads: true, addresses: [], spreads: true });

function everybodyNamed(people: People, who: Who): readonly Person[] {
  if (who.kind === "email" || who.kind === "phone") return people.holdersOf(who.kind, who.value);
  const person = people.find(who);
  return person ? [person] : [];
}

/** An address names all who have it, so their order stays as it was. */
const leastRecentFirst = (people: Iterable<Person>): Person[] =>
  [...people].sort((one, other) => one.rank - other.rank);

const namedById = (people: People, named: readonly Named[]): readonly Person[] =>
  named.flatMap(({ who }) =>
    who.kind === "email" || who.kind === "phone" ? [] : everybodyNamed(people, who),
  );

const nobodyThere = ({ kind }: Who): Fault => ({
  code: "USER_NOT_FOUND",
  message: `no user has this '${kind === "alias" ? "user_alias" : kind}'`,
});
