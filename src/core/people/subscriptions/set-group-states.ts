import type { Clock } from "../../base/clock.ts";
import type { Context } from "../../base/context/context.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import type { Tracing } from "../../base/observe/tracing.ts";
import type { Fault } from "../../base/problem.ts";
import { afterAll, isSliced, startTurns } from "../../base/turns.ts";
import type { ItemNote } from "../../base/verdicts.ts";
import { settleAll, type Transaction } from "../../database/database.ts";
import { createSharedTransactions } from "../../database/shared-transactions.ts";
import type { PersonIdentifier } from "../profiles/identifiers.ts";
import { readPeople, type Target } from "../profiles/load-people.ts";
import { createPeopleLockWaits } from "../profiles/locked-people.ts";
import type { People, Person } from "../profiles/people.ts";
import { type ProfileTouch, touchProfiles } from "../profiles/update-profiles-store.ts";
import { type PeopleServices, writePeople } from "../profiles/write-people.ts";
import type { Written } from "../profiles/written.ts";
import { areTooManyStates, refuseTooManyStates, sharersOf } from "./sharers.ts";
import { type GroupState, type GroupStateSet, writeGroupSets } from "./states.ts";

/** A context with the part of the workspace that setting states needs. */
export interface SettingContext extends Context {
  readonly workspace: Pick<Workspace, "id" | "feed" | "groupChannels">;
}

/** A place in a request: the list and the index. */
export interface ItemPosition {
  readonly input_array: string;
  readonly index: number;
}

export interface NamedUser {
  readonly identifier: PersonIdentifier;
  readonly place: ItemPosition;
}

/** A state for every named user and all users who share an address with them. */
export interface GroupSet {
  readonly groupId: string;
  readonly state: GroupState;
  readonly named: readonly NamedUser[];
}

/** The sets of one request, in order. */
export interface SetRequest {
  readonly context: SettingContext;
  readonly sets: readonly GroupSet[];
}

/**
 * Sets group states in order, in the caller's transaction; in as many parts as `MOST_STATES` needs, because whoever
 * opts out on a page, or imports, cannot send less. No profile is created.
 *
 * spec: POST /v2/subscription/status/set. An email or a phone names all users who have it.
 *
 * @returns the identifiers that match no user.
 */
export async function setGroupStates(
  services: PeopleServices,
  context: SettingContext,
  sets: readonly GroupSet[],
): Promise<ItemNote[]> {
  try {
    const [skipped] = await setTogether(services, [{ context, sets }]);
    return skipped ?? [];
  } catch (error) {
    if (!areTooManyStates(error) || sets.length < 2) throw error;
    const half = Math.ceil(sets.length / 2);
    const before = await setGroupStates(services, context, sets.slice(0, half));
    return [...before, ...(await setGroupStates(services, context, sets.slice(half)))];
  }
}

export type SetQueue = ReturnType<typeof createSetQueue>;

/** How many named users one transaction takes, at most (docs/performance.md). */
const USERS_TOGETHER = 2_000;

/** How many transactions a process writes at the same time: one is computed while the other is written. */
const AT_ONCE = 2;

/** Lets calls that wait at the same time share a transaction. */
export function createSetQueue(services: PeopleServices & { readonly tracing: Tracing }) {
  const queue = createSharedTransactions<SetRequest, ItemNote[]>({
    name: "set states",
    tracing: services.tracing,
    depth: AT_ONCE,
    mostTogether: USERS_TOGETHER,
    lockWaits: createPeopleLockWaits(services.database, namesIn),
    runTogether: (requests, database = services.database, lockMs) =>
      setTogether({ ...services, database }, requests, lockMs),
  });
  return {
    /**
     * Sets group states together with other requests that wait, each of them whole, in one transaction.
     *
     * @returns the identifiers that match no user.
     */
    set: ({ database }: PeopleServices, context: SettingContext, sets: readonly GroupSet[]) =>
      queue.run(
        context.workspace.id,
        { context, sets },
        sets.reduce((sum, { named }) => sum + named.length, 0),
        database,
      ),
  };
}

const namesIn = ({ sets }: SetRequest) =>
  sets.flatMap(({ named }) => named.map(({ identifier }) => identifier));

/**
 * Sets the states of several requests of one workspace, in their order, in one transaction.
 *
 * Users are read without a lock and then written on a condition. For users named by id: they still
 * have the addresses by which the sharing users were found, so that other writes about them do not
 * abort this one. For users named by an address the order of their updates counts, so their version
 * is checked. The states themselves are read once the users are locked.
 *
 * @param lockMs see `WritePlan`.
 * @returns for each request the identifiers that match no user.
 */
export async function setTogether(
  services: PeopleServices,
  requests: readonly SetRequest[],
  lockMs?: number,
): Promise<ItemNote[][]> {
  const [first] = requests as [SetRequest];
  const { workspace } = first.context;
  const { id } = workspace;
  const targets = requests.flatMap(({ sets }) => sets.flatMap((set) => set.named.map(targetOf)));
  const options = { newId: services.clock.newId, bare: workspace.feed === null };
  const names = targets.map(({ identifier }) => identifier);
  return writePeople(services, workspace, { names, lockMs }, async ({ reading, write }) => {
    const people = await readPeople(reading, id, targets, options);
    const worked = await workOut(people, requests);
    await write((tx) => save(tx, id, worked, services.clock));
    return worked.skipped;
  });
}

/** Sets as they are to be written. */
interface Worked {
  readonly skipped: ItemNote[][];
  readonly groupStates: readonly GroupStateSet[];
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
        const list = isAddress(identifier) ? byAddress : byId;
        for (const person of found) list.push(person);
        await afterAll(found);
      }
      const ordered = new Set(byAddress);
      const channel = context.workspace.groupChannels.get(groupId);
      const reached = sharersOf(people, [...byId, ...byAddress], channel);
      if (groupStates.length > 0) refuseTooManyStates(groupStates.length + reached.length);
      await afterAll(reached);
      for (const person of reached) {
        groupStates.push({ profileId: person.id, groupId, state, context });
        touch(person, ordered.has(person));
        if (turns.isOver()) await turns.next();
      }
      // Last, so that the users named by id become the most recently updated of those who share an address.
      for (const person of byId) touch(person, false);
    }
    skipped.push(notes);
    if (turns.isOver()) await turns.next();
  }
  return { skipped, groupStates, touched: [...touched.values()] };
}

/** The statements about states come after the one that locks the users. */
async function save(
  tx: Transaction,
  workspaceId: number,
  { groupStates, touched }: Worked,
  clock: Clock,
): Promise<Written> {
  const now = clock.now().getTime() * 1_000;
  await afterAll(touched);
  const touches = touched.map((each, order) => touchOf(each, now + order));
  await afterAll(touches);
  const locked = touchProfiles(tx, workspaceId, touches);
  // Together with the first slice of them, if all fit into one.
  if (isSliced(touches)) await locked;
  const [, subscriptions] = await settleAll([
    locked,
    writeGroupSets(tx, workspaceId, groupStates, clock),
  ]);
  return { subscriptions, names: touched.map(({ person }) => person) };
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

const targetOf = ({ identifier }: NamedUser): Target => ({
  identifier,
  reads: true,
  addresses: [],
  affectsSharers: true,
});

const isAddress = ({ kind }: PersonIdentifier): boolean => kind === "email" || kind === "phone";

function usersNamed(people: People, identifier: PersonIdentifier): readonly Person[] {
  if (identifier.kind === "email" || identifier.kind === "phone")
    return people.holdersOf(identifier.kind, identifier.value);
  const person = people.find(identifier);
  return person ? [person] : [];
}

const userNotFound = ({ kind }: PersonIdentifier): Fault => ({
  code: "USER_NOT_FOUND",
  message: `no user has this '${kind === "alias" ? "user_alias" : kind}'`,
});
