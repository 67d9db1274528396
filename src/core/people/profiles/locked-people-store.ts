import { groupBy } from "../../base/values/group-by.ts";
import { bucketOfId, OF_PROFILES, ofProfiles } from "../../database/buckets.ts";
import { settleAll, type Transaction } from "../../database/database.ts";

/**
 * The profiles that another transaction has locked. The others are locked until this one ends.
 *
 * @param ids some may be of no profile.
 * @param isCluster whether a statement may lock rows of one bucket only.
 */
export async function selectLockedProfiles(
  tx: Transaction,
  workspaceId: number,
  ids: readonly string[],
  isCluster: boolean,
): Promise<string[]> {
  if (ids.length === 0) return [];
  const select = `select profile_id as id from profiles where ${OF_PROFILES}`;
  const lock = (some: readonly string[]) =>
    tx.query<{ id: string }>(
      `${select} for no key update skip locked`,
      ofProfiles(workspaceId, some),
    );
  const together = isCluster ? [...groupBy(ids, bucketOfId).values()] : [ids];
  const [all, ...free] = await settleAll([
    tx.query<{ id: string }>(select, ofProfiles(workspaceId, ids)),
    ...together.map(lock),
  ]);
  const isFree = new Set(free.flat().map(({ id }) => id));
  return all.map(({ id }) => id).filter((id) => !isFree.has(id));
}
