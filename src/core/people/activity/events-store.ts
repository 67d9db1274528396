import { jsonList } from "../../base/values/plain-json.ts";
import { bucketOfId, bucketsOfIds, OF_PROFILES, ofProfiles } from "../../database/buckets.ts";
import { type Queryable, settleAll, type Transaction } from "../../database/database.ts";
import { texts, timestamps, uuids } from "../../database/parameters/typed-list.ts";
import type { EventDetails, Occurrence } from "../profiles/written.ts";
import type { EventSummary, Of, RecentEvents, Window } from "./activity.ts";
import { setterOf } from "./set-rows-store.ts";

export async function insertEvents(
  tx: Transaction,
  workspaceId: number,
  events: readonly Occurrence<EventDetails>[],
): Promise<void> {
  if (events.length === 0) return;
  // Encoded once for both statements.
  const ids = events.map((event) => event.profileId);
  const profileIds = uuids(ids);
  const buckets = bucketsOfIds(ids);
  const names = texts(events.map((event) => event.work.name));
  const times = timestamps(events.map((event) => event.work.time.getTime() * 1_000));
  await settleAll([
    tx.execute(
      `insert into events
         (workspace_id, bucket, profile_id, event_id, name, occurred_at, app_id, properties)
       select $1, bucket, profile_id, id, name, time, app_id, nullif(properties, 'null')
       from buckets join rows from (unnest($2::uuid[]), unnest($3::uuid[]), unnest($4::text[]),
           unnest($5::timestamptz[]), unnest($6::text[]), jsonb_array_elements($7::text::jsonb),
           unnest($8::smallint[]))
         as new (profile_id, id, name, time, app_id, properties, bucket) using (bucket)
       where bucket = any($9::smallint[])`,
      [
        workspaceId,
        profileIds,
        uuids(events.map((event) => event.id)),
        names,
        times,
        texts(events.map((event) => event.work.appId)),
        jsonList(events.map((event) => event.work.properties)),
        buckets.each,
        buckets.all,
      ],
    ),
    tx.execute(
      `insert into event_summaries (workspace_id, bucket, profile_id, name, count, first_at, last_at)
       select $1, bucket, profile_id, name, count(*), min(time), max(time)
       from buckets join unnest($2::uuid[], $3::text[], $4::timestamptz[], $5::smallint[])
         as new (profile_id, name, time, bucket) using (bucket)
       where bucket = any($6::smallint[])
       group by bucket, profile_id, name
       on conflict (workspace_id, profile_id, bucket, name) do update set
         count = event_summaries.count + excluded.count,
         first_at = least(event_summaries.first_at, excluded.first_at),
         last_at = greatest(event_summaries.last_at, excluded.last_at)`,
      [workspaceId, profileIds, names, times, buckets.each, buckets.all],
    ),
  ]);
}

export const selectEventSummaries = (
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
) =>
  database.query<Of<EventSummary>>(
    `select profile_id as "profileId", name, count, first_at as "firstAt", last_at as "lastAt"
     from event_summaries where ${OF_PROFILES} order by name`,
    ofProfiles(workspaceId, profileIds),
  );

/** The summary of one event of a profile; undefined if there is none. */
export async function selectEventSummary(
  database: Queryable,
  workspaceId: number,
  profileId: string,
  name: string,
) {
  const [row] = await database.query<EventSummary>(
    `select name, count, first_at as "firstAt", last_at as "lastAt" from event_summaries
     where workspace_id = $1 and profile_id = $2 and bucket = $4 and name = $3`,
    [workspaceId, profileId, name, bucketOfId(profileId)],
  );
  return row;
}

/** How many events of each name fall into each window; without any there is no row. */
export const selectRecentEvents = (
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
  windows: readonly Window[],
) =>
  database.query<Of<RecentEvents>>(
    `select profile_id as "profileId", name, days, count(*) as count
     from events join unnest($3::int[], $4::timestamptz[]) as recent (days, since)
       on occurred_at >= since
     where workspace_id = $1 and profile_id = any($2::uuid[]) and bucket = any($5::smallint[])
     group by profile_id, name, days order by name, days`,
    [
      workspaceId,
      profileIds,
      windows.map((window) => window.days),
      windows.map((window) => window.since),
      bucketsOfIds(profileIds).all,
    ],
  );

/** Sets the summaries of events. At most one row for each profile and name. */
export const upsertEventSummaries = setterOf<EventSummary>(
  "event_summaries",
  [["name", "text", "name"]],
  [
    ["count", "bigint", "count"],
    ["first_at", "timestamptz", "firstAt"],
    ["last_at", "timestamptz", "lastAt"],
  ],
);
