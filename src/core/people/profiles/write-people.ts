import type { Clock } from "../../base/clock.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import { bucketOfId, bucketOfValue } from "../../database/buckets.ts";
import {
  type Database,
  isAborted,
  type Queryable,
  retryAborted,
  settleAll,
  type Transaction,
  untilUnlocked,
} from "../../database/database.ts";
import { LOCK_AGAIN_MS, LOCK_MS, laneLocksOf, writePeopleOf } from "../../database/people-lock.ts";
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

/** How a write about people reads, computes and writes. It may run several times. */
export interface PeopleWrite<Found, Worked> {
  read(reading: Reading): Promise<Found>;
  /** Computes the writes in memory. @param from where it may read more. */
  workOut(found: Found, from: Queryable): Promise<Worked>;
  /**
   * Writes, with checks that what was read has not changed; aborts the transaction if it has.
   *
   * @param isLocked whether the profiles were locked when they were read.
   */
  save(tx: Transaction, worked: Worked, isLocked: boolean): Promise<Written>;
  /** The identifiers that name the people it is about. */
  readonly names: readonly PersonIdentifier[];
  /** Whether it may remove them. */
  readonly removes?: true;
  /** Whether it is computed from rows, and in vain if one changes meanwhile. */
  readonly readsRows?: boolean;
  /**
   * How long its transaction waits for a lock, in ms, if its caller runs it again when one is not free: calls that share
   * a transaction (core/database/lock-waits.ts). Without it, it is run again for `Database.lockPatienceMs`.
   */
  readonly lockMs?: number | undefined;
  /**
   * The writes of `save`, if none of its statements depends on the result of another and none
   * writes a small table. They are then sent together, to the node of a cluster that has all of
   * these rows.
   */
  sentAtOnce?(worked: Worked): Written | undefined;
}

interface CachingServices extends StoringServices {
  readonly idCache: IdCache;
  readonly addressCache: AddressCache;
}

/** With caches, people are read before the transaction begins. */
export type PeopleServices = Pick<CachingServices, "database" | "clock"> &
  Partial<CachingServices> & {
    /** Without it, writers of the same people meet on their rows. */
    readonly peopleOrder?: PeopleOrder | undefined;
    /** Without it, other processes learn from missing rows which profiles were removed. */
    readonly removedProfiles?: RemovedProfiles;
  };

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
 * The first try reads and computes before its transaction begins, if there are caches: the
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
 * @returns the result of `workOut` in the try that was committed.
 * @throws a serialization failure when every try had a stale read; an error that `isLocked`.
 */
export async function writePeople<Found, Worked>(
  services: PeopleServices,
  workspace: FollowedWorkspace,
  write: PeopleWrite<Found, Worked>,
): Promise<Worked> {
  const { peopleOrder, database } = services;
  const work = (waitMs: number) => writeWithRetries(services, workspace, write, waitMs);
  // The owner of a running transaction has rows that others wait for.
  if (database.isWithin) return work(LOCK_MS);
  const { names, removes = false, lockMs } = write;
  const inOrder = peopleOrder
    ? (forLockMs: number) => {
        const waitMs = forLockMs === LOCK_AGAIN_MS ? ORDER_AGAIN_MS : ORDER_MS;
        const own = { workspaceId: workspace.id, names, removes, waitMs };
        return peopleOrder.run(own, () => work(forLockMs));
      }
    : work;
  if (lockMs !== undefined) return inOrder(lockMs);
  return untilUnlocked(database, (isAgain) => inOrder(isAgain ? LOCK_AGAIN_MS : LOCK_MS));
}

/** How long a try waits for a merge of its users in this process, and how long one that runs again. */
const ORDER_MS = 500;
const ORDER_AGAIN_MS = 100;

async function writeWithRetries<Found, Worked>(
  services: PeopleServices,
  workspace: FollowedWorkspace,
  write: PeopleWrite<Found, Worked>,
  waitMs: number,
): Promise<Worked> {
  const { database, clock } = services;
  const workspaceId = workspace.id;
  // The owner of a running transaction may have locks that would have to come after these.
  const isOrdered = database.ordersWriters && !database.isWithin;
  const locks = isOrdered ? laneLocksOf(workspaceId, write.names) : [];
  const { removedProfiles } = services;
  const lockMs = database.engine === "embedded" ? undefined : waitMs;
  const writing = { database, workspace, clock, write, locks, lockMs, removedProfiles };
  const caches = !database.isWithin && hasCaches(services) ? services : undefined;
  if (caches) await removedProfiles?.follow(workspaceId);
  let cached = caches && (cachedIds(caches, workspace) ?? (await refreshIds(caches, workspace)));
  let done =
    cached &&
    (await unlessAborted(
      (isOrdered && takesTurn(write, removedProfiles) ? writeInTurn : writeAhead)(writing, cached),
    ));
  if (!done) {
    cached = caches && (await refreshIds(caches, workspace));
    done = await writeWithin(writing, cached);
  }
  const { worked, written } = done;
  services.idCache?.remove(removedIn(written));
  if (cached && written.people) storeWritten(cached, written.people);
  if (written.takesExternalIds && database.commitsInParts) {
    // Another process may have read the new count together with the old id, so the removal is
    // counted once more.
    await database.transaction((tx) => countIdRemoval(tx, workspaceId));
  }
  return worked;
}

/** Between processes a small batch that reads rows would often fail beside a large one. */
const takesTurn = (
  { names, readsRows }: Pick<PeopleWrite<unknown, unknown>, "names" | "readsRows">,
  removedProfiles: RemovedProfiles | undefined,
): boolean => names.length >= LARGE_BATCH || !!(readsRows && removedProfiles?.hasOthers());

const isFollowed = ({ feed }: FollowedWorkspace): boolean => feed !== null;

const hasCaches = (services: PeopleServices): services is CachingServices =>
  services.idCache !== undefined && services.addressCache !== undefined;

/** The id cache; undefined if its count of removals was never read. */
function cachedIds(
  { idCache, addressCache }: Pick<CachingServices, "idCache" | "addressCache">,
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

interface Done<Worked> {
  readonly worked: Worked;
  readonly written: Written;
}

/** One call of `writePeople`. */
interface Writing<Found, Worked> {
  readonly database: Database;
  /**
   * The locks that order it among other writers; none if it reads before its transaction begins.
   */
  readonly locks: readonly number[];
  /** How long its transaction waits for each lock, in ms; undefined on an engine whose transactions never wait. */
  readonly lockMs: number | undefined;
  readonly write: PeopleWrite<Found, Worked>;
  readonly workspace: FollowedWorkspace;
  readonly clock: Clock;
  readonly removedProfiles: RemovedProfiles | undefined;
}

/**
 * The only place where people are saved, in their transaction. Changes get their numbers last,
 * because other writers who number changes of the same users wait from then until the transaction
 * ends. After them only removed profiles are told.
 *
 * @param sent what will be written, if its statements are sent together.
 */
async function saved<Found, Worked>(
  tx: Transaction,
  { write, workspace, clock, removedProfiles }: Writing<Found, Worked>,
  worked: Worked,
  isLocked: boolean,
  sent?: Written,
): Promise<Done<Worked>> {
  const record = async (written: Written) => {
    if (workspace.feed !== null) {
      const drafts = describeChanges(written);
      const erased = erasedIn(written);
      await recordChanges(tx, workspace.id, workspace.feed, { drafts, erased }, clock);
    }
  };
  const saving = write.save(tx, worked, isLocked);
  if (sent) {
    const [written] = await settleAll([saving, record(sent)]);
    return { worked, written };
  }
  const written = await saving;
  await record(written);
  await removedProfiles?.tell(tx, workspace.id, removedIn(written));
  return { worked, written };
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
const writeWithin = <Found, Worked>(
  writing: Writing<Found, Worked>,
  cached: Cached | undefined,
): Promise<Done<Worked>> =>
  retryAborted(
    writing.database,
    async (tx, attempt) => {
      const { workspace, write, locks, lockMs } = writing;
      const tries = attempt + (cached ? 1 : 0);
      const isLocked = tries >= LOCKING_TRY;
      const [, found] = await settleAll([
        // Locks are taken in one round trip with the first read, which runs once they are held.
        writePeopleOf(tx, workspace.id, tries > 1 ? locks : [], lockMs),
        write.read({
          from: tx,
          lock: isLocked ? tx : undefined,
          cached,
          usesCaches: false,
          isFollowed: isFollowed(workspace),
        }),
      ]);
      return saved(tx, writing, await write.workOut(found, tx), isLocked);
    },
    TRIES,
  );

/** @returns undefined if the transaction conflicted with another. @throws other errors. */
async function unlessAborted<Result>(writing: Promise<Result>): Promise<Result | undefined> {
  try {
    return await writing;
  } catch (error) {
    if (!isAborted(error)) throw error;
    return undefined;
  }
}

/** Waits for earlier writers to the same lanes, and reads once it holds their locks. */
const writeInTurn = <Found, Worked>(
  writing: Writing<Found, Worked>,
  cached: Cached,
): Promise<Done<Worked>> =>
  writing.database.transaction(async (tx) => {
    const { workspace, write, locks, lockMs } = writing;
    const [, found] = await settleAll([
      writePeopleAt(tx, workspace.id, cached.removals, locks, lockMs),
      write.read({
        from: tx,
        lock: undefined,
        cached,
        usesCaches: true,
        isFollowed: isFollowed(workspace),
      }),
    ]);
    return saved(tx, writing, await write.workOut(found, tx), false);
  });

/** Reads and computes before the transaction begins. */
async function writeAhead<Found, Worked>(
  writing: Writing<Found, Worked>,
  cached: Cached,
): Promise<Done<Worked>> {
  const { database, workspace, write, lockMs } = writing;
  const { id } = workspace;
  const [first] = write.names;
  const from = database.reader([bucketOfValue(id, first?.value ?? "")]);
  const found = await write.read({
    from,
    lock: undefined,
    cached,
    usesCaches: true,
    isFollowed: isFollowed(workspace),
  });
  const worked = await write.workOut(found, from);
  const sent = write.sentAtOnce?.(worked);
  const begin = sent ? database.transactionAtOnce : database.transaction;
  const [, done] = await begin(
    (tx, isChecked) =>
      settleAll([
        isChecked
          ? writePeopleOf(tx, id, [], lockMs)
          : writePeopleAt(tx, id, cached.removals, [], lockMs),
        saved(tx, writing, worked, false, sent),
      ]),
    sent && {
      buckets: bucketsOf(sent, workspace),
      check: (small) => checkIdRemovals(small, id, cached.removals),
    },
  );
  return done;
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
