import { bucketOfId, bucketOfValue } from "../../database/buckets.ts";
import {
  type Database,
  isAborted,
  type Queryable,
  settleAll,
  type Transaction,
  withRetries,
} from "../../database/database.ts";
import { laneLocksOf, writePeopleOf } from "../../database/people-lock.ts";
import type { AddressCache } from "./address-cache.ts";
import type { IdCache } from "./id-cache.ts";
import {
  checkIdRemovals,
  countIdRemoval,
  selectIdRemovals,
  writePeopleAt,
} from "./id-removals-store.ts";
import type { PersonIdentifier } from "./identifiers.ts";
import { type Cached, type Reading, storeWritten } from "./load-people.ts";
import type { PeopleChanges } from "./people.ts";
import type { NewProfile, ProfileRow } from "./store.ts";

/** How a write about people reads, computes and writes. It may run several times. */
export interface PeopleWrite<Found, Worked> {
  read(reading: Reading): Promise<Found>;
  /** Computes in memory what is to be written. @param from where it may read more. */
  workOut(found: Found, from: Queryable): Promise<Worked>;
  /**
   * Writes, with checks that what was read is still so; aborts the transaction where it is not.
   *
   * @param isLocked whether the profiles were locked when they were read.
   */
  save(tx: Transaction, worked: Worked, isLocked: boolean): Promise<Written>;
  /** The identifiers that name the people it is about. */
  readonly names: readonly PersonIdentifier[];
  /**
   * The rows of users that `save` writes, if none of its statements depends on the result of another and none
   * writes a small table: then they are sent together, to the node of a cluster that has all of these rows.
   */
  sentAtOnce?(worked: Worked): PeopleChanges | undefined;
}

/**
 * What a transaction has written about people, for whatever follows each change
 * (docs/decisions/read-compute-write.md).
 */
export interface Written {
  /** Users who were created and updated; an update has the row that was read, if one was. */
  readonly people?: PeopleChanges;
  readonly events?: readonly Happened[];
  readonly purchases?: readonly Happened[];
  /** States that have changed. */
  readonly subscriptions?: {
    readonly groupStates: readonly { readonly profileId: string; readonly groupId: string }[];
    readonly emailStates: readonly { readonly email: string }[];
  };
  /** Users who were merged, identified, renamed and deleted, with the rows before and after. */
  readonly identities?: {
    readonly profiles: {
      readonly created: readonly NewProfile[];
      readonly replaced: readonly NewProfile[];
      readonly touched: readonly ProfileRow[];
      readonly removedIds: readonly string[];
    };
    readonly changes: readonly { readonly kind: "merge" | "identify" | "delete" }[];
  };
  /** Whether an external_id has left a user who still exists. */
  readonly takesExternalIds?: boolean;
}

interface Happened {
  readonly id: string;
  readonly profileId: string;
  readonly work: object;
}

interface CachingServices {
  readonly database: Database;
  readonly idCache: IdCache;
  readonly addressCache: AddressCache;
}

/** With caches, people are read before the transaction begins. */
export type PeopleServices = Pick<CachingServices, "database"> & Partial<CachingServices>;

/** How often a write is tried. */
const TRIES = 20;

/**
 * From this try on, profiles are locked before they are read. Not from the first retry: if two processes
 * create a user at once, that simply finds the user, and locking profiles before identifiers reverses the lock
 * order, which occasionally costs a deadlock.
 */
const LOCKING_TRY = 3;

/**
 * A batch that names this many people waits for its lanes before it reads: beside a second one of that size, of another
 * server, half of both would be computed for nothing. Smaller ones rarely meet, and waiting would cost them more than
 * a second try (docs/decisions/lane-locks.md).
 */
const LARGE_BATCH = 256;

/**
 * The only way in which users, and whatever belongs to them, are written: read, compute in memory, write with
 * checks, and try again if what was read was stale (docs/decisions/read-compute-write.md).
 *
 * The first try reads and computes before its transaction begins, if there are caches: the transaction then takes
 * one or two round trips, and others wait no longer than that. Where transactions run side by side
 * (`Database.ordersWriters`), a large batch and every further try first wait for the writers before them in their
 * lanes, so that nobody changes what they read. Within a running transaction there is one try, with the profiles locked,
 * for its owner alone can run it again.
 *
 * A reset of the workspace waits until the transaction ends.
 *
 * @returns what was worked out in the try that was committed.
 * @throws a serialization failure when every try had a stale read.
 */
export async function writePeople<Found, Worked>(
  services: PeopleServices,
  workspaceId: number,
  write: PeopleWrite<Found, Worked>,
): Promise<Worked> {
  const { database } = services;
  // The owner of a running transaction may hold locks that these would have to come before.
  const isOrdered = database.ordersWriters && !database.isWithin;
  const locks = isOrdered ? laneLocksOf(workspaceId, write.names) : [];
  const writing = { database, workspaceId, write, locks };
  const caches = !database.isWithin && hasCaches(services) ? services : undefined;
  let cached =
    caches && (cachedIds(caches, workspaceId) ?? (await refreshIds(caches, workspaceId)));
  let done =
    cached &&
    (await unlessAborted(
      (isOrdered && write.names.length >= LARGE_BATCH ? writeInTurn : writeAhead)(writing, cached),
    ));
  if (!done) {
    cached = caches && (await refreshIds(caches, workspaceId));
    done = await writeWithin(writing, cached);
  }
  const { worked, written } = done;
  if (cached && written.people) storeWritten(cached, workspaceId, written.people);
  if (written.takesExternalIds && database.commitsInParts) {
    // Another process may have read the new count and the old id in between, so it is counted once more.
    await database.transaction((tx) => countIdRemoval(tx, workspaceId));
  }
  return worked;
}

const hasCaches = (services: PeopleServices): services is CachingServices =>
  services.idCache !== undefined && services.addressCache !== undefined;

/** The id cache as it is; undefined where its count of removals was never read. */
function cachedIds(
  { idCache, addressCache }: CachingServices,
  workspaceId: number,
): Cached | undefined {
  const removals = idCache.removals(workspaceId);
  return removals === undefined ? undefined : { idCache, addressCache, removals };
}

/** The id cache without entries that removals in any process have made stale. */
async function refreshIds(
  { database, idCache, addressCache }: CachingServices,
  workspaceId: number,
): Promise<Cached> {
  const removals = await selectIdRemovals(database, workspaceId);
  idCache.expect(workspaceId, removals);
  return { idCache, addressCache, removals };
}

interface Writing<Found, Worked> {
  readonly database: Database;
  readonly workspaceId: number;
  readonly write: PeopleWrite<Found, Worked>;
  /** Those that order it among other writers; none where it reads before its transaction begins. */
  readonly locks: readonly number[];
}

interface Done<Worked> {
  readonly worked: Worked;
  readonly written: Written;
}

/** The one place at which people have been saved, in their transaction. */
async function saved<Found, Worked>(
  tx: Transaction,
  write: PeopleWrite<Found, Worked>,
  worked: Worked,
  isLocked: boolean,
): Promise<Done<Worked>> {
  return { worked, written: await write.save(tx, worked, isLocked) };
}

/** Reads in the transaction. @param cached where a try before has read with caches. */
const writeWithin = <Found, Worked>(
  { database, workspaceId, write, locks }: Writing<Found, Worked>,
  cached: Cached | undefined,
): Promise<Done<Worked>> =>
  withRetries(
    database,
    async (tx, attempt) => {
      const tries = attempt + (cached ? 1 : 0);
      const isLocked = tries >= LOCKING_TRY;
      const [, found] = await settleAll([
        // In one round trip with what is read first: that is read once these are held.
        writePeopleOf(tx, workspaceId, tries > 1 ? locks : []),
        write.read({ from: tx, lock: isLocked ? tx : undefined, cached, usesCaches: false }),
      ]);
      return saved(tx, write, await write.workOut(found, tx), isLocked);
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
  { database, workspaceId, write, locks }: Writing<Found, Worked>,
  cached: Cached,
): Promise<Done<Worked>> =>
  database.transaction(async (tx) => {
    const [, found] = await settleAll([
      writePeopleAt(tx, workspaceId, cached.removals, locks),
      write.read({ from: tx, lock: undefined, cached, usesCaches: true }),
    ]);
    return saved(tx, write, await write.workOut(found, tx), false);
  });

/** Reads and computes before the transaction begins. */
async function writeAhead<Found, Worked>(
  { database, workspaceId, write }: Writing<Found, Worked>,
  cached: Cached,
): Promise<Done<Worked>> {
  const [first] = write.names;
  const from = database.reader([bucketOfValue(workspaceId, first?.value ?? "")]);
  const found = await write.read({ from, lock: undefined, cached, usesCaches: true });
  const worked = await write.workOut(found, from);
  const changes = write.sentAtOnce?.(worked);
  const begin = changes ? database.transactionAtOnce : database.transaction;
  const [, done] = await begin(
    (tx, isChecked) =>
      settleAll([
        isChecked
          ? writePeopleOf(tx, workspaceId)
          : writePeopleAt(tx, workspaceId, cached.removals),
        saved(tx, write, worked, false),
      ]),
    changes && {
      buckets: bucketsOf(changes, workspaceId),
      check: (small) => checkIdRemovals(small, workspaceId, cached.removals),
    },
  );
  return done;
}

/** Where the rows of these changes lie, and what belongs to these people. */
function* bucketsOf(changes: PeopleChanges, workspaceId: number): Iterable<number> {
  for (const { id } of changes.updated) yield bucketOfId(id);
  for (const { id } of changes.created) yield bucketOfId(id);
  for (const { value } of changes.addedIdentifiers) yield bucketOfValue(workspaceId, value);
  for (const { value } of changes.removedIdentifiers) yield bucketOfValue(workspaceId, value);
}
