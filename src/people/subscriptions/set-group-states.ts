import type { Clock } from "../../base/clock.ts";
import type { Context } from "../../base/context/context.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import type { Fault } from "../../base/problem.ts";
import { startTurns } from "../../base/turns.ts";
import type { ItemNote } from "../../base/verdicts.ts";
import {
  type Database,
  isAborted,
  settleAll,
  type Transaction,
  withRetries,
} from "../../database/database.ts";
import { writePeopleAt } from "../profiles/id-removals-store.ts";
import type { PersonIdentifier } from "../profiles/identifiers.ts";
import { type Cached, loadPeople, readPeople, type Target } from "../profiles/load-people.ts";
import type { People, Person } from "../profiles/people.ts";
import { type ProfileTouch, touchProfiles } from "../profiles/update-profiles-store.ts";
import { sharersOf } from "./sharers.ts";
import { type GroupState, type GroupStateSet, writeGroupSets } from "./states.ts";

export interface SetServices {
  readonly database: Database;
  readonly clock: Clock;
}

/** A context with the part of the workspace that setting states needs. */
export interface SettingContext extends Context {
  readonly workspace: Pick<Workspace, "id" | "groupChannels">;
}

/** A place in a request: the list and the index. */
export interface ItemPosition {
  readonly input_array: string;
  readonly index: number;
}

/** A user that a request names. */
export interface Named {
  readonly identifier: PersonIdentifier;
  readonly place: ItemPosition;
}

/** A state for every named user and all users who share an address with them. */
export interface GroupSet {
  /** A group of the workspace. */
  readonly groupId: string;
  readonly state: GroupState;
  readonly named: readonly Named[];
}

/** The sets of one request, in order. */
export interface SetRequest {
  readonly context: SettingContext;
  readonly sets: readonly GroupSet[];
}

/**
 * Sets group states in order, in one transaction, with a constant number of statements. No profile is
 * created.
 *
 * spec: POST /v2/subscription/status/set. An email or a phone names all users who have it.
 *
 * @returns the identifiers that match no user.
 */
export async function setGroupStates(
  services: SetServices,
  context: SettingContext,
  sets: readonly GroupSet[],
): Promise<ItemNote[]> {
  const [skipped] = await setTogether(services, [{ context, sets }]);
  return skipped ?? [];
}

/**
 * The same for several requests of one workspace, in their order, in one transaction.
 *
 * Users are read without a lock and then written on a condition. For users named by id that is that they still have
 * the addresses by which sharers were found, so that other writes about them do not abort this one. Of users named
 * by an address the order of their updates counts, so it is the version. The states themselves are read
 * once the users are locked. If a condition fails, everything runs again with the users locked first.
 *
 * @param cached the id cache; with it users are read before the transaction begins.
 * @returns for each request the identifiers that match no user.
 */
export async function setTogether(
  { database, clock }: SetServices,
  requests: readonly SetRequest[],
  cached?: Cached,
): Promise<ItemNote[][]> {
  const [first] = requests;
  if (!first) return [];
  const workspaceId = first.context.workspace.id;
  const targets = requests.flatMap(({ sets }) => sets.flatMap((set) => set.named.map(targetOf)));
  const options = { newId: clock.newId, bare: true };
  if (cached) {
    const ahead = await readPeople(database, workspaceId, targets, { ...options, cached })
      .then((people) => workOut(people, requests))
      .then((worked) =>
        database.transaction((tx) => {
          const started = writePeopleAt(tx, workspaceId, cached.removals);
          return settleAll([started, save(tx, workspaceId, worked, clock)]).then(() => worked);
        }),
      )
      .catch(unlessAborted);
    if (ahead) return ahead.skipped;
  }
  return withRetries(database, async (tx, attempt) => {
    const lock = cached !== undefined || attempt > 1;
    const people = await loadPeople(tx, workspaceId, targets, { ...options, lock });
    const worked = await workOut(people, requests);
    await save(tx, workspaceId, worked, clock);
    return worked.skipped;
  });
}

/** Undefined if the transaction met another one. @throws other errors. */
function unlessAborted(error: unknown): undefined {
  if (!isAborted(error)) throw error;
}

/** Sets as they are to be written. */
interface Worked {
  readonly skipped: ItemNote[][];
  readonly groupStates: readonly GroupStateSet[];
  /** Users in the order in which they were updated last. */
  readonly touched: readonly Touched[];
}

interface Touched {
  readonly person: Person;
  /** Whether it matters when the user was updated before. */
  readonly isOrdered: boolean;
}

async function workOut(people: People, requests: readonly SetRequest[]): Promise<Worked> {
  const groupStates: GroupStateSet[] = [];
  const touched = new Map<Person, Touched>();
  const touch = (person: Person, isOrdered: boolean) => {
    const wasOrdered = touched.get(person)?.isOrdered ?? false;
    // Moves to the end.
    touched.delete(person);
    touched.set(person, { person, isOrdered: isOrdered || wasOrdered });
    people.touch(person);
  };
  const turns = startTurns();
  const skipped: ItemNote[][] = [];
  for (const { context, sets } of requests) {
    const notes: ItemNote[] = [];
    for (const { groupId, state, named } of sets) {
      const byId: Person[] = [];
      const byAddress: Person[] = [];
      for (const { identifier, place } of named) {
        const found = usersNamed(people, identifier);
        if (found.length === 0) notes.push({ ...userNotFound(identifier), ...place });
        (isAddress(identifier) ? byAddress : byId).push(...found);
      }
      const ordered = new Set(byAddress);
      const channel = context.workspace.groupChannels.get(groupId);
      const reached = sharersOf(people, [...byId, ...byAddress], channel);
      for (const person of leastRecentFirst(reached)) {
        groupStates.push({ profileId: person.id, groupId, state, context });
        touch(person, ordered.has(person));
      }
      // Last, so that the users named by id become the most recently updated of those who share an address.
      for (const person of byId) touch(person, false);
    }
    skipped.push(notes);
    if (turns.isOver()) await turns.next();
  }
  return { skipped, groupStates, touched: [...touched.values()] };
}

/** The statements about states come after that which locks the users. */
async function save(
  tx: Transaction,
  workspaceId: number,
  { groupStates, touched }: Worked,
  clock: Clock,
): Promise<void> {
  const now = clock.now().getTime() * 1_000;
  const touches = touched.map((each, order) => touchOf(each, now + order));
  await settleAll([
    touchProfiles(tx, workspaceId, touches),
    writeGroupSets(tx, workspaceId, groupStates, clock),
  ]);
}

const touchOf = (
  { person: { id, stored }, isOrdered }: Touched,
  updatedAtMicros: number,
): ProfileTouch => ({
  id,
  updatedAtMicros,
  version: isOrdered ? (stored?.version ?? null) : null,
  addresses: stored,
});

const targetOf = ({ identifier }: Named): Target => ({
  identifier,
  reads: true,
  addresses: [],
  spreads: true,
});

const isAddress = ({ kind }: PersonIdentifier): boolean => kind === "email" || kind === "phone";

function usersNamed(people: People, identifier: PersonIdentifier): readonly Person[] {
  if (identifier.kind === "email" || identifier.kind === "phone")
    return people.holdersOf(identifier.kind, identifier.value);
  const person = people.find(identifier);
  return person ? [person] : [];
}

/** Keeps the order of users named by one address. */
const leastRecentFirst = (people: Iterable<Person>): Person[] =>
  [...people].sort((one, other) => one.rank - other.rank);

const userNotFound = ({ kind }: PersonIdentifier): Fault => ({
  code: "USER_NOT_FOUND",
  message: `no user has this '${kind === "alias" ? "user_alias" : kind}'`,
});
