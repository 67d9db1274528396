import type { Transaction } from "../../database/database.ts";
import { type CreationTime, updateCreationTimes } from "./store.ts";

export type { CreationTime } from "./store.ts";

/**
 * Sets the creation times from an import if they are earlier; importing twice changes nothing. The
 * transaction has locked the profiles.
 *
 * @param times may hold several of one profile.
 */
export async function backdateUsers(
  tx: Transaction,
  workspaceId: number,
  times: readonly CreationTime[],
): Promise<void> {
  const earliest = new Map<string, CreationTime>();
  for (const time of times) {
    const known = earliest.get(time.profileId);
    if (!known || time.createdAt < known.createdAt) earliest.set(time.profileId, time);
  }
  if (earliest.size > 0) await updateCreationTimes(tx, workspaceId, [...earliest.values()]);
}
