import { OF_PROFILES, ofProfiles } from "../../core/database/buckets.ts";
import type { Queryable } from "../../core/database/database.ts";
import type { ActivityPart } from "../../core/people/activity/size-store.ts";

export type SmallPart = Exclude<ActivityPart, "message_history">;

/** A row of any of these tables. What a table does not have is null. */
export interface SmallRow {
  readonly part: SmallPart;
  readonly profileId: string;
  /** An event, a product, an app, a device or an interaction. */
  readonly name: string;
  /** A currency, a version or a kind. */
  readonly label: string | null;
  readonly count: number | null;
  readonly revenue: string | null;
  readonly firstAt: Date | null;
  readonly lastAt: Date | null;
  /** JSON, cut off after a number of characters. */
  readonly details: string | null;
}

/**
 * The first rows of several tables in one statement, in the order of their names. Planning a statement costs more than
 * reading a few rows, and most profiles have no rows in most of these tables.
 *
 * @param limit the most rows to read, of all tables together.
 * @param characters the most of the details of one row.
 */
export function selectSmallActivity(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
  parts: readonly SmallPart[],
  { limit, characters }: { readonly limit: number; readonly characters: number },
) {
  const hasDetails = parts.some((part) => ROWS_OF[part].includes("$5"));
  return database.query<SmallRow>(
    // Each part has the bucket, so that Citus reads on its nodes.
    `select part, profile_id as "profileId", name, label, count, revenue, first_at as "firstAt",
       last_at as "lastAt", details
     from (${parts.map((part) => `${ROWS_OF[part]} where ${OF_PROFILES}`).join(" union all ")}) as rows
     order by name, label limit $4`,
    [...ofProfiles(workspaceId, profileIds), limit, ...(hasDetails ? [characters] : [])],
  );
}

const ROWS_OF: Readonly<Record<SmallPart, string>> = {
  custom_events: `select 'custom_events' as part, bucket, profile_id, name, null::text as label, count,
    null::numeric as revenue, first_at, last_at, null::text as details from event_summaries`,
  purchases: `select 'purchases' as part, bucket, profile_id, product_id as name, currency as label, count,
    revenue, first_at, last_at, null::text as details from purchase_summaries`,
  apps: `select 'apps' as part, bucket, profile_id, app_id as name, version as label, sessions as count,
    null::numeric as revenue, first_used_at as first_at, last_used_at as last_at, null::text as details
    from app_usages`,
  devices: `select 'devices' as part, bucket, profile_id, device_id as name, null::text as label,
    null::bigint as count, null::numeric as revenue, null::timestamptz as first_at,
    null::timestamptz as last_at, left(details::text, $5::int) as details from devices`,
  interactions: `select 'interactions' as part, bucket, profile_id, interaction_id as name, kind as label,
    null::bigint as count, null::numeric as revenue, null::timestamptz as first_at,
    null::timestamptz as last_at, left(details::text, $5::int) as details from interactions`,
};
