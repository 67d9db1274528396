import { bucketsOfIds } from "../database/buckets.ts";
import type { Queryable, Transaction } from "../database/database.ts";
import type { Device, Of } from "./activity.ts";

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
