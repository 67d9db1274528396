import { OF_PROFILES, ofProfiles } from "../../database/buckets.ts";
import { settleAll, type Transaction } from "../../database/database.ts";

/**
 * The profiles that another transaction has locked. The others are locked until this one ends.
 *
 * @param ids some may be of no profile.
 */
export async function selectLockedProfiles(
  tx: Transaction,
  workspaceId: number,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const select = `select profile_id as id from profiles where ${OF_PROFILES}`;
  const parameters = ofProfiles(workspaceId, ids);
  const [all, free] = await settleAll([
    tx.query<{ id: string }>(select, parameters),
    tx.query<{ id: string }>(`${select} for no key update skip locked`, parameters),
  ]);
  const isFree = new Set(free.map(({ id }) => id));
  return all.map(({ id }) => id).filter((id) => !isFree.has(id));
}
