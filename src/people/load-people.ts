import { type Queryable, settleAll, type Transaction } from "../database/database.ts";
import { writePeopleOf } from "../workspaces/reset.ts";
import type { CachedIds, IdCache } from "./id-cache.ts";
import {
  emailValue,
  type Identifier,
  identifierKey,
  isProfileId,
  type PersonIdentifier,
} from "./identifiers.ts";
import { selectMerged } from "./merged-store.ts";
import { createPeople, type People } from "./people.ts";
import { StaleRead } from "./stale-read.ts";
import {
  type FoundIdentifier,
  lockProfiles,
  type ProfileRow,
  selectIdentifiers,
  selectProfiles,
} from "./store.ts";

/** What one write wants to know before it can be worked out. */
export interface Target {
  readonly identifier: PersonIdentifier;
  /** Whether it looks at what is stored about the person. */
  readonly reads: boolean;
  /** Addresses that it gives to the person. */
  readonly addresses: readonly Identifier[];
  /** Whether it affects all who share an address with the user. */
  readonly spreads: boolean;
}

export interface ReadOptions {
  newId(): string;
  /** Caches the external ids that are found. */
  readonly cached?: CachedIds;
}

export interface LoadOptions extends ReadOptions {
  /**
   * Whether the profiles of the targets are locked now; otherwise `savePeople` detects changes made
   * meanwhile.
   */
  readonly lock: boolean;
}

/**
 * Reads everything that a batch of writes needs, in five statements at most, whatever its size, and in
 * one or two more where a platform_id is named; keeps a reset of the workspace waiting until the
 * transaction ends.
 *
 * @throws StaleRead if data changed meanwhile: it locks and finds another state, or a
 *   profile is merged away while it is looked for.
 */
export async function loadPeople(
  tx: Transaction,
  workspaceId: number,
  targets: readonly Target[],
  options: LoadOptions,
): Promise<People> {
  // In one round trip with what is read first: that is read once this is held. Bypasses the id
  // cache, which may be stale.
  const [, people] = await settleAll([
    writePeopleOf(tx, workspaceId),
    read(
      tx,
      workspaceId,
      targets,
      options,
      lookUpCached(targets, workspaceId),
      options.lock ? tx : undefined,
    ),
  ]);
  return people;
}

/**
 * The same before the transaction begins, so that it holds rows no longer than it takes to write them:
 * where all are cached, no statement at all. The transaction must begin with `writePeopleOf`, and
 * what was read is checked by `savePeople`, like what is read in the transaction without locks.
 *
 * @throws StaleRead as above.
 */
export const readPeople = (
  database: Queryable,
  workspaceId: number,
  targets: readonly Target[],
  options: ReadOptions,
): Promise<People> =>
  read(
    database,
    workspaceId,
    targets,
    options,
    lookUpCached(targets, workspaceId, options.cached?.idCache),
    undefined,
  );

/**
 * @param recalled who is known to have some of the identifiers.
 * @param lock the transaction that locks the profiles, if one does.
 */
async function read(
  database: Queryable,
  workspaceId: number,
  targets: readonly Target[],
  { newId, cached }: ReadOptions,
  { hits, wanted }: LookedUp,
  lock: Transaction | undefined,
): Promise<People> {
  const found = await findIdentifiers(database, workspaceId, wanted);
  if (cached) storeAll(cached, workspaceId, found);
  const platformIds = platformIdsOf(targets);
  const merged = await followMerged(database, workspaceId, platformIds);
  const ids = profilesToRead(targets, { hits, found, merged }, lock !== undefined);
  const spreads = targets.some((need) => need.spreads);
  const rows =
    lock && !spreads
      ? await lockProfiles(lock, workspaceId, ids)
      : await selectProfiles(database, workspaceId, ids);
  const addresses = spreads ? addressesOf(rows, wanted) : new Map<string, Identifier>();
  const sharers = await findIdentifiers(database, workspaceId, addresses);
  const all = [...found, ...sharers];
  const people = lock && spreads ? await lockAsRead(lock, workspaceId, rows, all) : rows;
  await refuseMergedMeanwhile(database, workspaceId, platformIds, merged, people);
  return createPeople(all, people, newId, merged, hits);
}

/** Where the platform_ids of merged profiles lead. docs/decisions/merging.md */
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
  const known = new Set(rows.map((row) => row.id));
  const missing = platformIds.filter((id) => !known.has(merged.get(id) ?? id));
  const isMerged =
    missing.some((id) => merged.has(id)) ||
    (await selectMerged(database, workspaceId, missing)).length > 0;
  if (isMerged) throw new StaleRead("a profile was merged or removed");
}

/**
 * Locks users and those who share their addresses at once: locked one after the other, two batches
 * that affect each other's users would deadlock.
 *
 * @throws StaleRead where an address that decided who shares it is another by now.
 */
async function lockAsRead(
  tx: Transaction,
  workspaceId: number,
  rows: readonly ProfileRow[],
  found: readonly FoundIdentifier[],
): Promise<ProfileRow[]> {
  const ids = new Set([...rows.map((row) => row.id), ...found.map((each) => each.profileId)]);
  const locked = await lockProfiles(tx, workspaceId, [...ids]);
  const now = new Map(locked.map((row) => [row.id, row]));
  const isOutdated = rows.some(
    ({ id, email, phone }) => now.get(id)?.email !== email || now.get(id)?.phone !== phone,
  );
  if (isOutdated) throw new StaleRead("a user has another address by now");
  return locked;
}

/** The cached users, and the identifiers that must be looked up. */
interface LookedUp {
  /** Which profile an external_id leads to. Each batch has a map of its own. */
  readonly hits: Map<string, string>;
  readonly wanted: ReadonlyMap<string, Identifier>;
}

function lookUpCached(
  targets: readonly Target[],
  workspaceId: number,
  idCache?: IdCache,
): LookedUp {
  const hits = new Map<string, string>();
  const wanted = new Map<string, Identifier>();
  for (const { identifier, addresses } of targets) {
    for (const address of addresses) wanted.set(identifierKey(address), address);
    const { kind, value } = identifier;
    if (kind === "platform_id") continue;
    if (kind === "external_id") {
      if (hits.has(value)) continue;
      const profileId = idCache?.get(workspaceId, value);
      if (profileId !== undefined) {
        hits.set(value, profileId);
        continue;
      }
    }
    wanted.set(identifierKey(identifier), identifier);
  }
  return { hits, wanted };
}

/** Remembers whom external ids lead to, among committed identifiers. */
export function storeAll(
  { idCache, removals }: CachedIds,
  workspaceId: number,
  identifiers: readonly FoundIdentifier[],
): void {
  for (const { kind, value, profileId } of identifiers) {
    if (kind === "external_id") idCache.store(workspaceId, value, profileId, removals);
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
  return rows.filter((row) => wanted.has(identifierKey(row)));
}

/** Where the identifiers of a batch lead. */
interface Whereabouts extends Pick<LookedUp, "hits"> {
  readonly found: readonly FoundIdentifier[];
  readonly merged: ReadonlyMap<string, string>;
}

function profilesToRead(
  targets: readonly Target[],
  { hits, found, merged }: Whereabouts,
  all: boolean,
): string[] {
  // A patch of users named by external_id needs nothing that is stored: most batches end here.
  const isBlind =
    !all && targets.every(({ identifier, reads }) => identifier.kind === "external_id" && !reads);
  if (isBlind) return [];
  const holders = new Map<string, string[]>();
  for (const row of found) {
    const key = identifierKey(row);
    holders.set(key, [...(holders.get(key) ?? []), row.profileId]);
  }
  // A user who gets an address in this batch competes with its holder for items addressed to it.
  const given = new Set(targets.flatMap(({ addresses }) => addresses.map(identifierKey)));
  const ids = new Set<string>();
  for (const { identifier, reads } of targets) {
    if (identifier.kind === "platform_id") {
      // Whether it exists is told by reading it.
      if (isProfileId(identifier.value)) ids.add(merged.get(identifier.value) ?? identifier.value);
      continue;
    }
    const key = identifierKey(identifier);
    const known = identifier.kind === "external_id" ? hits.get(identifier.value) : undefined;
    const candidates = known === undefined ? (holders.get(key) ?? []) : [known];
    const isRead = all || reads || candidates.length > 1 || given.has(key);
    if (isRead) for (const id of candidates) ids.add(id);
  }
  return [...ids];
}

/** The addresses that people have already, less those that were looked up. */
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
