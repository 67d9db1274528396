import { bucketsOfIds, OF_PROFILES, ofProfiles } from "../../database/buckets.ts";
import type { Queryable, Transaction } from "../../database/database.ts";
import { listsOf } from "../../database/parameters/lists-of.ts";

/* The profiles that now have the ids of merged ones. */

/** A merged profile, and the one that now has its data. */
export interface MergedProfile {
  readonly profileId: string;
  readonly keptProfileId: string;
  /**
   * An external_id that also identifies the kept profile: merged (redirect_merged_ids) or renamed.
   */
  readonly externalId: string | null;
  /** Whether it only redirects a renamed external_id; then `profileId` belongs to no profile. */
  readonly isRename: boolean;
  /** Values of aliases whose user's data was left behind (`merge_behavior: none`). */
  readonly leftAliases: readonly string[] | null;
}

const COLUMNS = `profile_id as "profileId", kept_profile_id as "keptProfileId",
  external_id as "externalId", is_rename as "isRename", left_aliases as "leftAliases"`;

/** The merged profiles among these ids. Each target is an existing profile. */
export async function selectMerged(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
) {
  if (profileIds.length === 0) return [];
  return database.query<MergedProfile>(
    `select ${COLUMNS} from merged_profiles
     where ${OF_PROFILES}`,
    ofProfiles(workspaceId, profileIds),
  );
}

/** The merged profiles whose ids identify these, in the order of their ids. */
export async function selectMergedInto(
  database: Queryable,
  workspaceId: number,
  keptProfileIds: readonly string[],
) {
  if (keptProfileIds.length === 0) return [];
  return database.query<MergedProfile>(
    `select ${COLUMNS} from merged_profiles
     where workspace_id = $1 and kept_profile_id = any($2::uuid[]) order by profile_id`,
    [workspaceId, keptProfileIds],
  );
}

/** Makes ids identify profiles, replacing earlier entries. */
export async function upsertMerged(
  tx: Transaction,
  workspaceId: number,
  merged: readonly MergedProfile[],
  now: Date,
): Promise<void> {
  if (merged.length === 0) return;
  const buckets = bucketsOfIds(merged.map((each) => each.profileId));
  await tx.query(
    `insert into merged_profiles
       (workspace_id, bucket, profile_id, kept_profile_id, external_id, is_rename, left_aliases,
        merged_at)
     select $1, bucket, profile_id, kept_profile_id, external_id, is_rename, left_aliases::jsonb, $6
     from buckets join unnest($2::uuid[], $3::uuid[], $4::text[], $5::bool[], $7::smallint[], $9::text[])
       as new (profile_id, kept_profile_id, external_id, is_rename, bucket, left_aliases) using (bucket)
     where bucket = any($8::smallint[])
     on conflict (workspace_id, profile_id, bucket)
       do update set kept_profile_id = excluded.kept_profile_id,
         external_id = excluded.external_id`,
    [
      workspaceId,
      ...listsOf(merged, "profileId", "keptProfileId", "externalId", "isRename"),
      now,
      buckets.each,
      buckets.all,
      merged.map(({ leftAliases }) => leftAliases && JSON.stringify(leftAliases)),
    ],
  );
}

/** Makes ids identify no one. */
export async function deleteMerged(
  tx: Transaction,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<void> {
  if (profileIds.length === 0) return;
  await tx.query(
    `delete from merged_profiles where ${OF_PROFILES}`,
    ofProfiles(workspaceId, profileIds),
  );
}

export const deleteAllMerged = (tx: Transaction, workspaceId: number) =>
  tx.execute("delete from merged_profiles where workspace_id = $1", [workspaceId]);
