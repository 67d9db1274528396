import { commitTogether } from "../../database/commit-together.ts";
import { settleAll, type Transaction } from "../../database/database.ts";
import { selectIdentifiers } from "../profiles/holders-store.ts";
import { countIdRemoval } from "../profiles/id-removals-store.ts";
import { emailValue, identifierKey } from "../profiles/identifiers.ts";
import { deleteMerged, upsertMerged } from "../profiles/merged-store.ts";
import { StaleRead } from "../profiles/stale-read.ts";
import {
  deleteIdentifiers,
  deleteProfiles,
  type FoundIdentifier,
  insertIdentifiers,
  insertProfiles,
  lockProfiles,
  type ProfileRow,
  type RemovedProfile,
  replaceProfiles,
} from "../profiles/store.ts";
import type { GraphChanges } from "./identity-graph.ts";

/** Profiles have changed since they were read. They are locked by now, and nothing else has been written. */
export class ChangedMeanwhile extends StaleRead {
  readonly lockedIds: ReadonlySet<string>;
  constructor(locked: readonly ProfileRow[]) {
    super("a profile was changed");
    this.lockedIds = new Set(idsOf(locked));
  }
}

/**
 * Writes the profiles of a graph in the lock order of a track batch, so that the two never deadlock: new
 * identifiers, then profiles by id, then identifiers that exist, which are removed only while their profile
 * is locked.
 *
 * A profile that is written or removed must have the version that was read: then nothing about these users
 * was written since.
 *
 * @param isLocked whether the profiles were locked when they were read.
 * @param lockedIds the only profiles that it may write, if it is the second attempt in its transaction.
 * @returns whether an external_id leaves a user who still exists, or is deprecated, and the profiles that were removed.
 * @throws ChangedMeanwhile if profiles have changed, and the transaction can read them again.
 * @throws a serialization failure if a profile or an identifier has changed.
 */
export async function saveGraph(
  tx: Transaction,
  workspaceId: number,
  changes: GraphChanges,
  {
    isLocked,
    lockedIds,
    now,
  }: {
    readonly isLocked: boolean;
    readonly lockedIds?: ReadonlySet<string> | undefined;
    readonly now: Date;
  },
): Promise<{ readonly takesIds: boolean; readonly removed: readonly RemovedProfile[] }> {
  const { removedIdentifiers, touched } = changes;
  const takesIds = takesExternalIds(changes);
  const { fresh, moved } = splitAdded(changes);
  if (lockedIds && (fresh.length > 0 || touched.some(({ id }) => !lockedIds.has(id)))) {
    // In its place in the lock order only in another transaction.
    throw new StaleRead("other profiles or identifiers are concerned by now");
  }
  const [, locked] = await settleAll([
    insertIdentifiers(tx, workspaceId, fresh),
    isLocked ? Promise.resolve([]) : lockProfiles(tx, workspaceId, idsOf(touched)),
  ]);
  if (!isLocked) refuseChanged(touched, locked, fresh.length === 0);
  const [, , , , removed] = await settleAll([
    deleteIdentifiers(tx, workspaceId, removedIdentifiers),
    insertIdentifiers(tx, workspaceId, moved),
    insertProfiles(tx, workspaceId, changes.created),
    replaceProfiles(tx, workspaceId, changes.replaced),
    deleteProfiles(tx, workspaceId, changes.removedIds),
    deleteMerged(tx, workspaceId, changes.forgottenIds),
    upsertMerged(tx, workspaceId, changes.redirected, now),
    ...(takesIds ? [commitTogether(tx), countIdRemoval(tx, workspaceId)] : []),
  ]);
  return { takesIds, removed };
}

/** Id caches cannot notice that an external_id leaves a user who still exists, or is deprecated. */
function takesExternalIds({ removedIdentifiers, removedIds, redirected }: GraphChanges): boolean {
  if (redirected.some(({ isRename }) => isRename)) return true;
  const gone = new Set(removedIds);
  return removedIdentifiers.some(
    ({ kind, profileId }) => kind === "external_id" && !gone.has(profileId),
  );
}

/** A unique identifier that moves can be added only after it is removed from the first user. */
function splitAdded({ addedIdentifiers, removedIdentifiers }: GraphChanges) {
  const removed = new Set(removedIdentifiers.map(identifierKey));
  const isMoved = (each: FoundIdentifier) => removed.has(identifierKey(each));
  return {
    fresh: addedIdentifiers.filter((each) => !isMoved(each)),
    moved: addedIdentifiers.filter(isMoved),
  };
}

const idsOf = (rows: readonly ProfileRow[]): string[] => rows.map((row) => row.id);

/** Locking raises the version by one. @param isFirst whether nothing was written before. */
function refuseChanged(
  read: readonly ProfileRow[],
  locked: readonly ProfileRow[],
  isFirst: boolean,
): void {
  const versions = new Map(locked.map((row) => [row.id, row.version]));
  if (read.every((row) => versions.get(row.id) === row.version + 1)) return;
  if (isFirst && read.every((row) => versions.has(row.id))) throw new ChangedMeanwhile(locked);
  throw new StaleRead("a profile was changed or removed");
}

/** The addresses of removed users that no other user has. */
export async function findAbandoned(
  tx: Transaction,
  workspaceId: number,
  { touched, removedIds, addedIdentifiers }: GraphChanges,
): Promise<string[]> {
  const gone = new Set(removedIds);
  const passedOn = new Set(addedIdentifiers.map(identifierKey));
  const emails = touched
    .flatMap(({ id, email }) => (gone.has(id) && email !== null ? [emailValue(email)] : []))
    .filter((value) => !passedOn.has(identifierKey({ kind: "email", value })));
  const held = await selectIdentifiers(tx, workspaceId, emails);
  const values = new Set(held.filter(({ kind }) => kind === "email").map(({ value }) => value));
  return [...new Set(emails)].filter((email) => !values.has(email));
}
