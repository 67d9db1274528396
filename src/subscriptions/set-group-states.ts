import type { Clock } from "../clock.ts";
import type { Context } from "../context/context.ts";
import type { Workspace } from "../context/workspace.ts";
import { type Database, withRetries } from "../database/database.ts";
import type { ItemNote } from "../http/verdicts.ts";
import type { PersonIdentifier } from "../people/identifiers.ts";
import { loadPeople, type Target } from "../people/load-people.ts";
import type { People, Person } from "../people/people.ts";
import { savePeople } from "../people/save-people.ts";
import type { Fault } from "../problem.ts";
import { sharersOf } from "./sharers.ts";
import { type GroupState, type GroupStateSet, writeSubscriptions } from "./states.ts";

export interface SetServices {
  readonly database: Database;
  readonly clock: Clock;
}

/** A context with the part of the workspace that setting states needs. */
export interface SettingContext extends Context {
  readonly workspace: Pick<Workspace, "id" | "groupChannels">;
}

/** A place in a request: the list and the index. */
export interface Place {
  readonly input_array: string;
  readonly index: number;
}

/** A user that a request names. */
export interface Named {
  readonly identifier: PersonIdentifier;
  readonly place: Place;
}

/** A state for every named user and all users who share an address with them. */
export interface GroupSet {
  /** A group of the workspace. */
  readonly groupId: string;
  readonly state: GroupState;
  readonly named: readonly Named[];
}

/**
 * Sets group states in order, in one transaction, with a constant number of statements. No profile is
 * created.
 *
 * spec: POST /v2/subscription/status/set. An email or a phone names all users who have it.
 *
 * @returns the identifiers that match no user.
 */
export function setGroupStates(
  { database, clock }: SetServices,
  context: SettingContext,
  sets: readonly GroupSet[],
): Promise<ItemNote[]> {
  const { workspace } = context;
  return withRetries(database, async (tx, attempt) => {
    const targets = sets.flatMap((set) => set.named.map(targetOf));
    const people = await loadPeople(tx, workspace.id, targets, {
      newId: clock.newId,
      lock: attempt > 1,
    });

    const skipped: ItemNote[] = [];
    const groupStates: GroupStateSet[] = [];
    for (const { groupId, state, named } of sets) {
      const found = named.flatMap(({ identifier, place }) => {
        const meant = usersNamed(people, identifier);
        if (meant.length === 0) skipped.push({ ...userNotFound(identifier), ...place });
        return meant;
      });
      const reached = sharersOf(people, found, workspace.groupChannels.get(groupId));
      for (const person of leastRecentFirst(reached)) {
        groupStates.push({ profileId: person.id, groupId, state, context });
        people.touch(person);
      }
      // Last, so that the users named by id become the most recently updated of those who share an address.
      for (const person of namedById(people, named)) people.touch(person);
    }

    await savePeople(tx, workspace.id, people.changes(clock.now()));
    const changes = { groupStates, emailStates: [], linkedEmailStates: [] };
    await writeSubscriptions(tx, workspace.id, changes, clock);
    return skipped;
  });
}

const targetOf = ({ identifier }: Named): Target => ({
  identifier,
  reads: true,
  addresses: [],
  spreads: true,
});

function usersNamed(people: People, identifier: PersonIdentifier): readonly Person[] {
  if (identifier.kind === "email" || identifier.kind === "phone")
    return people.holdersOf(identifier.kind, identifier.value);
  const person = people.find(identifier);
  return person ? [person] : [];
}

/** Keeps the order of users named by one address. */
const leastRecentFirst = (people: Iterable<Person>): Person[] =>
  [...people].sort((one, other) => one.rank - other.rank);

const namedById = (people: People, named: readonly Named[]): readonly Person[] =>
  named.flatMap(({ identifier }) =>
    identifier.kind === "email" || identifier.kind === "phone"
      ? []
      : usersNamed(people, identifier),
  );

const userNotFound = ({ kind }: PersonIdentifier): Fault => ({
  code: "USER_NOT_FOUND",
  message: `no user has this '${kind === "alias" ? "user_alias" : kind}'`,
});
