import type { Transaction } from "../database/database.ts";
import { type CreationTime, updateCreationTimes } from "./store.ts";

export type { CreationTime } from "./store.ts";

/**
 * Lets users have been created earlier than they were here, as an import knows it. A later time changes nothing,
 * so importing twice does not either, and a user who was here before keeps the earlier time. The profiles
 * are locked by the transaction.
 *
 * @param times of one profile there may be several.
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
