import { bucketOfUser, profileIdOf, SEEDED_WORKSPACE } from "../engines/seed.ts";
import { externalIdOf } from "../workloads/users.ts";
import type { FloorWork } from "./floor-work.ts";
import { newIds } from "./new-ids.ts";

/*
 * The writes of a merge: the kept profile with its new values, the history of both, and a record of
 * the merge; the merged profile and its identifier are deleted. It is rolled back at the end, so
 * that the same users can be merged again: the floor is lower than it would be by a commit.
 */

const PAIRS = "unnest($1::uuid[], $2::uuid[]) as pair (merged, kept)";

const PAIRS_WITH_BUCKETS = `
  unnest($1::uuid[], $2::uuid[], $3::smallint[]) as pair (merged, kept, kept_bucket)`;

const WRITE_PROFILES = `
  update profiles as kept set
    version = kept.version + 1, updated_at = greatest(kept.updated_at, merged.updated_at),
    standard_attributes = merged.standard_attributes || kept.standard_attributes,
    custom_attributes = merged.custom_attributes || kept.custom_attributes
  from ${PAIRS} join profiles as merged
    on merged.workspace_id = ${SEEDED_WORKSPACE} and merged.profile_id = pair.merged
  where kept.workspace_id = ${SEEDED_WORKSPACE} and kept.profile_id = pair.kept`;

const WRITE_EVENTS = `
  with moved as (
    delete from events using ${PAIRS_WITH_BUCKETS}
    where workspace_id = ${SEEDED_WORKSPACE} and profile_id = pair.merged
    returning pair.kept_bucket, pair.kept, event_id, name, occurred_at, app_id, properties
  )
  insert into events
    (workspace_id, bucket, profile_id, event_id, name, occurred_at, app_id, properties)
  select ${SEEDED_WORKSPACE}, moved.* from moved`;

const WRITE_SUMMARIES = `
  with moved as (
    delete from event_summaries using ${PAIRS_WITH_BUCKETS}
    where workspace_id = ${SEEDED_WORKSPACE} and profile_id = pair.merged
    returning pair.kept_bucket, pair.kept, name, count, first_at, last_at
  )
  insert into event_summaries (workspace_id, bucket, profile_id, name, count, first_at, last_at)
  select ${SEEDED_WORKSPACE}, moved.* from moved
  on conflict (workspace_id, profile_id, bucket, name) do update set
    count = event_summaries.count + excluded.count,
    first_at = least(event_summaries.first_at, excluded.first_at),
    last_at = greatest(event_summaries.last_at, excluded.last_at)`;

const NOTE_MERGED = `
  insert into merged_profiles
    (workspace_id, bucket, profile_id, kept_profile_id, external_id, is_rename, merged_at)
  select ${SEEDED_WORKSPACE}, bucket, merged, kept, external_id, false, at
  from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::smallint[])
    as pair (merged, kept, external_id, at, bucket)`;

const NOTE_ACTION = `
  insert into identity_audit (workspace_id, bucket, audit_id, at, action, call, key_name, request_id,
    profile_id, merged_profile_id, effects)
  select ${SEEDED_WORKSPACE}, bucket, id, at, 'merge', 'POST /users/merge', 'bench', 'a request', kept, merged,
    '{"external_id": "removed", "events": 2}'
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::smallint[])
    as pair (merged, kept, id, at, bucket)`;

const statements = {
  begin: "begin",
  profiles: WRITE_PROFILES,
  events: WRITE_EVENTS,
  summaries: WRITE_SUMMARIES,
  gone: `delete from profiles
    where workspace_id = ${SEEDED_WORKSPACE} and profile_id = any($1::uuid[])`,
  identifiers: `delete from identifiers
    where workspace_id = ${SEEDED_WORKSPACE} and value = any($1::text[])`,
  merged: NOTE_MERGED,
  audit: NOTE_ACTION,
  rollback: "rollback",
};

export const mergesFloor: FloorWork = {
  postgres: { connections: 3, unitsPerBatch: 200, statements },
  embedded: { connections: 1, unitsPerBatch: 200, statements },
  write(messages, units, _random, pick) {
    const users = new Set<number>();
    while (users.size < units * 2) users.add(pick());
    const chosen = [...users];
    const merged = chosen.slice(0, units);
    const now = BigInt(Date.now()) * 1_000n;
    const ids = { of: "uuid", values: merged.map(profileIdOf) } as const;
    const kept = { of: "uuid", values: chosen.slice(units).map(profileIdOf) } as const;
    const keptBuckets = {
      of: "smallint",
      values: chosen.slice(units).map(bucketOfUser),
    } as const;
    const names = { of: "text", values: merged.map(externalIdOf) } as const;
    const times = { of: "timestamptz", values: merged.map(() => now) } as const;
    messages.execute("begin", []);
    messages.execute("profiles", [ids, kept]);
    messages.execute("events", [ids, kept, keptBuckets]);
    messages.execute("summaries", [ids, kept, keptBuckets]);
    messages.execute("gone", [ids]);
    messages.execute("identifiers", [names]);
    const buckets = { of: "smallint", values: merged.map(bucketOfUser) } as const;
    messages.execute("merged", [ids, kept, names, times, buckets]);
    const auditIds = { of: "uuid", values: newIds(units) } as const;
    messages.execute("audit", [ids, kept, auditIds, times, keptBuckets]);
    messages.execute("rollback", []);
  },
};
