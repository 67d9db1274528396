import { OF_PROFILES, ofProfiles } from "../../database/buckets.ts";
import type { Queryable } from "../../database/database.ts";

/** A part of the activity, as export names it. */
export type ActivityPart =
  | "custom_events"
  | "purchases"
  | "apps"
  | "devices"
  | "interactions"
  | "message_history";

/**
 * About how many bytes the activity of profiles takes as JSON, by part, so that a read can be refused
 * before it fills the memory. A row counts its texts and a constant for everything else.
 */
export async function measureActivity(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<ReadonlyMap<ActivityPart, number>> {
  if (profileIds.length === 0) return new Map();
  const rows = await database.query<{ part: ActivityPart; bytes: number }>(
    `select part, sum(bytes)::bigint as bytes from (${PARTS}) as rows group by part`,
    ofProfiles(workspaceId, profileIds),
  );
  return new Map(rows.map(({ part, bytes }) => [part, bytes]));
}

/** The bytes of each profile, all parts together; a profile without activity has no row. */
export const measureActivityOfEach = (
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<{ id: string; bytes: number }[]> =>
  database.query(`select id, sum(bytes)::bigint as bytes from (${PARTS}) as rows group by id`, [
    ...ofProfiles(workspaceId, profileIds),
  ]);

/** Each part has the bucket, so that Citus adds up on its nodes. */
const PARTS = `
  select 'custom_events' as part, bucket, profile_id as id, octet_length(name) + 120 as bytes
  from event_summaries where ${OF_PROFILES}
  union all
  select 'purchases', bucket, profile_id, octet_length(product_id) + 160
  from purchase_summaries where ${OF_PROFILES}
  union all
  select 'apps', bucket, profile_id, 300 from app_usages where ${OF_PROFILES}
  union all
  select 'devices', bucket, profile_id, octet_length(details::text) + octet_length(device_id) + 50
  from devices where ${OF_PROFILES}
  union all
  select 'interactions', bucket, profile_id, octet_length(details::text) + octet_length(interaction_id) + 50
  from interactions where ${OF_PROFILES}
  union all
  select 'message_history', bucket, profile_id, octet_length(details::text) + octet_length(message_id)
    + octet_length(channel) + 100
  from message_history where ${OF_PROFILES}`;
