import { bucketOfId } from "../../core/database/buckets.ts";
import type { Queryable } from "../../core/database/database.ts";
import type { SentMessage, TimelineRange } from "../../core/people/activity/activity.ts";
import type { EventDetails, PurchaseDetails } from "../../core/people/profiles/written.ts";

/* The activity of one person, newest first, in pages. Each statement reads a range of a primary key. */

export type TimedEvent = EventDetails & { readonly id: string };

export const selectEventsBefore = (
  database: Queryable,
  workspaceId: number,
  profileId: string,
  range: TimelineRange,
) =>
  database.query<TimedEvent>(
    `select event_id as id, name, occurred_at as time, app_id as "appId", properties from events
     where workspace_id = $1 and profile_id = $2 and bucket = $3 and ${within("occurred_at", "event_id", range)}
     order by occurred_at desc, event_id desc limit $4`,
    [workspaceId, profileId, bucketOfId(profileId), ...valuesOf(range)],
  );

export type TimedPurchase = Omit<PurchaseDetails, "price"> & {
  readonly id: string;
  readonly price: string;
};

export const selectPurchasesBefore = (
  database: Queryable,
  workspaceId: number,
  profileId: string,
  range: TimelineRange,
) =>
  database.query<TimedPurchase>(
    `select purchase_id as id, product_id as "productId", currency, price, quantity,
       occurred_at as time, app_id as "appId", properties
     from purchases
     where workspace_id = $1 and profile_id = $2 and bucket = $3 and ${within("occurred_at", "purchase_id", range)}
     order by occurred_at desc, purchase_id desc limit $4`,
    [workspaceId, profileId, bucketOfId(profileId), ...valuesOf(range)],
  );

/** Reads the whole message history of the person, which only imports write. */
export async function selectMessagesBefore(
  database: Queryable,
  workspaceId: number,
  profileId: string,
  range: TimelineRange,
) {
  const id = 'message_id collate "C"';
  return database.query<SentMessage>(
    `select message_id as "messageId", channel, sent_at as "sentAt", details from message_history
     where workspace_id = $1 and profile_id = $2 and bucket = $3 and ${within("sent_at", id, range, "text")}
     order by sent_at desc, ${id} desc limit $4`,
    [workspaceId, profileId, bucketOfId(profileId), ...valuesOf(range)],
  );
}

/** The conditions of a range. Their values follow four others, in the order of `valuesOf`. */
const within = (
  time: string,
  id: string,
  { before, since, event }: TimelineRange,
  type: "uuid" | "text" = "uuid",
): string =>
  [
    "true",
    ...(before ? [`(${time}, ${id}) < ($5::timestamptz, $6::${type})`] : []),
    ...(since ? [`${time} >= $${before ? 7 : 5}::timestamptz`] : []),
    ...(event === undefined ? [] : [`name = $${5 + (before ? 2 : 0) + (since ? 1 : 0)}`]),
  ].join(" and ");

const valuesOf = ({ before, since, event, limit }: TimelineRange): unknown[] => [
  limit,
  ...(before ? [before.at, before.id] : []),
  ...(since ? [since] : []),
  ...(event === undefined ? [] : [event]),
];
