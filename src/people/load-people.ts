import { allDone, type Queryable, type Transaction } from "../database/database.ts";
import { writePeopleOf } from "../workspaces/reset.ts";
import {
  emailValue,
  type Identifier,
  identifierKey,
  isProfileId,
  type Who,
} from "./identifiers.ts";
import type { CachedIds, KnownIds } from "./known-ids.ts";
import { selectMerged } from "./merged-store.ts";
import { Outdated } from "./outdated.ts";
import { createPeople, type People } from "./people.ts";
import {
  type FoundIdentifier,
  lockProfiles,
  type ProfileRow,
  selectIdentifiers,
  selectProfiles,
} from "./store.ts";

/** What one write wants to know before it can be worked out. */
export interface Need {
  readonly who: Who;
  /** Whether it looks at what is stored about the person. */
  readonly reads: boolean;
  /** Addresses that it gives to the person. */
  readonly addresses: readonly Identifier[];
  /** Whether it reaches everybody who shares an address with the person. */
  readonly spreads: boolean;
}

export interface ReadOptions {
  newId(): string;
  /** Caches the external ids that are found. */
  readonly cached?: CachedIds;
}

export interface LoadOptions extends ReadOptions {
  /**
   * Whether the profiles that the needs name are locked now; otherwise `savePeople` tells whether
   * somebody else was faster.
   */
  readonly lock: boolean;
}

/**
 * Reads everything that a batch of writes needs, in five statements at most, whatever its size, and in
 * one or two more where a platform_id is named; keeps a reset of the workspace waiting until the
 * transaction ends.
 *
 * @throws Outdated (outdated.ts), where somebody was faster: it locks and the world has moved, or a
 *   profile is merged away while it is looked for.
 */
export async function loadPeople(
  tx: Transaction,
  workspaceId: number,
  needs: readonly Need[],
  options: LoadOptions,
): Promise<People> {
  // In one round trip with what is read first: that is read once this is held. Nobody is taken from
  // memory, which may be out of date.
  const [, people] = await allDone([
    writePeopleOf(tx, workspaceId),
    read(
      tx,
      workspaceId,
      needs,
      options,
      recall(needs, workspaceId),
      options.lock ? tx : undefined,
    ),
  ]);
  return people;
}

/**
 * The same before the transaction begins, so that it holds rows no longer than it takes to write them:
 * where all are remembered, no statement at all. The transaction must begin with `writePeopleOf`, and
 * what was read is checked by `savePeople`, like what is read in the transaction without locks.
 *
 * @throws Outdated as above.
 */
export const readPeople = (
  database: Queryable,
  workspaceId: number,
  needs: readonly Need[],
  options: ReadOptions,
): Promise<People> =>
  read(
    database,
    workspaceId,
    needs,
    options,
    recall(needs, workspaceId, options.cached?.knownIds),
    undefined,
  );

/**
 * @param recalled who is known to have some of the identifiers.
 * @param lock the transaction that locks the profiles, if one does.
 */
async function read(
  database: Queryable,
  workspaceId: number,
  needs: readonly Need[],
  { newId, cached }: ReadOptions,
  { remembered, wanted }: Recalled,
  lock: Transaction | undefined,
): Promise<People> {
  const found = await findIdentifiers(database, workspaceId, wanted);
  if (cached) rememberAll(cached, workspaceId, found);
  const platformIds = platformIdsOf(needs);
  const merged = await followMerged(database, workspaceId, platformIds);
  const ids = profilesToRead(needs, { remembered, found, merged }, lock !== undefined);
  const spreads = needs.some((need) => need.spreads);
  const rows =
    lock && !spreads
      ? await lockProfiles(lock, workspaceId, ids)
      : await selectProfiles(database, workspaceId, ids);
  const addresses = spreads ? addressesOf(rows, wanted) : new Map<string, Identifier>();
  const sharers = await findIdentifiers(database, workspaceId, addresses);
  const all = [...found, ...sharers];
  const people = lock && spreads ? await lockAsRead(lock, workspaceId, rows, all) : rows;
  await refuseMergedMeanwhile(database, workspaceId, platformIds, merged, people);
  return createPeople(all, people, newId, merged, remembered);
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

function platformIdsOf(needs: readonly Need[]): string[] {
  const ids: string[] = [];
  for (const { who } of needs) {
    if (who.kind === "platform_id" && isProfileId(who.value)) ids.push(who.value);
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
  if (isMerged) throw new Outdated("a profile was merged or removed");
}

/**
 * Locks people and whom they share an address with, all at once: locked one after the other, two
 * batches that spread to each other's people would wait in a circle.
 *
 * @throws Outdated where an address that decided who shares it is another by now.
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
  if (isOutdated) throw new Outdated("somebody has another address by now");
  return locked;
}

/** Who is remembered, and which identifiers must be looked up. */
interface Recalled {
  /** Which profile an external_id leads to. Each batch has a map of its own. */
  readonly remembered: Map<string, string>;
  readonly wanted: ReadonlyMap<string, Identifier>;
}

function recall(needs: readonly Need[], workspaceId: number, knownIds?: KnownIds): Recalled {
  const remembered = new Map<string, string>();
  const wanted = new Map<string, Identifier>();
  for (const { who, addresses } of needs) {
    for (const address of addresses) wanted.set(identifierKey(address), address);
    const { kind, value } = who;
    if (kind === "platform_id") continue;
    if (kind === "external_id") {
      if (remembered.has(value)) continue;
      const profileId = knownIds?.get(workspaceId, value);
      if (profileId !== undefined) {
        remembered.set(value, profileId);
        continue;
      }
    }
    wanted.set(identifierKey(who), who);
  }
  return { remembered, wanted };
}

/** Remembers whom external ids lead to, among committed identifiers. */
export function rememberAll(
  { knownIds, removals }: CachedIds,
  workspaceId: number,
  identifiers: readonly FoundIdentifier[],
): void {
  for (const { kind, value, profileId } of identifiers) {
    if (kind === "external_id") knownIds.remember(workspaceId, value, profileId, removals);
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
interface Whereabouts extends Pick<Recalled, "remembered"> {
  readonly found: readonly FoundIdentifier[];
  readonly merged: ReadonlyMap<string, string>;
}

function profilesToRead(
  needs: readonly Need[],
  { remembered, found, merged }: Whereabouts,
  all: boolean,
): string[] {
  // A patch of one whom an external_id names needs nothing that is stored: most batches end here.
  const isBlind = !all && needs.every(({ who, reads }) => who.kind === "external_id" && !reads);
  if (isBlind) return [];
  const holders = new Map<string, string[]>();
  for (const row of found) {
    const key = identifierKey(row);
    holders.set(key, [...(holders.get(key) ?? []), row.profileId]);
  }
  // Whoever gets an address in this batch competes with its holder for what is addressed to it.
  const given = new Set(needs.flatMap(({ addresses }) => addresses.map(identifierKey)));
  const ids = new Set<string>();
  for (const { who, reads } of needs) {
    if (who.kind === "platform_id") {
      // Whether it exists is told by reading it.
      if (isProfileId(who.value)) ids.add(merged.get(who.value) ?? who.value);
      continue;
    }
    const key = identifierKey(who);
    const known = who.kind === "external_id" ? remembered.get(who.value) : undefined;
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
