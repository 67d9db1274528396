import { bucketOfUser, profileIdOf, SEEDED_WORKSPACE } from "../engines/seed.ts";
import { GROUPS, stateOf } from "../workloads/groups.ts";
import type { FloorWork } from "./floor-work.ts";
import { newIds } from "./new-ids.ts";

/*
 * The writes of a set of subscription states: the state of each profile, an entry in the history if
 * that is a change, and the profile's time of the last write.
 */

const WRITE_PROFILES = `
  update profiles set
    version = profiles.version + 1, updated_at = greatest(profiles.updated_at, new.at)
  from unnest($1::uuid[], $2::timestamptz[]) as new (id, at)
  where profiles.workspace_id = ${SEEDED_WORKSPACE} and profiles.profile_id = new.id`;

const WRITE_STATES = `
  with new as (
    select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[],
      $6::smallint[]) as new (profile_id, change_id, group_id, state, at, bucket)
  ), changed as (
    insert into group_states (workspace_id, bucket, profile_id, group_id, state, changed_at)
    select ${SEEDED_WORKSPACE}, bucket, profile_id, group_id, state, at from new
    on conflict (workspace_id, profile_id, bucket, group_id) do update
      set state = excluded.state, changed_at = excluded.changed_at
      where group_states.state <> excluded.state
    returning profile_id, group_id
  )
  insert into group_state_changes (workspace_id, bucket, profile_id, change_id, group_id, state,
    changed_at, call, key_name, request_id)
  select ${SEEDED_WORKSPACE}, bucket, profile_id, change_id, group_id, state, at,
    'POST /v2/subscription/status/set', 'bench', 'a request'
  from new join changed using (profile_id, group_id)`;

const statements = { profiles: WRITE_PROFILES, states: WRITE_STATES };

export const groupStatesFloor: FloorWork = {
  postgres: { connections: 3, unitsPerBatch: 2_000, statements },
  embedded: { connections: 1, unitsPerBatch: 6_000, statements },
  write(messages, units, random, pick) {
    // A profile once, because a statement cannot set the same state twice.
    const users = [...new Set(Array.from({ length: units }, pick))].sort((a, b) => a - b);
    const [group] = GROUPS;
    const profileIds = { of: "uuid", values: users.map(profileIdOf) } as const;
    const now = BigInt(Date.now()) * 1_000n;
    const times = { of: "timestamptz", values: users.map(() => now) } as const;
    messages.execute("profiles", [profileIds, times]);
    messages.execute("states", [
      profileIds,
      { of: "uuid", values: newIds(users.length) },
      { of: "text", values: users.map(() => group.id) },
      { of: "text", values: users.map(() => stateOf(random)) },
      times,
      { of: "smallint", values: users.map(bucketOfUser) },
    ]);
  },
};
