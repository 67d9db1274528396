import { allDone, type Transaction } from "../database/database.ts";
import { writePeopleOf } from "../workspaces/reset.ts";
import {
  emailValue,
  type Identifier,
  identifierKey,
  isProfileId,
  type Who,
} from "./identifiers.ts";
import type { KnownIds } from "./known-ids.ts";
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

export interface LoadOptions {
  newId(): string;
  /** Saves looking up the people that it knows; it may be out of date. */
  readonly knownIds?: KnownIds;
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
  { newId, knownIds, lock }: LoadOptions,
): Promise<People> {
  const wanted = uniqueIdentifiers(needs);
  const remembered = knownIds ? takeRemembered(wanted, workspaceId, knownIds) : [];
  // In one round trip: the second is read once the first is held.
  const [, looked] = await allDone([
    writePeopleOf(tx, workspaceId),
    findIdentifiers(tx, workspaceId, wanted),
  ]);
  const found = [...remembered, ...looked];
  const merged = await followMerged(tx, workspaceId, needs);
  const ids = profilesToRead(needs, found, merged, lock);
  const spreads = needs.some((need) => need.spreads);
  const isSimple = lock && !spreads;
  const rows = await (isSimple ? lockProfiles : selectProfiles)(tx, workspaceId, ids);
  const addresses = spreads ? addressesOf(rows, wanted) : new Map<string, Identifier>();
  const sharers = await findIdentifiers(tx, workspaceId, addresses);
  const all = [...found, ...sharers];
  const read = lock && spreads ? await lockAsRead(tx, workspaceId, rows, all) : rows;
  await refuseMergedMeanwhile(tx, workspaceId, needs, merged, read);
  return createPeople(all, read, newId, merged);
}

/** Where the platform_ids of merged profiles lead. decision: merge, the merged platform_id. */
async function followMerged(
  tx: Transaction,
  workspaceId: number,
  needs: readonly Need[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await selectMerged(tx, workspaceId, platformIdsOf(needs));
  return new Map(rows.map((row) => [row.profileId, row.keptProfileId]));
}

const platformIdsOf = (needs: readonly Need[]): string[] =>
  needs.flatMap(({ who }) =>
    who.kind === "platform_id" && isProfileId(who.value) ? [who.value] : [],
  );

/** A profile that was not found may have been merged since the merged ones were looked up. */
async function refuseMergedMeanwhile(
  tx: Transaction,
  workspaceId: number,
  needs: readonly Need[],
  merged: ReadonlyMap<string, string>,
  rows: readonly ProfileRow[],
): Promise<void> {
  const known = new Set(rows.map((row) => row.id));
  const missing = platformIdsOf(needs).filter((id) => !known.has(merged.get(id) ?? id));
  const isMerged =
    missing.some((id) => merged.has(id)) ||
    (await selectMerged(tx, workspaceId, missing)).length > 0;
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

function uniqueIdentifiers(needs: readonly Need[]): Map<string, Identifier> {
  const wanted = new Map<string, Identifier>();
  for (const { who, addresses } of needs) {
    if (who.kind !== "platform_id") wanted.set(identifierKey(who), who);
    for (const address of addresses) wanted.set(identifierKey(address), address);
  }
  return wanted;
}

/** Takes out of `wanted` whom this process remembers. */
function takeRemembered(
  wanted: Map<string, Identifier>,
  workspaceId: number,
  knownIds: KnownIds,
): FoundIdentifier[] {
  const found: FoundIdentifier[] = [];
  for (const [key, { kind, value }] of wanted) {
    const profileId = kind === "external_id" ? knownIds.get(workspaceId, value) : undefined;
    if (profileId === undefined) continue;
    found.push({ kind, value, profileId });
    wanted.delete(key);
  }
  return found;
}

async function findIdentifiers(
  tx: Transaction,
  workspaceId: number,
  wanted: ReadonlyMap<string, Identifier>,
): Promise<FoundIdentifier[]> {
  const values = [...new Set([...wanted.values()].map((identifier) => identifier.value))];
  const rows = await selectIdentifiers(tx, workspaceId, values);
  return rows.filter((row) => wanted.has(identifierKey(row)));
}

function profilesToRead(
  needs: readonly Need[],
  found: readonly FoundIdentifier[],
  merged: ReadonlyMap<string, string>,
  all: boolean,
): string[] {
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
    const candidates = holders.get(key) ?? [];
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
