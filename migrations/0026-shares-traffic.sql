-- alongside the previous version: safe
--
-- What server processes write down for the dashboard of other servers and for the time after a restart
-- (docs/decisions/live-requests.md).

-- What a process counted in a slot of time in a workspace, for the overview.
create table traffic_counts (
  workspace_id integer not null,
  -- hour or day: how long the slots of the overview are
  period text not null,
  slot_at timestamptz not null,
  process_id uuid not null,
  counts jsonb not null,
  primary key (workspace_id, period, slot_at, process_id)
);

create index traffic_counts_by_age on traffic_counts (slot_at);

-- The latest requests of API keys on all servers. Losing them in a crash of the database is better than writing each twice.
create unlogged table live_requests (
  request_id uuid primary key,
  workspace_id integer not null,
  -- Tells processes apart.
  log_id uuid not null,
  server text not null,
  answered_at timestamptz not null,
  key_id text not null,
  key_name text not null,
  method text not null,
  path text not null,
  route text not null,
  status integer not null,
  duration_ms double precision not null,
  body bytea,
  response text,
  -- JSON as text: messages may quote characters that jsonb refuses.
  notes text not null,
  rejected integer not null,
  bytes integer not null
);

create index live_requests_of_workspace on live_requests (workspace_id, request_id);

-- When requests of a workspace were last removed because they name a person: what a process has not written down by then
-- may name the person, too.
create table live_request_erasures (
  workspace_id integer primary key,
  erased_at timestamptz not null
);
