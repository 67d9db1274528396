import type { Queryable, Transaction } from "../database/database.ts";
import type { Interaction, Of } from "./activity.ts";

export async function selectInteractions(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<Of<Interaction>[]> {
  return database.query<Of<Interaction>>(
    `select profile_id as "profileId", kind, interaction_id as id, details
     from interactions where workspace_id = $1 and profile_id = any($2::uuid[])
     order by kind, interaction_id`,
    [workspaceId, profileIds],
  );
}

/** Sets interactions. At most one row for each profile, kind and id. */
export async function upsertInteractions(
  tx: Transaction,
  workspaceId: number,
  interactions: readonly Of<Interaction>[],
): Promise<void> {
  if (interactions.length === 0) return;
  await tx.query(
    `insert into interactions (workspace_id, profile_id, kind, interaction_id, details)
     select $1, profile_id, kind, id, details::jsonb
     from unnest($2::uuid[], $3::text[], $4::text[], $5::text[])
       as new (profile_id, kind, id, details)
     on conflict (workspace_id, profile_id, kind, interaction_id)
       do update set details = excluded.details`,
    [
      workspaceId,
      interactions.map((each) => each.profileId),
      interactions.map((each) => each.kind),
      interactions.map((each) => each.id),
      interactions.map((each) => JSON.stringify(each.details)),
    ],
  );
}
