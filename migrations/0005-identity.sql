-- Where the id of a merged profile leads: always to a profile that is there, never to another entry,
-- because a merge moves the entries that led to the profile it removes.

-- distributed by: profile_id
create table merged_profiles (
  workspace_id integer not null,
  -- Removed by the merge; nothing else has this id any more.
  profile_id uuid not null,
  kept_profile_id uuid not null,
  -- What the removed profile had, where it leads to the kept one too (redirect_merged_ids).
  external_id text,
  merged_at timestamptz not null,
  primary key (profile_id, workspace_id)
);

create index merged_profiles_by_kept on merged_profiles (kept_profile_id, workspace_id);

-- What people did in apps and with messages. No public call writes it; the import does.

-- distributed by: profile_id
create table app_usages (
  workspace_id integer not null,
  profile_id uuid not null,
  app_id text not null,
  version text,
  sessions bigint not null,
  first_used_at timestamptz not null,
  last_used_at timestamptz not null,
  primary key (profile_id, workspace_id, app_id)
);

-- distributed by: profile_id
create table devices (
  workspace_id integer not null,
  profile_id uuid not null,
  device_id text not null,
  details jsonb not null,
  primary key (profile_id, workspace_id, device_id)
);

-- distributed by: profile_id
create table interactions (
  workspace_id integer not null,
  profile_id uuid not null,
  -- campaign, canvas or card
  kind text not null,
  interaction_id text not null,
  details jsonb not null,
  primary key (profile_id, workspace_id, kind, interaction_id)
);

-- distributed by: profile_id
create table message_history (
  workspace_id integer not null,
  profile_id uuid not null,
  message_id text not null,
  channel text not null,
  sent_at timestamptz not null,
  details jsonb not null,
  primary key (profile_id, workspace_id, message_id)
);

-- Who joined or removed which profiles, when, and what came of it; no value of a person.
-- distributed by: audit_id
create table identity_audit (
  workspace_id integer not null,
  audit_id uuid not null,
  at timestamptz not null,
  -- merge, identify or delete
  action text not null,
  -- The call as it is declared, the name of the API key, the request's id.
  call text not null,
  key_name text,
  request_id text not null,
  -- The profile that was kept, or deleted.
  profile_id uuid not null,
  merged_profile_id uuid,
  effects jsonb not null,
  primary key (audit_id, workspace_id)
);

create index identity_audit_by_profile on identity_audit (profile_id, workspace_id);

create index identity_audit_by_merged_profile on identity_audit (merged_profile_id, workspace_id)
  where merged_profile_id is not null;
