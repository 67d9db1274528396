import { afterAll, isSliced } from "../../base/turns.ts";
import { groupBy } from "../../base/values/group-by.ts";
import { idInBucketOf } from "../../database/buckets.ts";
import type { Queryable, Transaction } from "../../database/database.ts";
import type { AddressCache } from "./address-cache.ts";
import { timesOfSharers } from "./find-holders.ts";
import { selectFirst, selectIdentifiers } from "./holders-store.ts";
import { type CachedIds, presentIds, storeIds } from "./id-cache.ts";
import {
  emailValue,
  type Identifier,
  identifierKey,
  isProfileId,
  type PersonIdentifier,
} from "./identifiers.ts";
import { selectMerged } from "./merged-store.ts";
import { type AddressKind, createPeople, type People, type PeopleChanges } from "./people.ts";
import { StaleRead } from "./stale-read.ts";
import { type FoundIdentifier, lockProfiles, type ProfileRow, selectProfiles } from "./store.ts";
import type { ProfileUpdate } from "./update-profiles-store.ts";

/** The needs of one write before it can be applied to a person. */
export interface Target {
  readonly identifier: PersonIdentifier;
  /** Whether the item depends on stored data of the person. */
  readonly reads: boolean;
  /** Addresses that it gives to the person. */
  readonly addresses: readonly GivenAddress[];
  /** Whether it affects all who share an address with the user. */
  readonly affectsSharers: boolean;
  /** Whether the item affects everyone with its address, or only the user whom the address identifies. */
  readonly namesEveryHolder?: boolean;
}

/** An address as it is looked up (`value`) and as it is stored. */
export interface GivenAddress extends Identifier {
  readonly kind: AddressKind;
  readonly given: string;
}

/** The data that a batch of writes has without a query. */
export interface Cached extends CachedIds {
  readonly addressCache: AddressCache;
}

/** How a try of a write reads: see `writePeople`. */
export interface Reading {
  readonly from: Queryable;
  /** The transaction that locks the profiles, if one does; otherwise `savePeople` detects changes made meanwhile. */
  readonly lock: Transaction | undefined;
  /** Caches the external ids and the addresses that are found. */
  readonly cached: Cached | undefined;
  /** Whether to rely on the caches, which may be stale. */
  readonly usesCaches: boolean;
  /** Whether a change feed will name the users, each by the present external_id. */
  readonly isFollowed: boolean;
}

export interface ReadOptions {
  newId(): string;
  /** Leaves attributes and aliases of profiles empty, for writes that neither read nor change any. */
  readonly bare?: boolean;
}

/**
 * Reads everything that a batch of writes needs, in at most five statements for any size of the
 * batch, and one or two more for platform_ids. If everything is cached it runs no statement.
 *
 * @throws StaleRead if data changed meanwhile.
 */
export async function readPeople(
  { from, lock, cached, usesCaches, isFollowed }: Reading,
  workspaceId: number,
  targets: readonly Target[],
  { newId, bare }: ReadOptions,
): Promise<People> {
  const { addressCache } = (usesCaches && cached) || {};
  const { hits, wanted } = lookUpCached(targets, usesCaches ? cached : undefined);
  const all = await findIdentifiers(from, workspaceId, wanted);
  const platformIds = platformIdsOf(targets);
  const merged = await followMerged(from, workspaceId, platformIds);
  const named = () => new Set([...platformIds, ...merged.values(), ...hits.values()]);
  const found = await withoutUnlikely(from, workspaceId, { targets, named, found: all });
  if (cached && !isFollowed) storeIds(cached, found);
  for (const { kind, value, profileId } of found) {
    if (kind === "external_id") hits.set(value, profileId);
  }
  const whereabouts = { hits, found, merged, isFollowed };
  await afterAll(found);
  const ids = lock
    ? profilesNamed(targets, whereabouts)
    : profilesToRead(targets, whereabouts, addressCache?.matches);
  const affectsSharers = targets.some((target) => target.affectsSharers);
  const rows =
    lock && !affectsSharers
      ? await lockProfiles(lock, workspaceId, ids, bare ? "bare" : "all")
      : await selectProfiles(from, workspaceId, ids, bare ? "bare" : "all");
  await afterAll(rows);
  if (cached && isFollowed) storeIds(cached, presentIds(found, rows));
  const addresses = affectsSharers ? addressesOf(rows, wanted) : new Map<string, Identifier>();
  const sharers = await findIdentifiers(from, workspaceId, addresses);
  await afterAll(rows);
  const holders = sharers.length > 0 ? [...found, ...sharers] : found;
  const people =
    lock && affectsSharers ? await lockAsRead(lock, workspaceId, rows, holders, bare) : rows;
  await refuseMergedMeanwhile(from, workspaceId, platformIds, merged, people);
  // This many would fill the whole cache.
  if (cached && !isSliced(rows)) storeAddresses(cached, rows);
  await afterAll(rows);
  const kept = lock ? people : withoutConfirmed(people, targets, whereabouts);
  await afterAll(rows);
  const newProfileId = (value: string) => idInBucketOf(newId(), workspaceId, value);
  const updateTimes = await timesOfSharers(from, workspaceId, affectsSharers ? holders : [], kept);
  return createPeople(holders, kept, newProfileId, merged, hits, updateTimes);
}

/**
 * Removes rows that were read only to learn that a profile already has the address that it is
 * given. Their users count as not read: they are written on the condition of the address, not of
 * the version, which another process may raise meanwhile.
 */
function withoutConfirmed(
  rows: readonly ProfileRow[],
  targets: readonly Target[],
  whereabouts: Whereabouts,
): readonly ProfileRow[] {
  // If no address is given, none is read for that: 40,000 users of one address need not be looked
  // through.
  if (targets.every(({ addresses }) => addresses.length === 0)) return rows;
  const byId = new Map(rows.map((row) => [row.id, row]));
  const needed = new Set(
    profilesToRead(targets, whereabouts, (id, kind, given) => byId.get(id)?.[kind] === given),
  );
  return rows.filter((row) => needed.has(row.id));
}

/** Fewer users of one address are all read: the statement that chooses among them costs as much. */
const MANY_HOLDERS = 100;

/**
 * Thousands of users may share an address: leaves out those whom no item of the batch can mean. An
 * address identifies one of its users. During the batch at most the users who get another address
 * lose it, so one more than their number is enough.
 */
async function withoutUnlikely(
  from: Queryable,
  workspaceId: number,
  {
    targets,
    named,
    found,
  }: {
    readonly targets: readonly Target[];
    /** Profiles that items name by themselves. */
    named(): ReadonlySet<string>;
    readonly found: readonly FoundIdentifier[];
  },
): Promise<readonly FoundIdentifier[]> {
  const enough = 1 + targets.filter(({ addresses }) => addresses.length > 0).length;
  if (found.length < targets.length + MANY_HOLDERS + enough) return found;
  if (targets.some(({ affectsSharers, namesEveryHolder }) => affectsSharers || namesEveryHolder))
    return found;
  const isAddress = ({ kind }: FoundIdentifier) => kind === "email" || kind === "phone";
  const likely = new Set(found.flatMap((row) => (isAddress(row) ? [] : [row.profileId])));
  for (const those of groupBy(found.filter(isAddress), identifierKey).values()) {
    const ids = those.map(({ profileId }) => profileId);
    const isShared = ids.length > MANY_HOLDERS + enough;
    const kept = isShared
      ? await selectFirst(from, workspaceId, ids, { prefersIdentified: true }, enough)
      : ids;
    for (const id of kept) likely.add(id);
  }
  for (const id of named()) likely.add(id);
  return found.filter(({ profileId }) => likely.has(profileId));
}

/** The profiles that now have the platform_ids of merged ones. docs/decisions/merging.md */
async function followMerged(
  database: Queryable,
  workspaceId: number,
  platformIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await selectMerged(database, workspaceId, platformIds);
  return new Map(rows.map((row) => [row.profileId, row.keptProfileId]));
}

function platformIdsOf(targets: readonly Target[]): string[] {
  const ids: string[] = [];
  for (const { identifier } of targets) {
    if (identifier.kind === "platform_id" && isProfileId(identifier.value))
      ids.push(identifier.value);
  }
  return ids;
}

/** A profile that was not found may have been merged since the merged ones were looked up. */
async function refuseMergedMeanwhile(
  database: Queryable,
  workspaceId: number,
  platformIds: readonly string[],
  merged: ReadonlyMap<string, string>,
  rows: readonly ProfileRow[],
): Promise<void> {
  if (platformIds.length === 0) return;
  const known = new Set(rows.map((row) => row.id));
  const missing = platformIds.filter((id) => !known.has(merged.get(id) ?? id));
  const isMerged =
    missing.some((id) => merged.has(id)) ||
    (await selectMerged(database, workspaceId, missing)).length > 0;
  if (isMerged) throw new StaleRead("a profile was merged or removed");
}

/**
 * Locks users and those who share their addresses in one statement: in two, batches that affect each
 * other's users would deadlock.
 *
 * @throws StaleRead if one of the addresses has changed since it was read.
 */
async function lockAsRead(
  tx: Transaction,
  workspaceId: number,
  rows: readonly ProfileRow[],
  found: readonly FoundIdentifier[],
  bare: boolean | undefined,
): Promise<ProfileRow[]> {
  const ids = new Set([...rows.map((row) => row.id), ...found.map((each) => each.profileId)]);
  const locked = await lockProfiles(tx, workspaceId, [...ids], bare ? "bare" : "all");
  const now = new Map(locked.map((row) => [row.id, row]));
  const isOutdated = rows.some(
    ({ id, email, phone }) => now.get(id)?.email !== email || now.get(id)?.phone !== phone,
  );
  if (isOutdated) throw new StaleRead("a user has another address by now");
  return locked;
}

/** The cached users, and the identifiers that must be looked up. */
interface LookedUp {
  /** The profile of each external_id. Each batch has its own map. */
  readonly hits: Map<string, string>;
  readonly wanted: ReadonlyMap<string, Identifier>;
}

function lookUpCached(targets: readonly Target[], cached: CachedIds | undefined): LookedUp {
  const hits = new Map<string, string>();
  const wanted = new Map<string, Identifier>();
  // The other users of a given address matter only to a write that finds people by one.
  const looksUpAddresses = targets.some(findsByAddress);
  for (const { identifier, addresses } of targets) {
    if (looksUpAddresses) for (const each of addresses) wanted.set(identifierKey(each), each);
    const { kind, value } = identifier;
    if (kind === "platform_id") continue;
    if (kind === "external_id") {
      if (hits.has(value)) continue;
      const profileId = cached?.idCache.get(cached.scope, value);
      if (profileId !== undefined) {
        hits.set(value, profileId);
        continue;
      }
    }
    wanted.set(identifierKey(identifier), identifier);
  }
  return { hits, wanted };
}

/** Caches the writes of a committed batch. */
export function storeWritten(
  cached: Cached,
  { addedIdentifiers, created, updated }: PeopleChanges,
): void {
  storeIds(cached, addedIdentifiers);
  storeAddresses(cached, created);
  storeAddresses(cached, updated);
}

function storeAddresses(
  { addressCache }: Cached,
  profiles: readonly Pick<ProfileUpdate, "id" | "email" | "phone">[],
): void {
  for (const { id, email, phone } of profiles) {
    if (email !== undefined) addressCache.store(id, "email", email);
    if (phone !== undefined) addressCache.store(id, "phone", phone);
  }
}

async function findIdentifiers(
  database: Queryable,
  workspaceId: number,
  wanted: ReadonlyMap<string, Identifier>,
): Promise<FoundIdentifier[]> {
  if (wanted.size === 0) return [];
  const values = [...new Set([...wanted.values()].map((identifier) => identifier.value))];
  const rows = await selectIdentifiers(database, workspaceId, values);
  await afterAll(rows);
  return rows.filter((row) => wanted.has(identifierKey(row)));
}

/** The profiles that the identifiers of a batch name. */
interface Whereabouts extends Pick<LookedUp, "hits"> {
  readonly found: readonly FoundIdentifier[];
  readonly merged: ReadonlyMap<string, string>;
  readonly isFollowed: boolean;
}

const findsByAddress = ({ identifier, affectsSharers }: Target): boolean =>
  affectsSharers || identifier.kind === "email" || identifier.kind === "phone";

/**
 * The profiles that have to be read before the batch can be applied.
 *
 * @param hasAddress whether a profile is known to have an address, letter for letter.
 */
function profilesToRead(
  targets: readonly Target[],
  whereabouts: Whereabouts,
  hasAddress?: AddressCache["matches"],
): string[] {
  const { hits, found, isFollowed } = whereabouts;
  const looksUpAddresses = targets.some(findsByAddress);
  // An external_id that was looked up may be deprecated; the row has the present one.
  const unsure = new Set(
    isFollowed ? found.flatMap(({ kind, value }) => (kind === "external_id" ? [value] : [])) : [],
  );
  const isBlind = ({ identifier, reads, addresses }: Target): boolean => {
    if (reads || unsure.has(identifier.value)) return false;
    if (addresses.length === 0) return true;
    const id = identifier.kind === "external_id" ? hits.get(identifier.value) : undefined;
    if (looksUpAddresses || id === undefined || !hasAddress) return false;
    return addresses.every(({ kind, given }) => hasAddress(id, kind, given));
  };
  // A patch of users named by external_id needs nothing that is stored: most batches end here.
  if (targets.every((each) => each.identifier.kind === "external_id" && isBlind(each))) return [];
  // A user who gets an address in this batch competes with its holder for items addressed to it.
  const given = new Set(targets.flatMap(({ addresses }) => addresses.map(identifierKey)));
  return profilesNamed(
    targets,
    whereabouts,
    (target, candidates) =>
      candidates.length > 1 || given.has(identifierKey(target.identifier)) || !isBlind(target),
  );
}

/** The profiles that the targets name. A platform_id is always read, which shows whether it exists. */
function profilesNamed(
  targets: readonly Target[],
  { hits, found, merged }: Whereabouts,
  isWanted: (target: Target, candidates: readonly string[]) => boolean = () => true,
): string[] {
  const holders = new Map<string, string[]>();
  for (const row of found) {
    const key = identifierKey(row);
    const those = holders.get(key);
    // Copying it for each holder would be quadratic in the users of one address.
    if (those) those.push(row.profileId);
    else holders.set(key, [row.profileId]);
  }
  const ids = new Set<string>();
  for (const target of targets) {
    const { identifier } = target;
    if (identifier.kind === "platform_id") {
      if (isProfileId(identifier.value)) ids.add(merged.get(identifier.value) ?? identifier.value);
      continue;
    }
    const known = identifier.kind === "external_id" ? hits.get(identifier.value) : undefined;
    const candidates =
      known === undefined ? (holders.get(identifierKey(identifier)) ?? []) : [known];
    if (isWanted(target, candidates)) for (const id of candidates) ids.add(id);
  }
  return [...ids];
}

/** The present addresses of people, without those that were looked up. */
function addressesOf(
  rows: readonly ProfileRow[],
  known: ReadonlyMap<string, Identifier>,
): Map<string, Identifier> {
  const addresses = rows.flatMap(({ email, phone }): Identifier[] => [
    ...(email ? [{ kind: "email" as const, value: emailValue(email) }] : []),
    ...(phone ? [{ kind: "phone" as const, value: phone }] : []),
  ]);
  return new Map(
    addresses
      .map((address) => [identifierKey(address), address] as const)
      .filter(([key]) => !known.has(key)),
  );
}
