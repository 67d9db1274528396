import { allDone, type Transaction } from "../database/database.ts";
import { emailValue } from "../profiles/identifiers.ts";
import { deleteMerged, upsertMerged } from "../profiles/merged-store.ts";
import { Outdated } from "../profiles/outdated.ts";
import {
  deleteIdentifiers,
  deleteProfiles,
  insertIdentifiers,
  insertProfiles,
  lockProfiles,
  type ProfileRow,
  replaceProfiles,
  selectIdentifiers,
} from "../profiles/store.ts";
import type { CastChanges } from "./cast.ts";

/**
 * Writes the profiles of a cast: identifiers first, then profiles, as everybody does, so that writers
 * do not wait for each other in a circle. Afterwards every profile that is written to or removed is
 * locked, and was found as it had been read: then nobody wrote anything of these people since.
 *
 * @param isLocked whether the profiles were locked when they were read.
 * @throws Outdated when a profile or an identifier is another than it was.
 */
export async function saveCast(
  tx: Transaction,
  workspaceId: number,
  changes: CastChanges,
  { isLocked, now }: { readonly isLocked: boolean; readonly now: Date },
): Promise<void> {
  const { addedIdentifiers, removedIdentifiers, touched } = changes;
  const [, added, locked] = await allDone([
    deleteIdentifiers(tx, workspaceId, removedIdentifiers),
    insertIdentifiers(tx, workspaceId, addedIdentifiers),
    isLocked
      ? Promise.resolve(touched)
      : lockProfiles(
          tx,
          workspaceId,
          touched.map((row) => row.id),
        ),
  ]);
  if (added < addedIdentifiers.length) throw new Outdated("an identifier has an owner by now");
  if (!isLocked) refuseChanged(touched, locked);
  await allDone([
    insertProfiles(tx, workspaceId, changes.created),
    replaceProfiles(tx, workspaceId, changes.replaced),
    deleteProfiles(tx, workspaceId, changes.removedIds),
    deleteMerged(tx, workspaceId, changes.forgottenIds),
    upsertMerged(tx, workspaceId, changes.redirected, now),
  ]);
}

/** Locking adds one to the version. */
function refuseChanged(read: readonly ProfileRow[], locked: readonly ProfileRow[]): void {
  const versions = new Map(locked.map((row) => [row.id, row.version]));
  if (read.every((row) => versions.get(row.id) === row.version + 1)) return;
  throw new Outdated("a profile was changed or removed");
}

/** Those of the addresses (lower case) that nobody has any more. */
export async function findAbandoned(
  tx: Transaction,
  workspaceId: number,
  rows: readonly ProfileRow[],
): Promise<string[]> {
  const emails = rows.flatMap(({ email }) => (email === null ? [] : [emailValue(email)]));
  const held = await selectIdentifiers(tx, workspaceId, emails);
  const values = new Set(held.filter(({ kind }) => kind === "email").map(({ value }) => value));
  return [...new Set(emails)].filter((email) => !values.has(email));
}
