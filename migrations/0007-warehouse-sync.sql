-- Work in the background. A job is a row for as long as there is something to do; a server process
-- claims it for a while and keeps renewing the claim, so that another one takes over what a killed
-- process left.

create table jobs (
  job_id uuid primary key,
  workspace_id integer not null,
  kind text not null,
  -- What it is about, in the words of its kind.
  subject text not null,
  -- Not before.
  run_at timestamptz not null,
  -- Tries that failed since the job last got somewhere.
  failures integer not null,
  holder uuid,
  leased_until timestamptz,
  -- One at a time.
  unique (workspace_id, kind, subject)
);

create table schedules (
  workspace_id integer not null,
  kind text not null,
  subject text not null,
  -- Five fields, in UTC.
  cron text not null,
  next_at timestamptz not null,
  primary key (workspace_id, kind, subject)
);

create index schedules_by_time on schedules (next_at);

-- Warehouse sync.

create table integrations (
  workspace_id integer not null,
  integration_id uuid not null,
  name text not null,
  type text not null,
  status text not null,
  contact_emails text[] not null,
  schedule text,
  retry jsonb not null,
  -- Where the rows are and how to get in: never shown, never logged.
  warehouse jsonb not null,
  declared boolean not null,
  created_at timestamptz not null,
  -- The last UPDATED_AT that was processed: ISO 8601, UTC, microseconds, so that its text sorts.
  processed_through text,
  primary key (workspace_id, integration_id),
  unique (workspace_id, name)
);

-- The rows that were processed at that very UPDATED_AT, by their content.
create table boundary_rows (
  workspace_id integer not null,
  integration_id uuid not null,
  row_hash uuid not null,
  -- How many rows of this content were processed.
  processed integer not null,
  -- How many of them the reading `seen_by` has come across so far.
  seen integer not null,
  seen_by uuid not null,
  primary key (integration_id, workspace_id, row_hash)
);

create table sync_runs (
  workspace_id integer not null,
  integration_id uuid not null,
  -- In the order of time.
  run_id uuid not null,
  status text not null,
  -- Why it ended as it did, or what it waits for.
  message text,
  started_at timestamptz not null,
  finished_at timestamptz,
  processed_through text,
  rows_expected bigint,
  rows_read bigint not null,
  rows_synced bigint not null,
  rows_skipped bigint not null,
  rows_failed bigint not null,
  primary key (integration_id, workspace_id, run_id)
);

create index sync_runs_by_age on sync_runs (started_at);

create table row_log (
  workspace_id integer not null,
  integration_id uuid not null,
  run_id uuid not null,
  entry_id uuid not null,
  outcome text not null,
  identity jsonb not null,
  -- As the source has it.
  updated_at text,
  field text,
  code text not null,
  message text not null,
  logged_at timestamptz not null,
  primary key (run_id, workspace_id, entry_id)
);

create index row_log_by_age on row_log (logged_at);
