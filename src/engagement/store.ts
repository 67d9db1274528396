import { allDone, type Queryable, type Transaction } from "../database/database.ts";
import type { AppUsage, Device, Interaction } from "../profiles/combine/whole.ts";
import type { JsonObject } from "../profiles/plain-json.ts";

/*
 * What people did in apps and with messages. Whoever writes here has locked the profile before
 * (docs/decisions/read-compute-write.md).
 */

/** Something that belongs to a profile. */
export type Of<Thing> = Thing & { readonly profileId: string };

export interface Message {
  readonly messageId: string;
  readonly channel: string;
  readonly sentAt: Date;
  readonly details: JsonObject;
}

export async function selectAppUsages(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<Of<AppUsage>[]> {
  return database.query<Of<AppUsage>>(
    `select profile_id as "profileId", app_id as "appId", version, sessions,
       first_used_at as "firstUsedAt", last_used_at as "lastUsedAt"
     from app_usages where workspace_id = $1 and profile_id = any($2::uuid[]) order by app_id`,
    [workspaceId, profileIds],
  );
}

/** Sets the summaries of apps. At most one row for each profile and app. */
export async function upsertAppUsages(
  tx: Transaction,
  workspaceId: number,
  usages: readonly Of<AppUsage>[],
): Promise<void> {
  if (usages.length === 0) return;
  await tx.query(
    `insert into app_usages
       (workspace_id, profile_id, app_id, version, sessions, first_used_at, last_used_at)
     select $1, profile_id, app_id, version, sessions, first_used_at, last_used_at
     from unnest($2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::timestamptz[],
       $7::timestamptz[])
       as new (profile_id, app_id, version, sessions, first_used_at, last_used_at)
     on conflict (workspace_id, profile_id, app_id) do update set
       version = excluded.version, sessions = excluded.sessions,
       first_used_at = excluded.first_used_at, last_used_at = excluded.last_used_at`,
    [
      workspaceId,
      usages.map((usage) => usage.profileId),
      usages.map((usage) => usage.appId),
      usages.map((usage) => usage.version),
      usages.map((usage) => usage.sessions),
      usages.map((usage) => usage.firstUsedAt),
      usages.map((usage) => usage.lastUsedAt),
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

/** The messages of profiles, the newest first. */
export async function selectMessages(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<Of<Message>[]> {
  return database.query<Of<Message>>(
    `select profile_id as "profileId", message_id as "messageId", channel, sent_at as "sentAt",
       details
     from message_history where workspace_id = $1 and profile_id = any($2::uuid[])
     order by sent_at desc, message_id`,
    [workspaceId, profileIds],
  );
}

/** How many messages each profile has; those without any are left out. */
export async function countMessages(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<Of<{ readonly messages: number }>[]> {
  return database.query<Of<{ readonly messages: number }>>(
    `select profile_id as "profileId", count(*) as messages
     from message_history where workspace_id = $1 and profile_id = any($2::uuid[])
     group by profile_id`,
    [workspaceId, profileIds],
  );
}

/** Sets messages. At most one row for each profile and message. */
export async function upsertMessages(
  tx: Transaction,
  workspaceId: number,
  messages: readonly Of<Message>[],
): Promise<void> {
  if (messages.length === 0) return;
  await tx.query(
    `insert into message_history (workspace_id, profile_id, message_id, channel, sent_at, details)
     select $1, profile_id, message_id, channel, sent_at, details::jsonb
     from unnest($2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::text[])
       as new (profile_id, message_id, channel, sent_at, details)
     on conflict (workspace_id, profile_id, message_id) do update set
       channel = excluded.channel, sent_at = excluded.sent_at, details = excluded.details`,
    [
      workspaceId,
      messages.map((message) => message.profileId),
      messages.map((message) => message.messageId),
      messages.map((message) => message.channel),
      messages.map((message) => message.sentAt),
      messages.map((message) => JSON.stringify(message.details)),
    ],
  );
}

/**
 * Writes the messages of profiles down at others; those they came from are removed afterwards. A
 * message that both have stays as it is.
 */
export async function copyMessages(
  tx: Transaction,
  workspaceId: number,
  from: readonly string[],
  to: readonly string[],
): Promise<void> {
  await tx.query(
    `insert into message_history (workspace_id, profile_id, message_id, channel, sent_at, details)
     select $1, move.kept, m.message_id, m.channel, m.sent_at, m.details
     from message_history m join unnest($2::uuid[], $3::uuid[]) as move (merged, kept)
       on m.profile_id = move.merged
     where m.workspace_id = $1 and m.profile_id = any($2::uuid[])
     on conflict (workspace_id, profile_id, message_id) do nothing`,
    [workspaceId, from, to],
  );
}

const TABLES = ["app_usages", "devices", "interactions", "message_history"] as const;

/** Removes everything here of these profiles. */
export async function deleteEngagement(
  tx: Transaction,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<void> {
  await allDone(
    TABLES.map((table) =>
      tx.query(`delete from ${table} where workspace_id = $1 and profile_id = any($2::uuid[])`, [
        workspaceId,
        profileIds,
      ]),
    ),
  );
}

/** Removes everything here of a workspace. */
export async function deleteAllEngagement(tx: Transaction, workspaceId: number): Promise<void> {
  await allDone(
    TABLES.map((table) => tx.query(`delete from ${table} where workspace_id = $1`, [workspaceId])),
  );
}
