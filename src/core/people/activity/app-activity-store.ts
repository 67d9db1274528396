import { OF_PROFILES, ofProfiles } from "../../database/buckets.ts";
import type { Queryable } from "../../database/database.ts";
import type { AppUsage, Device, Interaction, Of } from "./activity.ts";
import { setterOf } from "./set-rows-store.ts";

export const selectAppUsages = (
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
) =>
  database.query<Of<AppUsage>>(
    `select profile_id as "profileId", app_id as "appId", version, sessions,
       first_used_at as "firstUsedAt", last_used_at as "lastUsedAt"
     from app_usages where ${OF_PROFILES} order by app_id`,
    ofProfiles(workspaceId, profileIds),
  );

/** Sets the summaries of apps. At most one row for each profile and app. */
export const upsertAppUsages = setterOf<AppUsage>(
  "app_usages",
  [["app_id", "text", "appId"]],
  [
    ["version", "text", "version"],
    ["sessions", "bigint", "sessions"],
    ["first_used_at", "timestamptz", "firstUsedAt"],
    ["last_used_at", "timestamptz", "lastUsedAt"],
  ],
);

export const selectDevices = (
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
) =>
  database.query<Of<Device>>(
    `select profile_id as "profileId", device_id as "deviceId", details
     from devices where ${OF_PROFILES} order by device_id`,
    ofProfiles(workspaceId, profileIds),
  );

/** Sets devices. At most one row for each profile and device. */
export const upsertDevices = setterOf<Device>(
  "devices",
  [["device_id", "text", "deviceId"]],
  [["details", "jsonb", "details"]],
);

export const selectInteractions = (
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
) =>
  database.query<Of<Interaction>>(
    `select profile_id as "profileId", kind, interaction_id as id, details
     from interactions where ${OF_PROFILES}
     order by kind, interaction_id`,
    ofProfiles(workspaceId, profileIds),
  );

/** Sets interactions. At most one row for each profile, kind and id. */
export const upsertInteractions = setterOf<Interaction>(
  "interactions",
  [
    ["kind", "text", "kind"],
    ["interaction_id", "text", "id"],
  ],
  [["details", "jsonb", "details"]],
);
