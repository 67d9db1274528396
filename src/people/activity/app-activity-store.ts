import { bucketsOfIds } from "../../database/buckets.ts";
import type { Queryable, Transaction } from "../../database/database.ts";
import { listsOf } from "../../database/parameters/lists-of.ts";
import type { AppUsage, Device, Interaction, Of } from "./activity.ts";

export async function selectAppUsages(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<Of<AppUsage>[]> {
  return database.query<Of<AppUsage>>(
    `select profile_id as "profileId", app_id as "appId", version, sessions,
       first_used_at as "firstUsedAt", last_used_at as "lastUsedAt"
     from app_usages where workspace_id = $1 and profile_id = any($2::uuid[]) and bucket = any($3::smallint[]) order by app_id`,
    [workspaceId, profileIds, bucketsOfIds(profileIds).all],
  );
}

/** Sets the summaries of apps. At most one row for each profile and app. */
export async function upsertAppUsages(
  tx: Transaction,
  workspaceId: number,
  usages: readonly Of<AppUsage>[],
): Promise<void> {
  if (usages.length === 0) return;
  const profileIds = usages.map((usage) => usage.profileId);
  const buckets = bucketsOfIds(profileIds);
  await tx.query(
    `insert into app_usages
       (workspace_id, bucket, profile_id, app_id, version, sessions, first_used_at, last_used_at)
     select $1, bucket, profile_id, app_id, version, sessions, first_used_at, last_used_at
     from buckets join unnest($2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::timestamptz[],
       $7::timestamptz[], $8::smallint[])
       as new (profile_id, app_id, version, sessions, first_used_at, last_used_at, bucket)
       using (bucket)
     where bucket = any($9::smallint[])
     on conflict (workspace_id, profile_id, bucket, app_id) do update set
       version = excluded.version, sessions = excluded.sessions,
       first_used_at = excluded.first_used_at, last_used_at = excluded.last_used_at`,
    [
      workspaceId,
      profileIds,
      ...listsOf(usages, "appId", "version", "sessions", "firstUsedAt", "lastUsedAt"),
      buckets.each,
      buckets.all,
    ],
  );
}

export async function selectDevices(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<Of<Device>[]> {
  return database.query<Of<Device>>(
    `select profile_id as "profileId", device_id as "deviceId", details
     from devices where workspace_id = $1 and profile_id = any($2::uuid[]) and bucket = any($3::smallint[]) order by device_id`,
    [workspaceId, profileIds, bucketsOfIds(profileIds).all],
  );
}

/** Sets devices. At most one row for each profile and device. */
export async function upsertDevices(
  tx: Transaction,
  workspaceId: number,
  devices: readonly Of<Device>[],
): Promise<void> {
  if (devices.length === 0) return;
  const profileIds = devices.map((device) => device.profileId);
  const buckets = bucketsOfIds(profileIds);
  await tx.query(
    `insert into devices (workspace_id, bucket, profile_id, device_id, details)
     select $1, bucket, profile_id, device_id, details::jsonb
     from buckets join unnest($2::uuid[], $3::text[], $4::text[], $5::smallint[])
       as new (profile_id, device_id, details, bucket) using (bucket)
     where bucket = any($6::smallint[])
     on conflict (workspace_id, profile_id, bucket, device_id) do update set details = excluded.details`,
    [
      workspaceId,
      profileIds,
      devices.map((device) => device.deviceId),
      devices.map((device) => JSON.stringify(device.details)),
      buckets.each,
      buckets.all,
    ],
  );
}

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
      ...listsOf(interactions, "kind", "id"),
      interactions.map((each) => JSON.stringify(each.details)),
      buckets.each,
      buckets.all,
    ],
  );
}
