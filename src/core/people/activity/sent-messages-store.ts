import { OF_PROFILES, ofProfiles } from "../../database/buckets.ts";
import type { Queryable } from "../../database/database.ts";
import type { Of, SentMessage } from "./activity.ts";
import { setterOf } from "./set-rows-store.ts";

export const selectSentMessages = (
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
) =>
  database.query<Of<SentMessage>>(
    `select profile_id as "profileId", message_id as "messageId", channel, sent_at as "sentAt",
       details
     from message_history where ${OF_PROFILES}
     order by sent_at desc, message_id`,
    ofProfiles(workspaceId, profileIds),
  );

/** How many messages each profile has; profiles without any are left out. */
export const countSentMessages = (
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
) =>
  database.query<Of<{ readonly messages: number }>>(
    `select profile_id as "profileId", count(*) as messages
     from message_history where ${OF_PROFILES}
     group by profile_id`,
    ofProfiles(workspaceId, profileIds),
  );

/** Sets entries of the message history. At most one row for each profile and message. */
export const upsertSentMessages = setterOf<SentMessage>(
  "message_history",
  [["message_id", "text", "messageId"]],
  [
    ["channel", "text", "channel"],
    ["sent_at", "timestamptz", "sentAt"],
    ["details", "jsonb", "details"],
  ],
);
