import { bucketsOfIds } from "../database/buckets.ts";
import type { Queryable, Transaction } from "../database/database.ts";
import type { Interaction, Of } from "./activity.ts";

export async function selectInteractions(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<Of<Interaction>[]> {
  return database.query<Of<Interaction>>(
    `select profile_id as "profileId", kind, interaction_id as id, details
     from interactions where workspace_id = $1 and profile_id = any($2::uuid[]) and bucket = any($3::smallint[])
     order by kind, interaction_id`,
    [workspaceId, profileIds, bucketsOfIds(profileIds).all],
  );
}

/** Sets interactions. At most one row for each profile, kind and id. */
export async function upsertInteractions(
  tx: Transaction,
  workspaceId: number,
  interactions: readonly Of<Interaction>[],
): Promise<void> {
  if (interactions.length === 0) return;
  const profileIds = interactions.map((each) => each.profileId);
  const buckets = bucketsOfIds(profileIds);
  await tx.query(
    `insert into interactions (workspace_id, bucket, profile_id, kind, interaction_id, details)
     select $1, bucket, profile_id, kind, id, details::jsonb
     from buckets join unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::smallint[])
       as new (profile_id, kind, id, details, bucket) using (bucket)
     where bucket = any($7::smallint[])
     on conflict (workspace_id, profile_id, bucket, kind, interaction_id)
       do update set details = excluded.details`,
    [
      workspaceId,
      profileIds,
      interactions.map((each) => each.kind),
      interactions.map((each) => each.id),
      interactions.map((each) => JSON.stringify(each.details)),
      buckets.each,
      buckets.all,
    ],
  );
}
