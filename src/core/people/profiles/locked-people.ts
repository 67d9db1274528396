import type { Database } from "../../database/database.ts";
import { createLockWaits, type LockWaits } from "../../database/lock-waits.ts";
import { limitLockWait } from "../../database/people-lock.ts";
import type { Waiting } from "../../database/shared-transactions.ts";
import { selectIdentifiers } from "./holders-store.ts";
import { identifierKey, isProfileId, type PersonIdentifier } from "./identifiers.ts";
import { selectLockedProfiles } from "./locked-people-store.ts";

/** How long a look at locks may wait for one of a table, in ms. */
const LOOK_MS = 20;

/** More users of the same addresses are not looked at. */
const MOST_HOLDERS = 5_000;

/**
 * Where calls about people wait whose users another transaction has locked.
 *
 * @param namesIn the identifiers by which a call names people.
 * @returns undefined on an engine whose transactions do not wait for each other.
 */
export function createPeopleLockWaits<Call, Result>(
  database: Database,
  namesIn: (call: Call) => readonly PersonIdentifier[],
): LockWaits<Call, Waiting<Call, Result>> | undefined {
  const { lockPatienceMs } = database;
  if (lockPatienceMs === undefined) return undefined;
  return createLockWaits({
    keysOf: (call: Call) => namesIn(call).map(identifierKey),
    findLocked: (workspaceId, calls: readonly Call[]) =>
      findLocked(database, workspaceId, calls.flatMap(namesIn)),
    patienceMs: lockPatienceMs,
    areTablesLocked: async () => (await database.areTablesLocked?.()) ?? false,
  });
}

/** The keys of the identifiers whose users are locked. @throws if a table is. */
function findLocked(
  database: Database,
  workspaceId: number,
  names: readonly PersonIdentifier[],
): Promise<ReadonlySet<string>> {
  return database.for("lookup").transaction(async (tx) => {
    await limitLockWait(tx, LOOK_MS);
    const values = new Set<string>();
    const holders: { readonly key: string; readonly id: string }[] = [];
    for (const name of names) {
      if (name.kind !== "platform_id") values.add(name.value);
      else if (isProfileId(name.value)) {
        holders.push({ key: identifierKey(name), id: name.value });
      }
    }
    const most = 2 * values.size + MOST_HOLDERS;
    for (const found of await selectIdentifiers(tx, workspaceId, [...values], most)) {
      holders.push({ key: identifierKey(found), id: found.profileId });
    }
    const ids = new Set(holders.map(({ id }) => id));
    const isCluster = database.commitsInParts === true;
    const locked = new Set(await selectLockedProfiles(tx, workspaceId, [...ids], isCluster));
    return new Set(holders.filter(({ id }) => locked.has(id)).map(({ key }) => key));
  });
}
