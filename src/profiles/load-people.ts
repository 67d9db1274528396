import type { Transaction } from "../database/database.ts";
import {
  emailValue,
  type Identifier,
  identifierKey,
  isProfileId,
  type Who,
} from "./identifiers.ts";
import type { KnownIds } from "./known-ids.ts";
import { selectMerged } from "./merged-store.ts";
import { createPeople, type People } from "./people.ts";
import { Outdated } from "./save-people.ts";
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
 * Reads everything that a batch of writes needs, in three statements at most, whatever its size; in
 * two more where a platform_id is named that no profile has any more.
 *
 * @throws Outdated when a profile is merged away while it is looked for.
 */
export async function loadPeople(
  tx: Transaction,
  workspaceId: number,
  needs: readonly Need[],
  { newId, knownIds, lock }: LoadOptions,
): Promise<People> {
  const wanted = uniqueIdentifiers(needs);
  const remembered = knownIds ? takeRemembered(wanted, workspaceId, knownIds) : [];
  const found = [...remembered, ...(await findIdentifiers(tx, workspaceId, wanted))];
  const ids = profilesToRead(needs, found, lock);
  const read = lock ? lockProfiles : selectProfiles;
  const present = await read(tx, workspaceId, ids);
  const merged = await followMerged(tx, workspaceId, needs, present);
  const rows = await withKept(present, merged, (missing) => read(tx, workspaceId, missing));
  const sharers = needs.some((need) => need.spreads)
    ? await findIdentifiers(tx, workspaceId, addressesOf(rows, wanted))
    : [];
  return createPeople([...found, ...sharers], rows, newId, merged);
}

/** Where the platform_ids lead that no profile has any more. decision: merge, platform_id. */
async function followMerged(
  tx: Transaction,
  workspaceId: number,
  needs: readonly Need[],
  present: readonly ProfileRow[],
): Promise<ReadonlyMap<string, string>> {
  const known = new Set(present.map((row) => row.id));
  const missing = needs.flatMap(({ who }) =>
    who.kind === "platform_id" && isProfileId(who.value) && !known.has(who.value)
      ? [who.value]
      : [],
  );
  const merged = await selectMerged(tx, workspaceId, missing);
  return new Map(merged.map((each) => [each.profileId, each.keptProfileId]));
}

/** The rows, with those of the profiles that merged ones lead to, the most recently updated first. */
async function withKept(
  present: readonly ProfileRow[],
  merged: ReadonlyMap<string, string>,
  read: (ids: readonly string[]) => Promise<ProfileRow[]>,
): Promise<readonly ProfileRow[]> {
  const known = new Set(present.map((row) => row.id));
  const missing = [...new Set(merged.values())].filter((id) => !known.has(id));
  if (missing.length === 0) return present;
  const kept = await read(missing);
  if (kept.length < missing.length) throw new Outdated("a profile was merged or removed");
  return [...present, ...kept].sort((a, b) => b.updatedAtMicros - a.updatedAtMicros);
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
  all: boolean,
): string[] {
  const holders = new Map<string, string[]>();
  for (const row of found) {
    const key = identifierKey(row);
    holders.set(key, [...(holders.get(key) ?? []), row.profileId]);
  }
  const ids = new Set<string>();
  for (const { who, reads } of needs) {
    if (who.kind === "platform_id") {
      // Whether it exists is told by reading it.
      if (isProfileId(who.value)) ids.add(who.value);
      continue;
    }
    const candidates = holders.get(identifierKey(who)) ?? [];
    if (all || reads || candidates.length > 1) for (const id of candidates) ids.add(id);
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
