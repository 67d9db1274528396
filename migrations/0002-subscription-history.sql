-- Every change of a subscription state: who, what, when, by which call. Consent must be provable. Rows
-- lie with what they are about, so that they go with it.

-- distributed by: profile_id
create table group_state_changes (
  workspace_id integer not null,
  profile_id uuid not null,
  -- In the order in which the changes were made.
  change_id uuid not null,
  group_id text not null,
  state text not null,
  changed_at timestamptz not null,
  -- The call as it is declared, such as POST /users/track.
  call text not null,
  -- The name of the API key; null where somebody else acted.
  key_name text,
  request_id text not null,
  primary key (profile_id, workspace_id, change_id)
);

create index group_state_changes_by_time
  on group_state_changes (workspace_id, changed_at, change_id);

-- distributed by: email
create table email_state_changes (
  workspace_id integer not null,
  email text not null,
  change_id uuid not null,
  state text not null,
  changed_at timestamptz not null,
  call text not null,
  key_name text,
  request_id text not null,
  primary key (email, workspace_id, change_id)
);

create index email_state_changes_by_time
  on email_state_changes (workspace_id, changed_at, change_id);
