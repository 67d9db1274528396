import { bucketsOfIds } from "../../database/buckets.ts";
import type { Queryable, Transaction } from "../../database/database.ts";
import { listsOf } from "../../database/parameters/lists-of.ts";
import type { Of, SentMessage } from "./activity.ts";

/** The message history of profiles, newest first. */
export async function selectSentMessages(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<Of<SentMessage>[]> {
  return database.query<Of<SentMessage>>(
    `select profile_id as "profileId", message_id as "messageId", channel, sent_at as "sentAt",
       details
     from message_history where workspace_id = $1 and profile_id = any($2::uuid[]) and bucket = any($3::smallint[])
     order by sent_at desc, message_id`,
    [workspaceId, profileIds, bucketsOfIds(profileIds).all],
  );
}

/** How many messages each profile has; profiles without any are left out. */
export async function countSentMessages(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<Of<{ readonly messages: number }>[]> {
  return database.query<Of<{ readonly messages: number }>>(
    `select profile_id as "profileId", count(*) as messages
     from message_history where workspace_id = $1 and profile_id = any($2::uuid[]) and bucket = any($3::smallint[])
     group by profile_id`,
    [workspaceId, profileIds, bucketsOfIds(profileIds).all],
  );
}

/** Sets entries of the message history. At most one row for each profile and message. */
export async function upsertSentMessages(
  tx: Transaction,
  workspaceId: number,
  messages: readonly Of<SentMessage>[],
): Promise<void> {
  if (messages.length === 0) return;
  const profileIds = messages.map((message) => message.profileId);
  const buckets = bucketsOfIds(profileIds);
  await tx.query(
    `insert into message_history
       (workspace_id, bucket, profile_id, message_id, channel, sent_at, details)
     select $1, bucket, profile_id, message_id, channel, sent_at, details::jsonb
     from buckets join unnest($2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::text[],
       $7::smallint[])
       as new (profile_id, message_id, channel, sent_at, details, bucket) using (bucket)
     where bucket = any($8::smallint[])
     on conflict (workspace_id, profile_id, bucket, message_id) do update set
       channel = excluded.channel, sent_at = excluded.sent_at, details = excluded.details`,
    [
      workspaceId,
      profileIds,
      ...listsOf(messages, "messageId", "channel", "sentAt"),
      messages.map((message) => JSON.stringify(message.details)),
      buckets.each,
      buckets.all,
    ],
  );
}
