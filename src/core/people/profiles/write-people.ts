import type { Workspace } from "../../base/context/workspace.ts";
import { bucketOfId, bucketOfValue } from "../../database/buckets.ts";
import {
  isAborted,
  retryAborted,
  settleAll,
  type Transaction,
  untilUnlocked,
} from "../../database/database.ts";
import {
  LOCK_AGAIN_MS,
  LOCK_MS,
  laneLocksOf,
  type WriterStart,
  writePeopleOf,
} from "../../database/people-lock.ts";
import type { StoringServices } from "../../database/storing-services.ts";
import { bucketOfChanges, recordChanges } from "../changes/record-changes.ts";
import type { AddressCache } from "./address-cache.ts";
import { describeChanges } from "./describe-changes.ts";
import { type IdCache, idScope } from "./id-cache.ts";
import {
  checkIdRemovals,
  countIdRemoval,
  selectIdRemovals,
  writePeopleAt,
} from "./id-removals-store.ts";
import type { PersonIdentifier } from "./identifiers.ts";
import { type Cached, type Reading, storeWritten } from "./load-people.ts";
import type { PeopleChanges } from "./people.ts";
import type { PeopleOrder } from "./people-order.ts";
import type { RemovedProfiles } from "./removed-profiles.ts";
import type { Written } from "./written.ts";

/** What is known of a write about people before it reads. */
export interface WritePlan {
  /** The identifiers that name the people it is about. */
  readonly names: readonly PersonIdentifier[];
  /** Whether it may remove them. */
  readonly removes?: true;
  /** Whether its result depends on rows; a concurrent change then forces a retry. */
  readonly readsRows?: boolean;
  /** Whether the engine may keep the plans of the statements of its first try (`WriterStart`). */
  readonly keepsPlans?: boolean;
  /**
   * How long its transaction waits for a lock, in ms, if its caller runs it again when one is not free: calls that share
   * a transaction (core/database/lock-waits.ts). Without it, it is run again for `Database.lockPatienceMs`.
   */
  readonly lockMs?: number | undefined;
}

/** One try of a write. */
export interface WriteTry {
  /** How it reads. */
  readonly reading: Reading;
  /**
   * Writes what was computed, once, and ends the try.
   *
   * @param save writes with checks that what was read has not changed; aborts the transaction if it has. `isLocked`
   *   tells whether the profiles were locked when they were read.
   * @param sent what `save` writes, if none of its statements depends on the result of another and none writes a
   *   small table. They may then be sent together, to the node of a cluster that has all of these rows.
   */
  write(
    save: (tx: Transaction, isLocked: boolean) => Promise<Written>,
    sent?: Written,
  ): Promise<void>;
}

export interface PeopleServices extends StoringServices {
  /** Learns which profiles no longer exist. */
  readonly idCache: IdCache;
  readonly peopleOrder: PeopleOrder;
  readonly removedProfiles: RemovedProfiles;
  /** With it, people are read before the transaction begins. */
  readonly addressCache?: AddressCache | undefined;
}

type CachingServices = PeopleServices & { readonly addressCache: AddressCache };

/** A workspace, and whether its changes are recorded. */
export type FollowedWorkspace = Pick<Workspace, "id" | "feed">;

/** How often a write is tried. */
const TRIES = 20;

/**
 * From this try on, profiles are locked before they are read. Not from the first retry: if two
 * processes create a user at once, that simply finds the user, and locking profiles before
 * identifiers reverses the lock order, which occasionally costs a deadlock.
 */
const LOCKING_TRY = 3;

/**
 * A batch that names this many people waits for its lanes before it reads: beside a second batch of
 * that size on another server, half of both would be computed in vain. Smaller ones rarely meet,
 * and waiting would cost them more than a second try (docs/decisions/lane-locks.md).
 */
const LARGE_BATCH = 256;

/**
 * The only way in which users, and all that belongs to them, are written: read, compute in memory, write with
 * checks, and try again if what was read was stale (docs/decisions/read-compute-write.md).
 *
 * The first try reads and computes before its transaction begins, if there is an address cache: the
 * transaction then takes one or two round trips, and others wait no longer than that. If
 * transactions run side by side (`Database.ordersWriters`), a large batch and every further try
 * first wait for the writers before them in their lanes, so that nobody changes what they read.
 * Within a running transaction there is one try, with the profiles locked, because only its owner
 * can run it again.
 *
 * A lock that another transaction holds is waited for briefly. Then the transaction is rolled back and runs again, so
 * that no other waits for this one meanwhile.
 *
 * A reset of the workspace waits until the transaction ends. The writes are recorded in the change
 * feed, if it is on.
 *
 * @param attempt reads, computes, and writes at the end. It may run several times.
 * @returns the result of the try that was committed.
 * @throws a serialization failure when every try had a stale read; an error that `isLocked`.
 */
export async function writePeople<Result>(
  services: PeopleServices,
  workspace: FollowedWorkspace,
  plan: WritePlan,
  attempt: (each: WriteTry) => Promise<Result>,
): Promise<Result> {
  const { peopleOrder, database } = services;
  const work = (waitMs: number) => writeWithRetries(services, workspace, plan, attempt, waitMs);
  // The owner of a running transaction has rows that others wait for.
  if (database.isWithin) return work(LOCK_MS);
  const { names, removes = false, lockMs } = plan;
  const inOrder = (forLockMs: number) => {
    const waitMs = forLockMs === LOCK_AGAIN_MS ? ORDER_AGAIN_MS : ORDER_MS;
    const own = { workspaceId: workspace.id, names, removes, waitMs };
    return peopleOrder.run(own, () => work(forLockMs));
  };
  if (lockMs !== undefined) return inOrder(lockMs);
  return untilUnlocked(database, (isAgain) => inOrder(isAgain ? LOCK_AGAIN_MS : LOCK_MS));
}

/** How long a try waits for a merge of its users in this process, and how long one that runs again. */
const ORDER_MS = 500;
const ORDER_AGAIN_MS = 100;

async function writeWithRetries<Result>(
  services: PeopleServices,
  workspace: FollowedWorkspace,
  plan: WritePlan,
  attempt: (each: WriteTry) => Promise<Result>,
  waitMs: number,
): Promise<Result> {
  const { database, removedProfiles } = services;
  // The owner of a running transaction may have locks that would have to come after these.
  const isOrdered = database.ordersWriters && !database.isWithin;
  const start = {
    locks: isOrdered ? laneLocksOf(workspace.id, plan.names) : [],
    lockMs: database.engine === "embedded" ? undefined : waitMs,
    // A cluster plans each statement for the shards that it concerns.
    keepsPlans: isOrdered && plan.keepsPlans === true,
  };
  const writing = { services, workspace, plan, attempt, start };
  const caches = !database.isWithin && hasCaches(services) ? services : undefined;
  if (caches) await removedProfiles.follow(workspace.id);
  let cached = caches && (cachedIds(caches, workspace) ?? (await refreshIds(caches, workspace)));
  const first = isOrdered && takesTurn(plan, removedProfiles) ? writeInTurn : writeAhead;
  let done = cached && (await unlessAborted(first(writing, cached)));
  if (!done) {
    cached = caches && (await refreshIds(caches, workspace));
    done = await writeWithin(writing, cached);
  }
  const { result, written } = done;
  services.idCache.remove(removedIn(written));
  if (cached && written.people) storeWritten(cached, written.people);
  if (written.takesExternalIds && database.commitsInParts) {
    // Another process may have read the new count together with the old id, so the removal is
    // counted once more.
    await database.transaction((tx) => countIdRemoval(tx, workspace.id));
  }
  return result;
}

/** Between processes a small batch that reads rows would often fail beside a large one. */
const takesTurn = ({ names, readsRows }: WritePlan, removedProfiles: RemovedProfiles): boolean =>
  names.length >= LARGE_BATCH || (!!readsRows && removedProfiles.hasOthers());

const isFollowed = ({ feed }: FollowedWorkspace): boolean => feed !== null;

const hasCaches = (services: PeopleServices): services is CachingServices =>
  services.addressCache !== undefined;

/** The id cache; undefined if its count of removals was never read. */
function cachedIds(
  { idCache, addressCache }: CachingServices,
  workspace: FollowedWorkspace,
): Cached | undefined {
  const scope = idScope(workspace);
  const removals = idCache.removals(scope);
  return removals === undefined ? undefined : { idCache, addressCache, scope, removals };
}

/** The id cache without entries that removals in any process have made stale. */
async function refreshIds(
  { database, idCache, addressCache }: CachingServices,
  workspace: FollowedWorkspace,
): Promise<Cached> {
  const scope = idScope(workspace);
  const removals = await selectIdRemovals(database, workspace.id);
  idCache.expect(scope, removals);
  return { idCache, addressCache, scope, removals };
}

interface Done<Result> {
  readonly result: Result;
  readonly written: Written;
}

/** One call of `writePeople`. */
interface Writing<Result> {
  readonly services: PeopleServices;
  readonly workspace: FollowedWorkspace;
  readonly plan: WritePlan;
  readonly attempt: (each: WriteTry) => Promise<Result>;
  /** With the locks that order it among other writers. */
  readonly start: WriterStart;
}

/**
 * The only place where people are saved, in their transaction. Changes get their numbers last,
 * because other writers who number changes of the same users wait from then until the transaction
 * ends. After them only removed profiles are told.
 *
 * @param saving the statements under way.
 * @param sent what they write, if all statements are sent together.
 */
async function saved(
  tx: Transaction,
  { services: { clock, removedProfiles }, workspace: { id, feed } }: Writing<unknown>,
  saving: Promise<Written>,
  sent?: Written,
): Promise<Written> {
  const record = async (written: Written) => {
    if (feed === null) return;
    const drafts = describeChanges(written);
    await recordChanges(tx, id, feed, { drafts, erased: erasedIn(written) }, clock);
  };
  if (sent) return (await settleAll([saving, record(sent)]))[0];
  const written = await saving;
  await record(written);
  await removedProfiles.tell(tx, id, removedIn(written));
  return written;
}

const removedIn = ({ identities }: Written): readonly string[] =>
  identities?.profiles.removedIds ?? [];

/** Users who were deleted, and those who had been merged into them. */
function erasedIn({ identities }: Written): string[] {
  if (!identities) return [];
  const { changes, profiles } = identities;
  const deleted = changes.flatMap((each) => (each.kind === "delete" ? [each.user.platformId] : []));
  return deleted.length > 0 ? [...deleted, ...profiles.forgottenIds] : [];
}

/** Reads in the transaction. @param cached the caches of an earlier try. */
const writeWithin = <Result>(
  writing: Writing<Result>,
  cached: Cached | undefined,
): Promise<Done<Result>> =>
  retryAborted(
    writing.services.database,
    (tx, attempt) => {
      const { workspace, start } = writing;
      const tries = attempt + (cached ? 1 : 0);
      const locks = tries > 1 ? start.locks : [];
      const locked = writePeopleOf(tx, workspace.id, { ...start, locks, keepsPlans: false });
      const lock = tries >= LOCKING_TRY ? tx : undefined;
      return tryIn(tx, writing, locked, { lock, cached, usesCaches: false });
    },
    TRIES,
  );

/** Waits for earlier writers to the same lanes, and reads once it holds their locks. */
const writeInTurn = <Result>(writing: Writing<Result>, cached: Cached): Promise<Done<Result>> =>
  writing.services.database.transaction((tx) => {
    const { workspace, start } = writing;
    const locked = writePeopleAt(tx, workspace.id, cached.removals, start);
    return tryIn(tx, writing, locked, { lock: undefined, cached, usesCaches: true });
  });

/**
 * A try within a transaction.
 *
 * @param locked takes locks in one round trip with the first read, which runs once they are held.
 */
async function tryIn<Result>(
  tx: Transaction,
  writing: Writing<Result>,
  locked: Promise<unknown>,
  how: Pick<Reading, "lock" | "cached" | "usesCaches">,
): Promise<Done<Result>> {
  let written: Written = {};
  const [, result] = await settleAll([
    locked,
    writing.attempt({
      reading: { from: tx, isFollowed: isFollowed(writing.workspace), ...how },
      async write(save) {
        await locked;
        written = await saved(tx, writing, save(tx, how.lock !== undefined));
      },
    }),
  ]);
  return { result, written };
}

/** @returns undefined if the transaction conflicted with another. @throws other errors. */
async function unlessAborted<Result>(writing: Promise<Result>): Promise<Result | undefined> {
  try {
    return await writing;
  } catch (error) {
    if (!isAborted(error)) throw error;
    return undefined;
  }
}

/** Reads and computes before the transaction begins. */
async function writeAhead<Result>(writing: Writing<Result>, cached: Cached): Promise<Done<Result>> {
  const { services, workspace, plan } = writing;
  const { database } = services;
  const start = { ...writing.start, locks: [] };
  const { id } = workspace;
  const from = database.reader([bucketOfValue(id, plan.names[0]?.value ?? "")]);
  let written: Written = {};
  const result = await writing.attempt({
    reading: { from, lock: undefined, cached, usesCaches: true, isFollowed: isFollowed(workspace) },
    async write(save, sent) {
      const begin = sent ? database.transactionAtOnce : database.transaction;
      [, written] = await begin(
        (tx, isChecked) =>
          settleAll([
            isChecked
              ? writePeopleOf(tx, id, start)
              : writePeopleAt(tx, id, cached.removals, start),
            saved(tx, writing, save(tx, false), sent),
          ]),
        sent && {
          buckets: bucketsOf(sent, workspace),
          check: (small) => checkIdRemovals(small, id, cached.removals),
        },
      );
    },
  });
  return { result, written };
}

/** The place of these changes' rows, and the data of these people. */
function* bucketsOf({ people }: Written, { id: workspaceId, feed }: FollowedWorkspace) {
  const changes = people as PeopleChanges;
  for (const { id } of feed === null ? [] : [...changes.updated, ...changes.created]) {
    yield bucketOfChanges(id);
  }
  for (const { id } of changes.updated) yield bucketOfId(id);
  for (const { id } of changes.created) yield bucketOfId(id);
  for (const { value } of changes.addedIdentifiers) yield bucketOfValue(workspaceId, value);
  for (const { value } of changes.removedIdentifiers) yield bucketOfValue(workspaceId, value);
}
