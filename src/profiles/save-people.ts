import { allDone, SERIALIZATION_FAILURE, type Transaction } from "../database/database.ts";
import type { PeopleChanges } from "./people.ts";
import {
  deleteIdentifiers,
  insertIdentifiers,
  insertProfiles,
  lockAddresses,
  selectIdentifiers,
  updateProfiles,
} from "./store.ts";

/**
 * What was read is not true any more: somebody else changed, made or removed a person in between.
 * The transaction must be rolled back and worked out again, as `withRetries` does: to it this is a
 * serialization failure like one that the engine finds.
 */
export class Outdated extends Error {
  readonly code = SERIALIZATION_FAILURE;
  constructor(what: string) {
    super(`Outdated: ${what}`);
    this.name = "Outdated";
  }
}

/**
 * Writes people: identifiers first, then profiles, each in one order everywhere, so that batches do
 * not wait for each other in a circle. Afterwards every profile that was touched is locked.
 *
 * @throws Outdated, which `withRetries` answers with another try.
 */
export async function savePeople(
  tx: Transaction,
  workspaceId: number,
  changes: PeopleChanges,
): Promise<void> {
  const { created, updated, addedIdentifiers, removedIdentifiers, addressesOfNew } = changes;
  if (addressesOfNew.length > 0) {
    await lockAddresses(tx, workspaceId, addressesOfNew);
    const wanted = new Set(addressesOfNew.map(({ kind, value }) => `${kind} ${value}`));
    const values = addressesOfNew.map((address) => address.value);
    const taken = await selectIdentifiers(tx, workspaceId, values);
    if (taken.some(({ kind, value }) => wanted.has(`${kind} ${value}`))) {
      throw new Outdated("an address has an owner by now");
    }
  }
  const [, inserted, , kept] = await allDone([
    deleteIdentifiers(tx, workspaceId, removedIdentifiers),
    insertIdentifiers(tx, workspaceId, addedIdentifiers),
    insertProfiles(tx, workspaceId, created),
    updateProfiles(tx, workspaceId, updated),
  ]);
  if (inserted < addedIdentifiers.length) throw new Outdated("an identifier has an owner by now");
  if (kept < updated.length) throw new Outdated("a profile was changed or removed");
}
