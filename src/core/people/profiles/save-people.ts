import { settleAll, type Transaction } from "../../database/database.ts";
import { selectIdentifiers } from "./holders-store.ts";
import { identifierKey } from "./identifiers.ts";
import type { PeopleChanges } from "./people.ts";
import { StaleRead } from "./stale-read.ts";
import { deleteIdentifiers, insertIdentifiers, insertProfiles, lockAddresses } from "./store.ts";
import { updateProfiles } from "./update-profiles-store.ts";

/**
 * Writes people: identifiers first, then profiles, each in one global order, so that batches never
 * deadlock. Afterwards every profile that was touched is locked.
 *
 * @param mostCustomBytes the most bytes of custom attributes that were not read; null for any size.
 * @throws a serialization failure if data changed meanwhile: an identifier or an address has an owner
 *   by now, or a profile was changed or removed.
 */
export async function savePeople(
  tx: Transaction,
  workspaceId: number,
  changes: PeopleChanges,
  mostCustomBytes: number | null = null,
): Promise<void> {
  const { created, updated, addedIdentifiers, removedIdentifiers, addressesOfNew } = changes;
  if (addressesOfNew.length > 0) {
    await lockAddresses(tx, workspaceId, addressesOfNew);
    const former = new Map(addressesOfNew.map((each) => [identifierKey(each), each.formerHolders]));
    const values = addressesOfNew.map((address) => address.value);
    const holders = await selectIdentifiers(tx, workspaceId, values);
    if (holders.some((each) => former.get(identifierKey(each))?.has(each.profileId) === false)) {
      throw new StaleRead("an address has an owner by now");
    }
  }
  await settleAll([
    insertIdentifiers(tx, workspaceId, addedIdentifiers),
    insertProfiles(tx, workspaceId, created),
    updateProfiles(tx, workspaceId, updated, mostCustomBytes),
    // Last: identifiers of a profile are removed only while the profile is locked.
    deleteIdentifiers(tx, workspaceId, removedIdentifiers),
  ]);
}
