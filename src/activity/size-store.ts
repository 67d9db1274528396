import { bucketsOfIds } from "../database/buckets.ts";
import type { Queryable } from "../database/database.ts";

/** The part of an activity that export shows under one name. */
export type ActivityPart =
  | "custom_events"
  | "purchases"
  | "apps"
  | "devices"
  | "interactions"
  | "message_history";

/**
 * About how many bytes the activity of profiles takes as JSON, by part: what is about to be read can
 * be refused before it fills the memory. A row counts its texts and a constant for everything else.
 */
export async function measureActivity(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<ReadonlyMap<ActivityPart, number>> {
  if (profileIds.length === 0) return new Map();
  const rows = await database.query<{ part: ActivityPart; bytes: number }>(
    `select 'custom_events' as part, coalesce(sum(octet_length(name) + 120), 0)::bigint as bytes
     from event_summaries where ${THEIRS}
     union all
     select 'purchases', coalesce(sum(octet_length(product_id) + 160), 0)::bigint
     from purchase_summaries where ${THEIRS}
     union all
     select 'apps', coalesce(count(*) * 300, 0)::bigint
     from app_usages where ${THEIRS}
     union all
     select 'devices',
       coalesce(sum(octet_length(details::text) + octet_length(device_id) + 50), 0)::bigint
     from devices where ${THEIRS}
     union all
     select 'interactions',
       coalesce(sum(octet_length(details::text) + octet_length(interaction_id) + 50), 0)::bigint
     from interactions where ${THEIRS}
     union all
     select 'message_history', coalesce(sum(octet_length(details::text) + octet_length(message_id)
       + octet_length(channel) + 100), 0)::bigint
     from message_history where ${THEIRS}`,
    [workspaceId, profileIds, bucketsOfIds(profileIds).all],
  );
  return new Map(rows.map(({ part, bytes }) => [part, bytes]));
}

const THEIRS =
  "workspace_id = $1 and profile_id = any($2::uuid[]) and bucket = any($3::smallint[])";
