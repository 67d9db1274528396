import { OF_PROFILES, ofProfiles } from "../../core/database/buckets.ts";
import type { Queryable } from "../../core/database/database.ts";

/** When users sent their last event or purchase, or last used an app. */
export async function selectLastSeen(
  database: Queryable,
  workspaceId: number,
  ids: readonly string[],
): Promise<{ readonly profileId: string; readonly lastAt: Date }[]> {
  if (ids.length === 0) return [];
  return database.query(
    `select profile_id as "profileId", max(last_at) as "lastAt" from (
       select profile_id, last_at from event_summaries where ${OF_PROFILES}
       union all select profile_id, last_at from purchase_summaries where ${OF_PROFILES}
       union all select profile_id, last_used_at from app_usages where ${OF_PROFILES}) as activity
     group by profile_id`,
    ofProfiles(workspaceId, ids),
  );
}

/** What users spent in each currency, the most first. */
export async function selectSpent(
  database: Queryable,
  workspaceId: number,
  ids: readonly string[],
): Promise<{ readonly profileId: string; readonly currency: string; readonly revenue: string }[]> {
  if (ids.length === 0) return [];
  return database.query(
    `select profile_id as "profileId", currency, sum(revenue)::text as revenue
     from purchase_summaries where ${OF_PROFILES}
     group by profile_id, currency order by sum(revenue) desc`,
    ofProfiles(workspaceId, ids),
  );
}
