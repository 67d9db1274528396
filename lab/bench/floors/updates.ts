import { bucketOfUser, profileIdOf, SEEDED_WORKSPACE } from "../engines/seed.ts";
import type { Random } from "../workloads/random.ts";
import { attributesOf, eventOf } from "../workloads/updates.ts";
import type { UserPicker } from "../workloads/users.ts";
import type { FloorWork } from "./floor-work.ts";
import type { ArrayParameter, Messages } from "./messages.ts";
import { newIds } from "./new-ids.ts";

/*
 * The writes of a track request, in plain SQL: attributes merged into the profile, the event
 * stored, its summary counted, and the profile's time of the last write set by both.
 *
 * The floor knows the profile ids and reads nothing. lab/NOTEBOOK.md has the attempts to make it as
 * fast as possible, and the result of each.
 */

const WRITE_PROFILES = `
  update profiles set
    version = profiles.version + 1,
    updated_at = greatest(profiles.updated_at, new.at),
    standard_attributes = case when new.standard is null then profiles.standard_attributes
      else profiles.standard_attributes || new.standard end,
    custom_attributes = case when new.custom is null then profiles.custom_attributes
      else profiles.custom_attributes || new.custom end
  from unnest($1::uuid[], $2::jsonb[], $3::jsonb[], $4::timestamptz[])
    as new (id, standard, custom, at)
  where profiles.workspace_id = ${SEEDED_WORKSPACE} and profiles.profile_id = new.id`;

const WRITE_EVENTS = `
  insert into events
    (workspace_id, bucket, profile_id, event_id, name, occurred_at, app_id, properties)
  select ${SEEDED_WORKSPACE}, bucket, profile_id, id, name, at, null, properties
  from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::jsonb[], $6::smallint[])
    as new (profile_id, id, name, at, properties, bucket)`;

const WRITE_SUMMARIES = `
  insert into event_summaries (workspace_id, bucket, profile_id, name, count, first_at, last_at)
  select ${SEEDED_WORKSPACE}, bucket, profile_id, name, count(*), min(at), max(at)
  from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::smallint[])
    as new (profile_id, name, at, bucket)
  group by bucket, profile_id, name
  on conflict (workspace_id, profile_id, bucket, name) do update set
    count = event_summaries.count + excluded.count,
    first_at = least(event_summaries.first_at, excluded.first_at),
    last_at = greatest(event_summaries.last_at, excluded.last_at)`;

const statements = {
  profiles: WRITE_PROFILES,
  events: WRITE_EVENTS,
  summaries: WRITE_SUMMARIES,
};

export const updatesFloor: FloorWork = {
  postgres: { connections: 3, unitsPerBatch: 2_000, statements },
  embedded: { connections: 1, unitsPerBatch: 6_000, statements },
  write: writeUpdates,
};

interface Patch {
  readonly standard: string | null;
  readonly custom: string | null;
}

const NOTHING: Patch = { standard: null, custom: null };

function writeUpdates(messages: Messages, units: number, random: Random, pick: UserPicker): void {
  const patches = new Map<number, Patch>();
  for (let count = 0; count < units / 2; count++) {
    const { standard, custom } = attributesOf(random);
    // The later of two patches has the same members, so it replaces both.
    patches.set(pick(), { standard: JSON.stringify(standard), custom: JSON.stringify(custom) });
  }
  const events = Array.from({ length: units / 2 }, () => ({ user: pick(), ...eventOf(random) }));
  for (const { user } of events) if (!patches.has(user)) patches.set(user, NOTHING);

  // In the order of the index: neighbours share pages.
  const profiles = [...patches].sort(([one], [other]) => one - other);
  events.sort((one, other) => one.user - other.user);

  const now = BigInt(Date.now()) * 1_000n;
  messages.execute("profiles", [
    { of: "uuid", values: profiles.map(([user]) => profileIdOf(user)) },
    { of: "jsonb", values: profiles.map(([, patch]) => patch.standard) },
    { of: "jsonb", values: profiles.map(([, patch]) => patch.custom) },
    { of: "timestamptz", values: profiles.map(() => now) },
  ]);
  const profileIds: ArrayParameter = {
    of: "uuid",
    values: events.map(({ user }) => profileIdOf(user)),
  };
  const names: ArrayParameter = { of: "text", values: events.map(({ name }) => name) };
  const times: ArrayParameter = {
    of: "timestamptz",
    values: events.map(({ at }) => BigInt(at) * 1_000n),
  };
  const buckets: ArrayParameter = {
    of: "smallint",
    values: events.map(({ user }) => bucketOfUser(user)),
  };
  messages.execute("events", [
    profileIds,
    { of: "uuid", values: newIds(events.length) },
    names,
    times,
    { of: "jsonb", values: events.map(({ properties }) => JSON.stringify(properties)) },
    buckets,
  ]);
  messages.execute("summaries", [profileIds, names, times, buckets]);
}
