import type { Workspace } from "../access/workspace.ts";
import type { Clock } from "../clock.ts";
import { type Database, withRetries } from "../database/database.ts";
import type { Call } from "../http/endpoint.ts";
import type { Fault } from "../problem.ts";
import type { Who } from "../profiles/identifiers.ts";
import { loadPeople, type Need } from "../profiles/load-people.ts";
import type { People, Person } from "../profiles/people.ts";
import { savePeople } from "../profiles/save-people.ts";
import { sharersOf } from "./sharers.ts";
import { type GroupState, type GroupStateSet, writeSubscriptions } from "./states.ts";

export interface SetServices {
  readonly database: Database;
  readonly clock: Clock;
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
  workspace: Pick<Workspace, "id" | "groupChannels">,
  sets: readonly GroupSet[],
  call: Call,
): Promise<(Fault & Place)[]> {
  return withRetries(database, async (tx, attempt) => {
    const needs = sets.flatMap((set) => set.named.map(needOf));
    const people = await loadPeople(tx, workspace.id, needs, {
      newId: clock.newId,
      lock: attempt > 1,
    });

    const skipped: (Fault & Place)[] = [];
    const groupStates: GroupStateSet[] = [];
    for (const { groupId, state, named } of sets) {
      const found = named.flatMap(({ who, place }) => {
        const meant = everybodyNamed(people, who);
        if (meant.length === 0) skipped.push({ ...nobodyThere(who), ...place });
        return meant;
      });
      for (const person of sharersOf(people, found, workspace.groupChannels.get(groupId))) {
        groupStates.push({ profileId: person.id, groupId, state, call });
        people.touch(person);
      }
    }

    await savePeople(tx, workspace.id, people.changes(clock.now()));
    const changes = { groupStates, emailStates: [], initialEmailStates: [] };
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

const nobodyThere = ({ kind }: Who): Fault => ({
  code: "USER_NOT_FOUND",
  message: `no user has this '${kind === "alias" ? "user_alias" : kind}'`,
});
