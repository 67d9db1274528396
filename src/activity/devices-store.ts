import type { Queryable, Transaction } from "../database/database.ts";
import type { Device, Of } from "./activity.ts";

export async function selectDevices(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<Of<Device>[]> {
  return database.query<Of<Device>>(
    `select profile_id as "profileId", device_id as "deviceId", details
     from devices where workspace_id = $1 and profile_id = any($2::uuid[]) order by device_id`,
    [workspaceId, profileIds],
  );
}

/** Sets devices. At most one row for each profile and device. */
export async function upsertDevices(
  tx: Transaction,
  workspaceId: number,
  devices: readonly Of<Device>[],
): Promise<void> {
  if (devices.length === 0) return;
  await tx.query(
    `insert into devices (workspace_id, profile_id, device_id, details)
     select $1, profile_id, device_id, details::jsonb
     from unnest($2::uuid[], $3::text[], $4::text[]) as new (profile_id, device_id, details)
     on conflict (workspace_id, profile_id, device_id) do update set details = excluded.details`,
    [
      workspaceId,
      devices.map((device) => device.profileId),
      devices.map((device) => device.deviceId),
      devices.map((device) => JSON.stringify(device.details)),
    ],
  );
}
